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
