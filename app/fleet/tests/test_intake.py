"""Reports of genuine nodes and twins: evidence, facts, history and situations out of one payload."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.collectors.base import WOULD_WAKE, Capture
from agents.tests.scenarios import step
from app.fleet import services
from app.fleet.ingest import intake
from app.fleet.models import Disk, LabelSeen, LeafHistory, Node, Report, Sighting, Situation
from app.fleet.tests.cast import collect, heartbeat, node, payload
from app.ledger.models import Blob, LedgerEvent
from twin.captured_host import CapturedHost
from workflows.facts import known

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
LATER = AT + timedelta(seconds=15)


def captured(name):
    return collect(CapturedHost(step(name)))


def report(name, captures, at=AT, **more):
    return intake.receive(node(name).name, payload(name, captures, **more), at)


def replaced(captures, source, key="", **more):
    return [replace(c, **more) if (c.source, c.key) == (source, key) else c for c in captures]


@pytest.fixture
def oss01(twins):
    return collect(twins["oss01"])


def test_it_keeps_every_body_as_it_was_said(oss01):
    assert report("oss01", oss01) == []
    kept = dict(Blob.objects.values_list("pk", "bytes"))
    assert {c.digest for c in oss01} <= kept.keys()
    assert Report.objects.get().captures["zpool_status"] in kept


def test_it_answers_an_unchanged_report_with_one_query(oss01, django_assert_num_queries):
    report("oss01", oss01)
    with django_assert_num_queries(1):
        assert intake.receive("oss01", heartbeat("oss01", oss01), LATER) == []
    assert Node.objects.get().last_report_at == LATER


def test_a_report_told_again_because_the_answer_was_lost_changes_nothing_but_its_time(oss01):
    report("oss01", oss01)
    events, stood = LedgerEvent.objects.count(), Report.objects.get().changed_at
    assert intake.receive("oss01", payload("oss01", oss01), LATER) == []
    assert Node.objects.get().last_report_at == LATER
    assert (LedgerEvent.objects.count(), Report.objects.get().changed_at) == (events, stood)


def test_it_asks_for_what_it_lacks_and_changes_nothing_until_it_has_it(oss01):
    missing = report("oss01", oss01, bodies=False)
    assert set(missing) == {c.digest for c in oss01}
    assert Node.objects.get().last_report_at is None
    some = payload("oss01", oss01, bodies=False) | {"bodies": {c.digest: c.body() for c in oss01[:3]}}
    assert set(intake.receive(node().name, some, AT)) == {c.digest for c in oss01[3:]}
    rest = payload("oss01", oss01, bodies=False) | {"bodies": {c.digest: c.body() for c in oss01[3:]}}
    assert intake.receive(node().name, rest, AT) == []
    assert Node.objects.get().last_report_at == AT


def test_it_reads_facts_with_the_age_of_the_report(oss01):
    report("oss01", oss01)
    facts = services.fleet_facts(AT + timedelta(seconds=42)).nodes["oss01"]
    assert facts.age_seconds == 42
    assert [pool.name for pool in facts.pools] == ["ost_0"]


def test_it_parses_a_report_once_per_process(oss01, django_assert_num_queries):
    report("oss01", oss01)
    with django_assert_num_queries(4):
        services.fleet_facts(LATER)


def test_it_writes_one_event_per_changed_report(oss01):
    before = LedgerEvent.objects.count()
    report("oss01", oss01)
    report("oss01", oss01, LATER)
    event = LedgerEvent.objects.last()
    assert LedgerEvent.objects.count() == before + 1
    assert (event.type, event.actor, event.node) == ("report.changed", "node:oss01", "oss01")
    assert event.parsed["body"]["changed"]["zpool_status"] == Report.objects.get().captures["zpool_status"]


def test_it_opens_the_incident_of_the_demo(oss01):
    report("oss01", oss01)
    situation = Situation.objects.get(slug="wwid-mismatch")
    assert situation.data["subject"]["vdev_guid"] == "14718944552882581455"
    assert situation.data["answers"][0]["runbook"] == "wwid-mismatch-replace"
    assert situation.closed_at is None


def test_it_opens_a_situation_when_a_disk_goes_and_closes_it_when_it_is_back():
    whole, removed = captured("sixty-disks/1-healthy"), captured("sixty-disks/2-one-removed")
    report("n1", whole)
    assert not Situation.objects.exists()
    report("n1", removed, AT + timedelta(seconds=60))
    found = Situation.objects.get()
    assert (found.slug, found.opened_at) == ("disk-missing", AT + timedelta(seconds=60))
    report("n1", whole, AT + timedelta(seconds=120))
    assert Situation.objects.get().closed_at == AT + timedelta(seconds=120)


def test_it_does_not_close_a_situation_because_zpool_hangs():
    removed = captured("disk-removed/2-removed")
    report("n1", removed)
    report("n1", replaced(removed, "zpool_status", outcome="failed", text="", reason="timeout"), LATER)
    assert Situation.objects.get(slug="disk-missing").closed_at is None


def test_it_does_not_close_a_situation_because_a_disk_sleeps_and_nobody_asked():
    blocked = captured("import-blocked-labels/3-other-pool-label")
    report("n1", blocked)
    blocked_now = Situation.objects.filter(slug="import-blocked", closed_at=None)
    assert blocked_now.exists()
    report("n1", replaced(blocked, "zpool_import", outcome="nothing", text="", reason=f"sdb {WOULD_WAKE}"), LATER)
    assert blocked_now.exists()


def test_it_keeps_the_leaves_of_a_pool_of_which_only_the_kernel_tells():
    """The pool is known to be there, and no vdev of it; neither a state nor a situation is over by that."""
    removed = captured("disk-removed/2-removed")
    report("n1", removed)
    before = list(LeafHistory.objects.filter(until=None).values_list("vdev_guid", "state"))
    report("n1", replaced(removed, "zpool_status", outcome="nothing", text="", reason="zpool is not installed"), LATER)
    (pool,) = services.fleet_facts(LATER).nodes["n1"].pools
    assert (pool.name, pool.state, known(pool.tops)) == ("ost_0", "DEGRADED", False)
    assert len(before) == 6
    assert list(LeafHistory.objects.filter(until=None).values_list("vdev_guid", "state")) == before
    assert Situation.objects.get(slug="disk-missing").closed_at is None


def test_members_whose_guid_is_not_known_for_a_moment_are_not_seen_for_the_first_time_afterwards():
    """A tree that changes between `zpool status` and `zpool status -g` leaves its members without a guid until the next look."""
    removed = captured("disk-removed/2-removed")
    report("n1", removed)
    before = list(LeafHistory.objects.values_list("vdev_guid", "state", "since", "until"))
    report("n1", replaced(removed, "zpool_status_guid", outcome="failed", text="", reason="timeout after 20.0 s"), LATER)
    assert not any(known(leaf.guid) for leaf in services.fleet_facts(LATER).nodes["n1"].pools[0].tops[0][1].leaves())
    report("n1", removed, LATER + timedelta(seconds=15))
    assert len(before) == 6
    assert list(LeafHistory.objects.values_list("vdev_guid", "state", "since", "until")) == before


def test_its_pages_show_a_suspended_pool_while_zpool_hangs(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("reader"))
    hung = [
        replace(c, outcome="failed", text="", reason="timeout after 20.0 s") if c.source.startswith("zpool") else c
        for c in captured("mmp-suspended/2-suspended")
    ]
    report("n1", hung)
    assert [s.slug for s in Situation.objects.all()] == ["pool-suspended"]
    page = client.get(reverse("pool", args=["n1", "ost_5"])).content.decode()
    assert "SUSPENDED" in page
    assert "Only the kernel" in page
    assert "timeout after 20.0 s" in page
    assert "ost_5 is suspended" in client.get(reverse("fleet")).content.decode()


def test_a_pool_without_known_vdevs_does_not_look_well(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("reader"))
    hung = replaced(captured("healthy-raidz2"), "zpool_status", outcome="failed", text="", reason="timeout after 20.0 s")
    report("n1", hung, timezone.now())
    page = client.get(reverse("fleet")).content.decode()
    assert "not known: the vdevs of ost_0" in page
    assert "good: all that answered says so" not in page


def test_it_keeps_a_situation_open_as_one_row_while_its_evidence_changes(oss01):
    report("oss01", oss01)
    first = Situation.objects.get(slug="wwid-mismatch")
    status = next(c for c in oss01 if c.source == "zpool_status")
    report("oss01", replaced(oss01, "zpool_status", text=status.text.replace("errors: No known", "errors: no known")), LATER)
    assert Situation.objects.get(slug="wwid-mismatch").pk == first.pk
    assert Situation.objects.get(slug="unexplained", title__contains="no known data errors").severity == "watch"  # no release spells it so


def test_it_remembers_which_leaf_left_online():
    report("n1", captured("sixty-disks/1-healthy"))
    report("n1", captured("sixty-disks/2-one-removed"), AT + timedelta(seconds=60))
    change, *others = services.fleet_facts(AT + timedelta(seconds=90)).nodes["n1"].leaf_changes
    assert (change.before, change.after, change.age_seconds, others) == ("ONLINE", "REMOVED", 30.0, [])
    assert LeafHistory.objects.get(state="REMOVED").before == "ONLINE"
    assert services.fleet_facts(AT + timedelta(hours=2)).nodes["n1"].leaf_changes == ()


def test_it_keeps_the_history_of_a_disk_that_gets_another_name():
    """The names of the wwid-drift capture moved over a reboot; the disks did not."""
    report("n1", captured("wwid-drift/1-before"))
    before = dict(Sighting.objects.values_list("disk__wwid", "name"))
    report("n1", captured("wwid-drift/2-booted-not-imported"), LATER)
    moved = [wwid for wwid, name in Sighting.objects.filter(until=None).values_list("disk__wwid", "name") if before.get(wwid, name) != name]
    assert moved
    for wwid in moved:
        rows = list(Disk.objects.get(wwid=wwid).sightings.order_by("since"))
        assert [(row.since, row.until) for row in rows] == [(AT, LATER), (LATER, None)]


def test_it_sees_one_disk_behind_two_paths(oss01):
    """A second path gives a second kernel name for the same WWID."""
    block = next(c for c in oss01 if c.source == "block")
    listing, *lines = block.text.splitlines()
    twins = [line.replace("sdcw", "sdzz") for line in lines if line.startswith("/sys/block/sdcw/")]
    report("oss01", replaced(oss01, "block", text="\n".join([f"{listing} sdzz", *lines, *twins, ""])))
    disk = Disk.objects.get(wwid="naa:5000cca273a7d9e8")
    assert sorted(disk.sightings.filter(until=None).values_list("name", flat=True)) == ["sdcw", "sdzz"]


def test_it_lets_two_nodes_see_the_same_disk(oss01):
    report("oss01", oss01)
    disks = Disk.objects.count()
    report("oss77", oss01)
    assert Disk.objects.count() == disks
    assert set(Disk.objects.first().sightings.values_list("node__name", flat=True)) == {"oss01", "oss77"}


def test_it_never_ends_a_sighting_before_it_began(oss01):
    report("oss01", oss01)
    report(
        "oss01",
        replaced(oss01, "block", outcome="data", text=next(c for c in oss01 if c.source == "block").text.replace("LS15", "LS16")),
        AT - timedelta(seconds=1),
    )
    assert Node.objects.get().last_report_at == AT


def test_it_records_what_labels_claim(oss01):
    report("oss01", oss01)
    label = LabelSeen.objects.get(vdev_guid="7602460441426092393", until=None)
    assert (label.pool, label.disk.wwid) == ("ost_0", "naa:5000cca273a7d9e8")
    assert LabelSeen.objects.filter(pool="scratch9").exists()


def test_a_label_written_anew_rewrites_labels_and_leaves_sightings_unread(oss01):
    report("oss01", oss01)
    label = LabelSeen.objects.get(vdev_guid="7602460441426092393", until=None)
    old = next(c for c in oss01 if (c.source, c.key) == ("zdb_label", label.partition))
    fresh = replace(old, text=re.sub(r"(?m)^(    txg: )\d+$", r"\g<1>987654321", old.text))
    with CaptureQueriesContext(connection) as asked:
        report("oss01", [fresh if c is old else c for c in oss01], LATER)
    label.refresh_from_db()
    assert label.txg == "987654321"
    assert label.until is None
    of_sightings = [query["sql"] for query in asked if "fleet_sighting" in query["sql"]]
    assert all('until" > ' in sql for sql in of_sightings), "only who left lately is asked for"


def test_it_leaves_the_history_alone_when_sources_fail(oss01):
    report("oss01", oss01)
    was = (
        Sighting.objects.filter(until=None).count(),
        LabelSeen.objects.filter(until=None).count(),
        LeafHistory.objects.filter(until=None).count(),
    )
    report("oss01", [replace(c, outcome="failed", text="", reason="timeout") for c in oss01], LATER)
    now = (
        Sighting.objects.filter(until=None).count(),
        LabelSeen.objects.filter(until=None).count(),
        LeafHistory.objects.filter(until=None).count(),
    )
    assert now == was


def test_it_takes_what_came_with_a_receipt(oss01):
    report("oss01", oss01)
    status = next(c for c in oss01 if c.source == "zpool_status")
    fresh = replace(status, text=status.text.replace("ost_0", "ost_9"))
    answer = payload("oss01", [fresh])
    assert intake.merge("oss01", answer["captures"], answer["bodies"], LATER) == []
    facts = services.fleet_facts(LATER).nodes["oss01"]
    assert [pool.name for pool in facts.pools] == ["ost_9"]
    assert facts.age_seconds == 15
    assert known(facts.disks)


def test_a_report_that_a_receipt_has_overtaken_does_not_bring_back_what_was_so_before(oss01):
    report("oss01", oss01)
    status = next(c for c in oss01 if c.source == "zpool_status")
    answer = payload("oss01", [replace(status, text=status.text.replace("ost_0", "ost_9"))])
    intake.merge("oss01", answer["captures"], answer["bodies"], LATER)
    on_its_way = replaced(oss01, "node", text=next(c for c in oss01 if c.source == "node").text + "\n")
    report("oss01", on_its_way, at=LATER - timedelta(seconds=5))
    assert [pool.name for pool in services.fleet_facts(LATER).nodes["oss01"].pools] == ["ost_9"]
    assert Node.objects.get().asked["zpool_status"] == pytest.approx(LATER.timestamp(), abs=0.5)
    report("oss01", on_its_way, at=LATER + timedelta(seconds=10))
    assert [pool.name for pool in services.fleet_facts(LATER).nodes["oss01"].pools] == ["ost_0"]


def test_a_clock_that_was_set_back_keeps_no_report_out(oss01):
    report("oss01", oss01)
    Node.objects.update(asked={"zpool_status": timezone.now().timestamp() + 3600})
    report("oss01", replaced(oss01, "zpool_status", text=""), at=LATER)
    assert Node.objects.get().asked["zpool_status"] == pytest.approx(LATER.timestamp(), abs=0.5)


BAD = {
    "another node": {"node": "oss02"},
    "another version": {"v": "1"},
    "a mode we do not know": {"mode": "root"},
    "captures that are no list": {"captures": {}},
    "a capture listed twice": {"captures": [{"source": "node", "key": "", "digest": "0" * 64}] * 2},
    "a digest that is none": {"captures": [{"source": "node", "key": "", "digest": "0"}]},
    "a source that is a path": {"captures": [{"source": "../x", "key": "", "digest": "0" * 64}]},
    "too many captures": {"captures": [{"source": "node", "key": str(n), "digest": "0" * 64} for n in range(20_000)]},
    "a body that belongs to nothing": {"bodies": {"1" * 64: {}}},
    "a body that is not what its name says": {
        "captures": [{"source": "node", "key": "", "digest": "0" * 64}],
        "bodies": {"0" * 64: {"outcome": "data"}},
    },
    "a boot id with a newline": {"boot_id": "a\n"},
}


@pytest.mark.parametrize("what", BAD)
def test_it_refuses(what):
    with pytest.raises(intake.BadReport, match=r"\."):
        intake.receive(node().name, payload("oss01", []) | BAD[what], AT)
    assert Node.objects.get().last_report_at is None


@pytest.mark.parametrize("text", [None, [], "x", 7, {}])
def test_it_refuses_what_is_no_report_at_all(text):
    with pytest.raises(intake.BadReport):
        intake.receive(node().name, text, AT)


def test_it_refuses_a_body_that_was_changed_on_the_way(oss01):
    answer = payload("oss01", oss01)
    digest = next(iter(answer["bodies"]))
    answer["bodies"][digest] = answer["bodies"][digest] | {"text": "all is well"}
    with pytest.raises(intake.BadReport, match="changed on the way"):
        intake.receive(node().name, answer, AT)
    assert not Blob.objects.exists()


def test_a_pool_may_be_called_by_any_name_that_zfs_takes(oss01):
    """zfs_namecheck.c: letters, digits, "-", "_", ".", ":" and spaces, 255 of them at most."""
    for name in ("my pool", "p" * 255):
        assert report("oss01", (*oss01, Capture("zpool_history", name, "data", "History for it:\n"))) == []
    for name in (" pool", "a/b", "p" * 256, "pool\n"):
        with pytest.raises(intake.BadReport, match="does not match"):
            report("oss01", (*oss01, Capture("zpool_history", name, "data", "History for it:\n")))
