"""What the portal is told: a name when nothing changed, a difference when something did, texts only when it lacks them."""

from __future__ import annotations

import json

import pytest

from agents.collectors.base import Capture
from agents.portal.transport import Reply
from agents.reporting.reports import Reporter, everything
from agents.tests import rig
from twin import scenarios


@pytest.fixture
def host(tmp_path):
    return rig.twin(tmp_path)


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
    for answer in ({"need": "full"}, {"missing": ["0" * 64]}):
        portal = Portal()
        portal.take = lambda report, portal=portal, answer=answer: portal.reports.append(report) or answer
        reporter(host, portal).send(CAPTURES, AGES)
        assert len(portal.reports) == 2


def test_many_texts_travel_in_parcels(host, monkeypatch):
    """All at once they would be in memory several times over."""
    monkeypatch.setattr("agents.reporting.reports.PARCEL_BYTES", 1000)
    captures = tuple(Capture("zdb_label", f"sd{n}", "data", f"{n:0400d}") for n in range(10))
    portal = Portal()
    reporter(host, portal).send((*captures, Capture("block", "", "data", "b" * 5000)), AGES)
    assert len(portal.known) == 11
    assert max(len(report.get("bodies", ())) for report in portal.reports) == 2


def test_what_would_be_reported_is_what_the_schedule_says(tmp_path):
    """With what the agent tells of itself, and without waking a disk that sleeps."""
    node = scenarios.tiny()
    node.disks[-1].smart.standby = True
    asked = scenarios.host(tmp_path, node, scenarios.Clock())
    by_source = {(kept.source, kept.key): kept for kept in everything(asked)}
    assert {source for source, _ in by_source} >= {"zpool_status", "zdb_label", "block", "smart", "agent"}
    name = node.disks[-1].paths[0].name
    assert (by_source["smart", name].outcome, by_source["smart", name].reason) == ("nothing", f"{name} sleeps and was not woken")
    labels = [kept for (source, key), kept in by_source.items() if source == "zdb_label" and key.startswith(name)]
    assert [kept.outcome for kept in labels] == ["nothing"]
    assert by_source["zpool_import", ""].reason == f"{name} would be woken by it, so it was not asked"
    assert json.loads(json.dumps(by_source["zpool_status", ""].body()))["text"].startswith("  pool: ")
