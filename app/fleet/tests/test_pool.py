"""The pool's page: what the next loss would do, what happened to it, and who carries its labels without being a member."""

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.collectors.zpool_events import Event
from agents.tests.scenarios import step
from app.accounts.models import User
from app.fleet import services
from app.fleet.ingest import intake
from app.fleet.pages import pool as pages_pool
from app.fleet.pages import rows
from app.fleet.pages.judging import OfDisks
from app.fleet.tests.cast import collect, node, payload
from twin.captured_host import CapturedHost
from twin.stories import shelf_lost
from workflows.analysis.pool_fate import fate
from workflows.facts import Unknown
from workflows.facts.fleet.census import census
from workflows.facts.fleet.label_roll import roll
from workflows.tests.incident import FLEET, LOST, NODE, POOL, SDCW_WWID, SDFL, TWIN, disk, label, with_disk
from workflows.tests.stage import Stage

VERDICT = fate(NODE, POOL)
RULE = OfDisks.of([NODE], {})


def event(at, kind, **fields):
    return Event(at, 0, kind, at, tuple(fields.items()))


def test_equal_events_one_after_the_other_are_one_line_with_its_disk():
    guid = f"{TWIN:#x}"
    lines = [event(10, "ereport.fs.zfs.checksum", vdev_guid=guid), event(20, "ereport.fs.zfs.checksum", vdev_guid=guid)]
    lines.append(event(30, "resource.fs.zfs.statechange", vdev_guid=guid, vdev_state="0x5", vdev_laststate="0x7"))
    change, checksums = pages_pool.event_rows(lines, POOL)
    assert change.what == "a vdev went from ONLINE to FAULTED"
    assert (checksums.times, checksums.since.second, checksums.at.second) == (2, 10, 20)
    assert checksums.wwid == SDCW_WWID
    assert checksums.what == "data did not match its checksum"


def test_an_event_of_a_kind_nobody_has_words_for_says_its_name():
    [row] = pages_pool.event_rows([event(10, "sysevent.fs.zfs.something_new")], POOL)
    assert row.what == "sysevent.fs.zfs.something_new"


def test_what_was_not_collected_says_so():
    more = pages_pool.more(FLEET, replace(NODE, events=Unknown("zpool_events was not collected.")), POOL, VERDICT, RULE)
    assert more["events_unknown"] == "zpool_events was not collected."
    assert "history_unknown" in more


def test_the_roll_tells_members_from_those_who_only_say_so():
    found = roll(census(FLEET), POOL)
    assert {entry.vdev_guid: entry.misfit for entry in found.entries}[SDFL] == ""
    assert [leaf.guid for leaf in found.uncarried] == [LOST]


def test_a_former_member_and_a_second_claimant_do_not_fit():
    former = disk("sdy", "naa:5000c500a65b2f77", label("sdy1", 99))
    claimant = disk("sdz", "naa:5000c500a65b2f78", label("sdz1", TWIN))
    fleet = replace(FLEET, nodes={"oss01": replace(NODE, disks=(*NODE.disks, former, claimant))})
    values = {(entry.wwid, entry.vdev_guid): entry for entry in roll(census(fleet), POOL).misfits}
    assert "no such member now" in values["naa:5000c500a65b2f77", 99].misfit
    assert values["naa:5000c500a65b2f78", TWIN].grave
    assert values[SDCW_WWID, TWIN].grave


def test_a_label_whose_copies_differ_does_not_fit():
    worn = replace(label("sdcw1", TWIN), copies=(0, 1))
    [entry] = [e for e in roll(census(with_disk(SDCW_WWID, labels=(worn,))), POOL).entries if e.vdev_guid == TWIN]
    assert entry.misfit == "only 2 of its 4 copies of the label agree"


@pytest.mark.django_db
def test_the_page_of_a_real_pool_says_it_all():
    captures = collect(CapturedHost(step("healthy-mixed")))
    intake.receive(node("oss01").name, payload("oss01", captures), timezone.now())
    reader = Client()
    reader.force_login(User.objects.create_user("reader"))
    [pool, *_] = services.fleet_facts().nodes["oss01"].pools
    page = reader.get(reverse("pool", args=["oss01", pool.name])).content.decode()
    assert "What the next loss would do" in page
    assert "one more loss there takes the pool" in page
    assert "Scan history" in page


def test_what_is_not_well_in_a_long_tree_is_one_press_away(monkeypatch):
    assert pages_pool.more(FLEET, NODE, POOL, VERDICT, RULE)["sick"] == []  # a short tree is seen at once
    monkeypatch.setattr(pages_pool, "SEEN_AT_ONCE", 3)
    answer = pages_pool.more(FLEET, NODE, POOL, VERDICT, RULE)
    assert f"vdev-{LOST}" in [row.anchor for row in answer["sick"]]
    assert all(row.vdev.state != "ONLINE" for row in answer["sick"])
    assert len(answer["sick"]) < len(answer["tree"])


def test_of_many_that_are_not_well_the_first_are_linked_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(pages_pool, "SEEN_AT_ONCE", 3)
    monkeypatch.setattr(pages_pool, "WELL", ())
    answer = pages_pool.more(FLEET, NODE, POOL, VERDICT, RULE)
    linked = [row for row, _ in answer["tree"] if row.anchor]
    assert answer["sick"] == linked[:3]
    assert answer["sick_more"] == len(linked) - 3 > 0


def test_a_suspended_pool_calls_members_online_whose_disks_are_gone_and_the_page_says_so(tmp_path):
    stage = Stage(tmp_path, {"oss01": shelf_lost(0.0)})
    here = stage.facts().nodes["oss01"]
    [pool] = here.pools
    [group, *leaves] = rows.vdev_rows(pool, here, OfDisks.of([here], {}))
    assert {(row.vdev.state, row.tone, row.marks) for row in leaves} == {("ONLINE", "bad", ("its disk is gone",))}
    assert (group.vdev.state, group.tone, group.left) == ("ONLINE", "bad", "data is missing")


def shown_pool(name="ost_0", captures=()):
    intake.receive(node("oss01").name, payload("oss01", captures), timezone.now())
    reader = Client()
    reader.force_login(User.objects.create_user("reader"))
    return reader.get(reverse("pool", args=["oss01", name])).content.decode()


def pool_page(captures, **texts):
    """These captures with other texts of `zpool status`, by the words that are exchanged."""
    return [
        replace(one, text=one.text.replace(*texts["status"])) if one.source.startswith("zpool_status") and one.text else one
        for one in captures
    ]


@pytest.mark.django_db
def test_a_pool_that_serves_with_less_says_so_first():
    page = shown_pool(captures=collect(CapturedHost(step("disk-removed/2-removed"))))
    assert "It serves with less redundancy than it was made with." in page
    assert "No member may be replaced for now." not in page


@pytest.mark.django_db
def test_a_line_that_was_not_understood_stands_on_the_page_and_the_rest_of_the_tree_too():
    captures = pool_page(collect(CapturedHost(step("disk-removed/2-removed"))), status=("REMOVED  ", "PONDERING"))
    page = shown_pool(captures=captures)
    assert "raidz2-0" in page
    assert "PONDERING" in page
    assert "Not known to be good" in page
