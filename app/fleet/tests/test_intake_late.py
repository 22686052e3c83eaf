"""Reports of a time when the portal was away: evidence of then, which changes nothing of what is so now."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.fleet.ingest import intake
from app.fleet.models import LabelSeen, LeafHistory, Node, Report, Sighting, Situation
from app.fleet.tests.cast import collect, node, payload, texts
from app.ledger.models import Blob, LedgerEvent

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
THEN = NOW - timedelta(hours=2)


@pytest.fixture
def oss01(twins):
    return collect(twins["oss01"])


@pytest.fixture
def was(oss01):
    """What the node said while nobody listened: its mounts were others."""
    return [replace(c, text="tank /tank zfs rw 0 0\n") if c.source == "mounts" else c for c in oss01]


def everything_known():
    tables = [Report.objects, Sighting.objects, LabelSeen.objects, LeafHistory.objects, Situation.objects, Node.objects]
    return [list(table.order_by("pk").values()) for table in tables]


def late(captures, **more):
    return intake.receive(node().name, payload("oss01", captures, late="1", **more), THEN)


def test_it_is_kept_as_evidence_and_changes_nothing_that_is_so_now(oss01, was):
    intake.receive(node().name, payload("oss01", oss01), NOW)
    before = everything_known()
    assert late(was) == []
    assert everything_known() == before
    (event,) = LedgerEvent.objects.filter(type="report.late")
    (mounts,) = (c for c in was if c.source == "mounts")
    body = event.parsed["body"]
    assert (body["changed"], body["gone"], body["taken_at"]) == ({"mounts": mounts.digest}, [], "2026-11-21T01:00:00.000000Z")
    assert event.parsed["evidence"] == [mounts.digest]
    assert Blob.objects.filter(pk=mounts.digest).exists()


def test_it_counts_only_when_all_its_texts_are_there(oss01, was):
    intake.receive(node().name, payload("oss01", oss01), NOW)
    (mounts,) = (c for c in was if c.source == "mounts")
    assert late(was, bodies=False) == [mounts.digest]
    assert not LedgerEvent.objects.filter(type="report.late").exists()
    assert intake.receive(node().name, payload("oss01", was, bodies=False, late="1") | {"bodies": texts([mounts])}, THEN) == []
    assert LedgerEvent.objects.filter(type="report.late").count() == 1


def test_it_says_nothing_of_a_node_that_has_not_reported_yet(was):
    assert late(was) == []
    assert Node.objects.get().last_report_at is None
    assert not Situation.objects.exists()
    assert LedgerEvent.objects.get(type="report.late").node == "oss01"
