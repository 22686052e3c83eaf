"""Collecting on a schedule: what is due, what hangs, what the portal is told."""

from __future__ import annotations

import threading
import time

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.operations import zpool_replace
from agents.reports import FAST_SECONDS, FAST_SOURCES, HUNG_AFTER_SECONDS, Reporter, Schedule
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
