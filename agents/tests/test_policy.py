"""The local policy: whatever is not understood is a no."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from agents.domain.times import seconds_of
from agents.orders import policy

OPERATE = {"mode": "operate", "operations": ["zpool_replace"], "pools": ["42"]}


@pytest.fixture
def write(tmp_path):
    def write(value, mode=0o644):
        path = tmp_path / "policy.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        os.chmod(path, mode)
        return str(path)

    return write


def ask(path, name="zpool_replace", effect="at_most_once", pool="42"):
    return policy.load(path).refusal(name, effect, {"pool_guid": pool})


def test_it_lets_through_what_it_lists(write):
    assert ask(write(OPERATE)) == ""
    assert ask(write({**OPERATE, "pools": ["*"]}), pool="43") == ""


def test_it_refuses_what_it_does_not_list(write):
    path = write(OPERATE)
    assert "does not list zpool_other" in ask(path, name="zpool_other")
    assert "does not list the pool 43" in ask(path, pool="43")
    assert "observed" in ask(write({**OPERATE, "mode": "observe"}))


def test_a_missing_file_means_observe(tmp_path):
    assert "there is no" in ask(str(tmp_path / "none.json"))


def test_it_always_lets_look(tmp_path):
    assert ask(str(tmp_path / "none.json"), "look", "pure") == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 9_000, "is not JSON"),
        ("[]", "and nothing else"),
        ('{"mode": "Operate"}', "neither"),
        ('{"mode": "operate", "operations": "zpool_replace", "pools": ["*"]}', "lists of strings"),
        ('{"mode": "operate", "operations": {"zpool_replace": false}, "pools": ["*"]}', "lists of strings"),
        ('{"mode": "operate", "operations": ["zpool_replace"], "pools": "42"}', "lists of strings"),
        ('{"mode": "operate", "operations": ["zpool_replace"], "pools": [42]}', "lists of strings"),
        ('{"mode": "operate", "operations": ["zpool_replace", 1], "pools": ["*"]}', "lists of strings"),
        ('{"mode": "operate", "operations": ["zpool_replace"], "pools": ["*"], "force": true}', "and nothing else"),
        ('{"mode": "operate", "operations": ["zpool_replace"], "pools": ["*"], "break_glass": "no"}', "neither true nor false"),
        ('{"mode": "operate", "operations": ["zpool_replace"], "pools": ["*"], "break_glass": 0}', "neither true nor false"),
    ],
)
def test_it_observes_when_it_does_not_understand(write, text, why):
    found = policy.load(write(text))
    assert (found.mode, found.operations, found.pools) == ("observe", (), ())
    assert why in found.why
    assert ask(write(text)) != ""


def test_a_file_whose_end_it_does_not_read_lets_nothing_through(write):
    whole = json.dumps(OPERATE)
    assert ask(write(whole + " " * (policy.BYTES_MAX - len(whole)))) == ""
    assert "longer than 65536 bytes" in ask(write(whole + " " * (policy.BYTES_MAX - len(whole) + 1)))


def test_nothing_listed_lets_nothing_through(write):
    assert "does not list zpool_replace" in ask(write({"mode": "operate", "pools": ["*"]}))
    assert "does not list the pool 42" in ask(write({"mode": "operate", "operations": ["zpool_replace"]}))


def test_the_glass_may_be_broken_unless_the_owner_says_no(write):
    assert policy.load(write(OPERATE)).break_glass is True
    assert policy.load(write({**OPERATE, "break_glass": True})).break_glass is True
    assert policy.load(write({**OPERATE, "break_glass": False})).break_glass is False


def test_a_file_of_the_agent_itself_or_of_root_counts_and_no_other(write, monkeypatch):
    path, real = write(OPERATE), os.fstat

    def owned_by(uid):
        def fstat(number):
            seen = list(real(number))
            seen[4] = uid
            return os.stat_result(seen)

        return fstat

    monkeypatch.setattr(os, "geteuid", lambda: 991)
    for uid, word in ((0, ""), (991, ""), (1, "written by others"), (992, "written by others")):
        monkeypatch.setattr(os, "fstat", owned_by(uid))
        assert word in ask(path), uid
        assert bool(ask(path)) == bool(word), uid


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646])
def test_it_ignores_a_file_that_others_can_write(write, mode):
    assert "written by others" in ask(write(OPERATE, mode))


def test_a_scrub_keeps_to_its_hours_and_nothing_else_does(write):
    rule = replace(
        policy.load(write({**OPERATE, "operations": ["zpool_scrub"], "scrub_hours": ["Fri 22:00-06:00"]})), utc_offset_minutes=120
    )
    friday_21_59 = seconds_of("2026-11-27T19:59:30Z")
    assert "allows scrubs at Fri 22:00-06:00 alone. The hours for scrubs begin on Fri 22:00" in rule.outside_hours(
        "zpool_scrub", friday_21_59
    )
    assert rule.outside_hours("zpool_scrub", friday_21_59 + 60) == ""
    assert rule.outside_hours("zpool_scrub", seconds_of("2026-11-28T03:59:00Z")) == ""
    assert rule.outside_hours("zpool_scrub", seconds_of("2026-11-28T04:00:00Z"))
    assert "is not known" in rule.outside_hours("zpool_scrub", None)
    assert rule.outside_hours("zpool_scrub_pause", friday_21_59) == ""


def test_without_hours_a_scrub_may_run_at_any_time(write):
    rule = policy.load(write({**OPERATE, "operations": ["zpool_scrub"]}))
    assert rule.outside_hours("zpool_scrub", None) == ""
    assert rule.scrubs_until(0.0) == ""
    assert "scrub_hours" not in rule.as_text()


@pytest.mark.parametrize(
    "hours", ["22:00-06:00", ["22-6"], ["24:00-06:00"], ["Mon-Foo 10:00-11:00"], ["10:00-24:01"], [22], ["10:60-11:00"], None]
)
def test_hours_that_are_not_understood_let_nothing_run(write, hours):
    rule = policy.load(write({**OPERATE, "scrub_hours": hours}))
    assert rule.mode == "observe"
    assert "scrub_hours" in rule.why


def test_the_portal_reads_the_hours_that_the_node_reports(write):
    rule = policy.load(write({**OPERATE, "scrub_hours": ["22:00-06:00"]}))
    assert policy.reported(rule.as_text()) == rule
    assert policy.reported(rule.as_text().replace("22:00", "22")) is None
    assert policy.reported(rule.as_text().replace(f'"utc_offset_minutes": {rule.utc_offset_minutes}', '"utc_offset_minutes": 9999')) is None
