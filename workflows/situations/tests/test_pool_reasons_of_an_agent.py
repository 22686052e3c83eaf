"""What a node with an agent says of its pools: with a clock, a history, disks, serial numbers and bays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors.zpool_list import PoolSpace, Space
from workflows.facts import ScanFacts, Unknown, VdevFacts
from workflows.facts.read.labels import Copies
from workflows.facts.read.labels import LabelFacts as Label
from workflows.situations import detect_all
from workflows.situations import labels_missing as labels
from workflows.situations.tests.texts import commands, words
from workflows.tests.incident import MEMBERS, NODE, POOL, SDCW_WWID, TOP, by_id, fleet, leaf, vdev, with_disk, with_pool
from workflows.tests.test_scrubs import BORN, IN_MAY, NOW_SECONDS, SCRUB, SCRUBBED, history, scan
from workflows.tests.test_scrubs import fleet as at_a_moment

WHOLE = vdev(7, "raidz2-0", "raidz", 2, *MEMBERS)
SINGLE = replace(MEMBERS[0], name=f"{by_id(SDCW_WWID)}-part1")


def about(facts, slug):
    return [one for one in detect_all(facts) if one.slug == slug]


# Scrubs, by the clock.


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        (at_a_moment(scan(IN_MAY)), "ost_0: the last scrub ended 205 days ago"),
        (at_a_moment(ScanFacts("none", "none", "none requested"), past=history(BORN)), "ost_0: no scrub ended in 324 days"),
        (at_a_moment(scan(IN_MAY), past=history(BORN, *SCRUB)), "ost_0: the last scrub ended 81 days ago"),
    ],
)
def test_an_overdue_scrub_is_watched(facts, title):
    (one,) = about(facts, "scrub-overdue")
    assert (one.severity, one.title, one.sure) == ("watch", title, True)


YOUNG = ("2026-11-20.03:04:05", "create pool version 5000", 4)
NONE_YET = ScanFacts("none", "none", "none requested")


@pytest.mark.parametrize(
    "facts",
    [
        at_a_moment(scan(SCRUBBED)),
        at_a_moment(NONE_YET, past=history(YOUNG)),
        at_a_moment(NONE_YET),  # how old the pool is is not known
        with_pool(scans=(scan(IN_MAY),)),  # no clock
        at_a_moment(scan(IN_MAY), ScanFacts("scrub", "running", "scrub in progress since Sat Nov 21 08:37:21 2026\n1.00% done", "1.00")),
    ],
)
def test_a_young_pool_an_unknown_age_and_a_scrub_that_runs_raise_no_overdue_scrub(facts):
    assert about(facts, "scrub-overdue") == []


PAUSED = "scrub paused since {} 2026\nscrub started on Fri May  1 04:03:02 2026\n0B repaired, 25.00% done"


@pytest.mark.parametrize(("since", "severity"), [("Sat Nov 21 08:37:21", "info"), ("Fri May  1 04:03:02", "watch")])
def test_a_scrub_that_is_paused_for_long_is_watched(since, severity):
    facts = at_a_moment(ScanFacts("scrub", "paused", PAUSED.format(since), "25.00"))
    assert [one.severity for one in about(facts, "scrub-paused")] == [severity]


# Members are named by guid, WWID, serial number and bay.


def test_a_lost_aux_device_is_named_as_somebody_at_the_rack_knows_it():
    cache = replace(MEMBERS[0], state="FAULTED", note="too many errors")
    (one,) = about(with_pool(tops=(("data", WHOLE),), caches=(cache,)), "cache-device-lost")
    for word in (str(cache.guid), SDCW_WWID, "serial ZA000068", "bay 68 of enclosure 0x50050cc11ac016e2"):
        assert word in one.meaning
    assert f"zpool remove ost_0 {cache.guid}" in commands(one)
    assert one.vdevs == (str(cache.guid),)


def test_a_single_disk_beside_others_is_commanded_by_its_guid():
    (one,) = about(with_pool(tops=(("data", WHOLE), ("data", leaf(5, "/dev/sdq1")))), "top-without-redundancy")
    assert commands(one)[0].startswith("zpool attach ost_0 5 ")


def test_an_old_release_is_not_told_to_remove_a_vdev():
    tops = (("data", vdev(7, "mirror-0", "mirror", 0, *MEMBERS[:2])), ("data", SINGLE))
    node = replace(NODE, zfs_module="zfs-kmod-0.7.13-1", pools=(replace(POOL, tops=tops),))
    (one,) = about(fleet(node), "top-without-redundancy")
    assert not any(command.startswith("zpool remove") for command in commands(one))
    assert "0.7.13, which cannot remove" in words(one)


def test_a_checkpoint_from_before_is_the_way_back_from_an_accident():
    facts = with_pool(tops=(("data", WHOLE), ("data", SINGLE)), checkpoint=True)
    (one,) = about(facts, "top-without-redundancy")
    assert any("--rewind-to-checkpoint" in command for command in commands(one))


def test_what_a_scrub_repaired_is_put_to_the_disk_that_counted():
    bad = replace(MEMBERS[1], errors=(0, 0, 12))
    facts = with_pool(
        state="ONLINE", scans=(scan(IN_MAY),), tops=(("data", replace(WHOLE, children=(MEMBERS[0], bad, *MEMBERS[2:]))),), status=""
    )
    (one,) = about(facts, "scrub-repaired")
    assert "serial ZA000005" in one.meaning
    assert "checksum 12" in one.meaning


JSON = '{"function": "SCRUB", "state": "FINISHED", "end_time": %s, "processed": %s, "errors": "0"}'


@pytest.mark.parametrize(
    ("ended", "processed", "amount", "overdue"),
    [
        ('"Sat Nov 21 08:37:21 2026"', '"96K"', "96K", False),
        ('"Fri May  1 04:03:02 2026"', '"0B"', "", True),
        ("1777608182", "98304", "96.0 KiB", True),
        ("1777608182", "0", "", True),
        ('"-"', '"-"', "", False),
    ],
)
def test_the_json_tells_of_a_scrub_what_the_text_tells(ended, processed, amount, overdue):
    facts = at_a_moment(ScanFacts("scrub", "finished", JSON % (ended, processed), errors=0))
    assert [one.subject["repaired"] for one in about(facts, "scrub-repaired")] == ([amount] if amount else [])
    assert bool(about(facts, "scrub-overdue")) is overdue


# A spare that is in use, and a tree that is not known in full.


def spare(state, **more):
    return VdevFacts(99, "/dev/disk/by-id/wwn-0x5000c500a65b209b-part1", "disk", 0, state, (0, 0, 0), "", **more)


def test_a_row_that_was_not_understood_may_hold_the_spare():
    known_tree = with_pool(tops=(("data", WHOLE),), spares=(spare("INUSE"),))
    assert len(about(known_tree, "spare-unused")) == 1
    unknown_tree = with_pool(tops=Unknown("A row was not understood."), partial_tops=(("data", WHOLE),), spares=(spare("INUSE"),))
    assert about(unknown_tree, "spare-unused") == []


def test_a_spare_in_the_tree_by_its_guid_is_held():
    held = vdev(8, "spare-0", "spare", 0, MEMBERS[0], replace(spare("ONLINE"), name="/dev/sdq1"))
    facts = with_pool(tops=(("data", replace(WHOLE, children=(held, *MEMBERS[1:]))),), spares=(spare("INUSE"),))
    assert about(facts, "spare-unused") == []


# What only other sources tell.


def test_an_ashift_below_the_sectors_is_found_without_a_word_of_zfs():
    coarse = replace(WHOLE, ashift=9)
    (one,) = about(with_pool(tops=(("data", coarse),)), "block-size-mismatch")
    assert (one.severity, "512 bytes" in one.meaning, "4096 bytes" in one.meaning) == ("info", True, True)
    assert about(with_pool(tops=(("data", WHOLE),)), "block-size-mismatch") == []


def test_the_fill_is_counted_where_no_percentage_is_printed():
    space = PoolSpace(Space("ost_0", 1000, 955, 45, None, None, None, None, "ONLINE"), ())
    assert [one.severity for one in about(with_pool(space=space), "pool-filling")] == ["act"]


def copies(*there):
    label = Label("sdcw1", there, "ost_0", POOL.guid, MEMBERS[0].guid, TOP.guid, 0, 4000)
    return Copies("sdcw1", (label,), tuple(n for n in range(4) if n not in there), ())


def test_the_end_of_a_disk_that_is_gone_is_one_situation_and_names_the_bay():
    found = detect_all(with_disk(SDCW_WWID, copies=(copies(0, 1),)))
    (one,) = [s for s in found if s.slug == labels.SLUG]
    assert "bay 68" in one.meaning
    assert not [s for s in found if s.slug == "label-corrupt"]


def test_a_front_that_is_gone_stays_a_damaged_label():
    found = detect_all(with_disk(SDCW_WWID, copies=(copies(2, 3),)))
    assert {"label-corrupt"} <= {s.slug for s in found}
    assert labels.SLUG not in {s.slug for s in found}


def test_the_moment_is_the_one_of_the_other_tests():
    assert at_a_moment(scan(SCRUBBED)).at == NOW_SECONDS
