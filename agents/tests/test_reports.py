"""Collecting on a schedule: what is due, what hangs, what the portal is told."""

from __future__ import annotations

import threading
import time

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.operations import zpool_replace
from agents.reports import FAST_SECONDS, FAST_SOURCES, HUNG_AFTER_SECONDS, ROUNDS_MAX, Reporter, Schedule
from agents.tests import rig
from agents.transport import Reply


@pytest.fixture
def host(tmp_path):
    return rig.twin(tmp_path)


@pytest.fixture
def schedule(host, monkeypatch):
    monkeypatch.setattr("agents.reports.PATIENCE_SECONDS", 30.0)
    schedule = Schedule(host)
    yield schedule
    schedule.close()


def asked(monkeypatch, name, collect=None):
    """The times a source was asked, which still answers."""
    calls, real = [], COLLECTORS[name].collect
    monkeypatch.setattr(COLLECTORS[name], "collect", lambda host: calls.append(time.monotonic()) or (collect or real)(host))
    return calls


def test_it_asks_each_source_as_often_as_it_says(schedule, monkeypatch):
    often, seldom = asked(monkeypatch, "zpool_status"), asked(monkeypatch, "zdb_label")
    for seconds in range(0, 41, 5):
        schedule.round(100.0 + seconds)
    assert len(often) == 1 + 40 // COLLECTORS["zpool_status"].EVERY_SECONDS
    assert len(seldom) == 1
    assert {capture.source for capture in schedule.captures()} == set(COLLECTORS)


def test_it_asks_often_while_a_resilver_runs(host, schedule):
    host.run(zpool_replace.argv(rig.params(host)), 10)
    schedule.round(100.0)
    assert {schedule._due[source] for source in FAST_SOURCES} == {100.0 + FAST_SECONDS}
    assert schedule._due["zdb_label"] == 100.0 + COLLECTORS["zdb_label"].EVERY_SECONDS


def test_it_reads_the_labels_again_when_a_resilver_ends(host, schedule, monkeypatch):
    """They said who was being filled. Without this a run would wait two minutes more for nothing."""
    labels = asked(monkeypatch, "zdb_label")
    with host.store.changing() as node:
        node.knobs.resilver_seconds = 0.2
    host.run(zpool_replace.argv(rig.params(host)), 10)
    schedule.round(100.0)
    time.sleep(0.3)
    schedule.round(100.0 + FAST_SECONDS)
    assert schedule._due["zdb_label"] == 0.0
    schedule.round(101.0 + FAST_SECONDS)
    assert len(labels) == 2
    schedule.round(120.0)
    assert len(labels) == 2


def test_it_hurries_even_for_what_is_being_asked(schedule, monkeypatch):
    """An answer that was on its way when something changed may describe what was before."""
    real = COLLECTORS["node"].collect
    monkeypatch.setattr(COLLECTORS["node"], "collect", lambda host: schedule.hurry(100.5) or real(host))
    schedule.round(100.0)
    assert schedule._due["node"] == 0.0


def test_a_source_that_hangs_holds_up_no_other_and_is_called_failed(schedule, monkeypatch):
    monkeypatch.setattr("agents.reports.PATIENCE_SECONDS", 1.0)
    release = threading.Event()
    calls = asked(
        monkeypatch, "zpool_status", lambda host: release.wait(20) and (Capture("zpool_status", "", "data", "no pools available\n"),)
    )
    schedule.round(100.0)
    assert "zpool_status" not in {capture.source for capture in schedule.captures()}
    assert len({capture.source for capture in schedule.captures()}) == len(COLLECTORS) - 1
    schedule.round(101.0 + HUNG_AFTER_SECONDS)
    (said,) = (capture for capture in schedule.captures() if capture.source == "zpool_status")
    assert said.outcome == "failed"
    assert "has not answered yet" in said.reason
    assert len(calls) == 1
    release.set()
    schedule.round(200.0)
    assert next(capture for capture in schedule.captures() if capture.source == "zpool_status").outcome == "data"


def test_it_says_how_long_ago_each_source_was_asked(schedule):
    schedule.round(100.0)
    schedule.round(105.0)
    ages = schedule.ages(112.5)
    assert ages.keys() == set(COLLECTORS)
    assert set(ages.values()) == {12.5}


class Portal(rig.Intake):
    """Takes reports as the portal does; `status` makes it refuse them."""

    status = 200

    def ask(self, method, path, value):
        if self.status == 200:
            return Reply(200, self.take(value))
        return Reply(self.status, {"reason": "no"})


CAPTURES = (Capture("node", "", "data", "a"), Capture("block", "", "data", "b"), Capture("zdb_label", "sda1", "data", "c"))
AGES = {"node": 3.01, "block": 0.0, "zdb_label": 90.2}
HEARTBEAT = {"v", "node", "set", "taken_at", "ages"}
ABOUT = {"boot_id", "version", "mode"}


def reporter(host, portal):
    return Reporter(host, rig.identity(), portal, "none.json")


def test_it_sends_a_text_once(host):
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES, AGES)
    assert [sorted(report.get("bodies", ())) for report in portal.reports] == [[], [], sorted(c.digest for c in CAPTURES)]
    assert portal.reports[-1]["mode"] == "observe"


def test_an_unchanged_report_is_a_name_and_ages(host):
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES, AGES)
    assert not sender.changed(CAPTURES)
    sender.send(CAPTURES, AGES)
    report = portal.reports[-1]
    assert report.keys() == HEARTBEAT
    assert report["ages"] == {"node": "3.1", "block": "0", "zdb_label": "91"}  # never younger than it is
    assert len(portal.reports) == 4


def test_a_changed_report_says_only_what_changed_with_its_text(host):
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES, AGES)
    changed = (CAPTURES[0], Capture("block", "", "data", "e"))
    assert sender.changed(changed)
    sender.send(changed, AGES)
    report = portal.reports[-1]
    assert report.keys() == HEARTBEAT | ABOUT | {"changed", "gone", "bodies"}
    assert ([c["source"] for c in report["changed"]], report["gone"], list(report["bodies"])) == (
        ["block"],
        ["zdb_label/sda1"],
        [changed[1].digest],
    )
    assert portal.digest == report["set"]


def test_an_agent_that_starts_again_tells_a_portal_that_knows_it_all_nothing_twice(host):
    portal = Portal()
    reporter(host, portal).send(CAPTURES, AGES)
    reporter(host, portal).send(CAPTURES, AGES)
    assert portal.reports[-1].keys() == HEARTBEAT
    assert len(portal.reports) == 4


def test_a_portal_that_stands_by_something_else_is_sent_it_all(host):
    """A receipt may have changed what the portal stands by."""
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES, AGES)
    portal.places["block"], portal.digest = "0" * 64, "1" * 64
    sender.send((*CAPTURES[:2], Capture("zdb_label", "sda1", "data", "d")), AGES)
    assert portal.places["block"] == CAPTURES[1].digest
    assert "captures" in portal.reports[-1]


def test_a_portal_that_forgot_a_text_is_sent_it_again(host):
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES, AGES)
    portal.forget()
    sender.send(CAPTURES, AGES)
    assert portal.known == {c.digest for c in CAPTURES}


def test_a_report_that_is_refused_is_not_taken_for_known(host):
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES, AGES)
    portal.status = 422
    changed = (CAPTURES[0], Capture("block", "", "data", "e"))
    sender.send(changed, AGES)
    portal.status = 200
    sender.send(changed, AGES)
    assert portal.places == {c.source: c.digest for c in changed}


def test_a_portal_that_never_has_enough_is_not_asked_for_ever(host):
    portal = Portal()
    portal.take = lambda report: portal.reports.append(report) or {"need": "full"}
    sender = reporter(host, portal)
    sender.send(CAPTURES, AGES)
    assert len(portal.reports) == ROUNDS_MAX
