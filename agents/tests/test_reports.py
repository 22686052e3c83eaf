"""Reporting: what the portal is told, and how often it is sent a text."""

from __future__ import annotations

import pytest

from agents.collectors.base import Capture
from agents.reports import Reporter
from agents.tests import rig
from agents.transport import Reply


@pytest.fixture
def host(tmp_path):
    return rig.twin(tmp_path)


class Portal:
    """Takes reports; knows the texts it was sent."""

    def __init__(self, known=()):
        self.reports, self.known, self.status = [], set(known), 200

    def ask(self, method, path, value):
        self.reports.append(value)
        self.known |= set(value["bodies"])
        return Reply(self.status, {"missing": sorted({c["digest"] for c in value["captures"]} - self.known), "reason": "no"})


CAPTURES = (Capture("node", "", "data", "a"), Capture("block", "", "data", "b"))


def reporter(host, portal):
    return Reporter(host, rig.identity(), portal, "none.json")


def test_it_sends_a_text_once(host):
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES)
    assert [sorted(report["bodies"]) for report in portal.reports] == [[], sorted(c.digest for c in CAPTURES)]
    sender.send(CAPTURES)
    changed = (CAPTURES[0], Capture("block", "", "data", "c"))
    assert sender.changed(changed)
    sender.send(changed)
    assert [sorted(report["bodies"]) for report in portal.reports[2:]] == [[], [changed[1].digest]]
    assert portal.reports[-1]["mode"] == "observe"


def test_a_portal_that_forgot_a_text_is_sent_it_again(host):
    portal = Portal()
    sender = reporter(host, portal)
    sender.send(CAPTURES)
    portal.known.clear()
    sender.send(CAPTURES)
    assert portal.known == {c.digest for c in CAPTURES}


def test_a_report_that_is_refused_is_not_taken_for_known(host):
    portal = Portal()
    portal.status = 422
    sender = reporter(host, portal)
    sender.send(CAPTURES)
    portal.status, portal.known = 200, set()
    sender.send(CAPTURES)
    assert portal.known == {c.digest for c in CAPTURES}


def test_many_texts_travel_in_parcels(host, monkeypatch):
    """All at once they would be in memory several times over."""
    monkeypatch.setattr("agents.reports.PARCEL_BYTES", 1000)
    captures = tuple(Capture("zdb_label", f"sd{n}", "data", f"{n:0400d}") for n in range(10))
    portal = Portal()
    reporter(host, portal).send((*captures, Capture("block", "", "data", "b" * 5000)))
    assert len(portal.known) == 11
    assert max(len(report["bodies"]) for report in portal.reports) == 2
