"""The reports thread through a portal's outage: now first, then what it missed."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.portal.transport import PortalDown, Reply
from agents.reporting.report_loop import KEEP_EVERY_SECONDS, Rhythm
from agents.reporting.reports import HEARTBEAT_SECONDS
from agents.reporting.schedule import OWN, Schedule
from agents.reporting.spool import Spool
from agents.tests import rig


class Portal(rig.Intake):
    """Keeps what it is told, and can be away."""

    away = False

    def ask(self, method, path, value):
        if self.away:
            raise PortalDown("POST /agent/v1/reports: Connection refused")
        return Reply(200, self.take(value))

    def late(self):
        return [report for report in self.reports if report.get("late") == "1"]


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def node(tmp_path):
    """A rhythm on a twin, with the clock and the portal in our hands."""
    host, clock, portal = rig.twin(tmp_path), Clock(), Portal()
    schedule = Schedule(host, clock)
    rhythm = Rhythm(host, rig.identity(), portal, "none.json", schedule, Spool(str(tmp_path / "spool"), 40_000), clock)
    yield rhythm, schedule, portal, clock
    schedule.close()


def change(schedule, text):
    schedule.learn("mounts", (Capture("mounts", "", "data", text),), schedule.now())


def away(rhythm, portal):
    portal.away = True
    with pytest.raises(PortalDown):
        rhythm.step()
    portal.away = False


def test_a_portal_that_comes_back_hears_how_things_are_and_then_what_it_missed(node):
    rhythm, schedule, portal, clock = node
    rhythm.step()
    for n in range(3):
        clock.now += KEEP_EVERY_SECONDS + 1
        schedule.round()
        change(schedule, f"tank {n}")
        rhythm.at_once()
        away(rhythm, portal)
    before = len(portal.reports)
    clock.now += 1
    change(schedule, "tank 3")
    rhythm.step()
    first = portal.reports[before]
    assert "late" not in first
    for _ in range(6):
        clock.now += 2
        rhythm.step()
    late = portal.late()
    assert [report["taken_at"] for report in late] == sorted(report["taken_at"] for report in late)
    assert len({report["taken_at"] for report in late}) == 3
    assert set(late[0]["ages"]) == {capture["source"] for capture in late[0]["captures"]}
    assert all(float(age) >= 0 for age in late[0]["ages"].values())
    assert len(rhythm._spool) == 0


def test_what_does_not_change_is_not_kept(node):
    rhythm, _, portal, clock = node
    rhythm.step()
    for _ in range(5):
        clock.now += KEEP_EVERY_SECONDS
        rhythm.at_once()
        portal.away = True
        with suppress(PortalDown):
            rhythm.step()
    assert len(rhythm._spool) == 0


def test_what_was_lost_is_said_in_the_next_report(node):
    rhythm, schedule, portal, clock = node
    rhythm.step()
    for n in range(40):
        clock.now += KEEP_EVERY_SECONDS + 1
        change(schedule, noise(n))
        rhythm.at_once()
        away(rhythm, portal)
        change(schedule, noise(n))
    rhythm.step()
    known = portal.known  # the texts travelled by digest
    (own,) = (kept for kept in schedule.captures() if kept.source == OWN)
    assert own.digest in known
    assert "spool:reports lost: " in own.text
    clock.now += 20
    rhythm.step()
    (own,) = (kept for kept in schedule.captures() if kept.source == OWN)
    assert "spool:" not in own.text


def noise(n):
    return random.Random(n).randbytes(2000).hex()


def test_it_rests_until_something_is_due(node):
    rhythm = node[0]
    rhythm.step()
    seconds = rhythm.step()
    assert 1.0 < seconds <= min(module.EVERY_SECONDS for module in COLLECTORS.values())


def test_the_pulse_says_how_the_last_report_went(node):
    rhythm, schedule, portal, clock = node
    rhythm.step()
    assert (rhythm.pulse.trouble, rhythm.pulse.kept) == ("", 0)
    taken_at = rhythm.pulse.taken_at
    assert taken_at > 0
    clock.now += KEEP_EVERY_SECONDS + 1
    schedule.round()
    schedule.learn("mounts", (Capture("mounts", "", "failed", "", "it hung"),), schedule.now())
    away(rhythm, portal)
    assert (rhythm.pulse.taken_at, rhythm.pulse.kept) == (taken_at, 1)
    assert "Connection refused" in rhythm.pulse.trouble
    assert "mounts" in rhythm.pulse.failing


def test_an_edit_of_the_policy_file_is_told_with_the_next_report(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text('{"mode": "observe", "operations": [], "pools": []}')
    path.chmod(0o644)
    host, clock, portal = rig.twin(tmp_path), Clock(), Portal()
    schedule = Schedule(host, clock)
    rhythm = Rhythm(host, rig.identity(), portal, str(path), schedule, Spool(str(tmp_path / "spool"), 40_000), clock)

    def told() -> str:
        return next(kept.body()["text"] for kept in schedule.captures() if kept.source == OWN)

    try:
        rhythm.step()
        assert '"mode": "observe"' in told()
        path.write_text('{"mode": "operate", "operations": ["zpool_replace"], "pools": ["42"]}')
        clock.now += HEARTBEAT_SECONDS + 1
        rhythm.step()
        assert '"operations": ["zpool_replace"]' in told()
    finally:
        schedule.close()
