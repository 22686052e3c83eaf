"""What is listed stands in the order of the pages, however much of it is left out."""

import argparse

import pytest

from cli import looks

NOW = "2026-11-01T03:00:00Z"
LINES = [  # as the API gives them: the newest first
    {"id": 6, "severity": "info", "may_lose": 1},
    {"id": 5, "severity": "act", "may_lose": None},
    {"id": 4, "severity": "watch", "may_lose": -1},
    {"id": 3, "severity": "act", "may_lose": 1},
    {"id": 2, "severity": "act", "may_lose": -1},
    {"id": 1, "severity": "act", "may_lose": 0},
]


class Fleet:
    def all(self, path, most, severity, **query):
        found = [one for one in LINES if one["severity"] == severity]
        return iter([{**one, "node": "oss01", "title": f"title {one['id']}", "opened_at": NOW} for one in found[:most]])


@pytest.mark.parametrize(("most", "ids"), [(200, ["2", "1", "3", "5", "4", "6"]), (5, ["2", "1", "3", "5", "4"])])
def test_situations_are_listed_worst_first_and_nothing_urgent_is_left_out_for_what_is_not(capsys, most, ids):
    looks.situations(argparse.Namespace(most=most, node="", closed=False, json=False), Fleet)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == ids


def test_what_is_reviewed_stands_last_and_is_not_called_by_its_severity(capsys, monkeypatch):
    monkeypatch.setitem(LINES[2], "reviewed", {"by": "ann", "why": "the sensor is not there", "until": NOW})
    looks.situations(argparse.Namespace(most=200, node="", closed=False, json=False), Fleet)
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[1:]]
    assert lines[-1] == ["4", "reviewed"]
    assert "WATCH" not in {how for _, how in lines}


CURE = {"kind": "clear", "text": "Clear it.", "commands": [["zpool", "clear", "tank", "77"]], "releases": "0.8 and newer"}
CURE |= {"needs": None, "save_first": "the error counters", "runbook": None}
SITUATION = {"id": 4, "severity": "act", "node": "oss01", "title": "a title", "opened_at": NOW, "meaning": "A meaning."}
SITUATION |= {"evidence": [], "answers": [], "open_runs": []}


class One:
    def __init__(self, **more):
        self.found = SITUATION | more

    def get(self, *path):
        return self.found


def text_of_a_situation(capsys, **more):
    looks.situation(argparse.Namespace(id=4, digests=False, json=False), lambda: One(**more))
    return capsys.readouterr().out


def test_a_situation_says_what_helps_in_its_order_and_what_to_save_first(capsys):
    out = text_of_a_situation(capsys, advice=[{**CURE, "text": "Wait.", "commands": [], "save_first": None}, CURE], no_replacement=True)
    assert out.index("1. Wait.") < out.index("2. Clear it.") < out.index("save first: the error counters")
    assert "zpool clear tank 77" in out
    assert "right for OpenZFS: 0.8 and newer" in out
    assert "No member of its pool may be replaced for now." in out


def test_a_situation_of_a_portal_that_tells_no_advice_is_shown_all_the_same(capsys):
    assert "What helps" not in text_of_a_situation(capsys)
