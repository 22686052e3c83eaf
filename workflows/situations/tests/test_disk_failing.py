"""A disk that says it fails, as what it is to its pool."""

from dataclasses import replace

import pytest

from workflows.facts import FleetFacts
from workflows.facts.read import thresholds as at
from workflows.situations import disk_failing, disk_hot, disk_worn, link_crc
from workflows.tests.incident import BLANK_WWID, FLEET, NODE, POOL, SDFL_WWID, WELL

FAILS = replace(WELL, passed=False, verdict="SMART Health Status: x [asc=5d, ascq=10]", sense=(0x5D, 0x10))


def having(wwid, condition, node=NODE) -> FleetFacts:
    return FleetFacts({"oss01": replace(node, disks=tuple(replace(d, condition=condition) if d.wwid == wwid else d for d in node.disks))})


def test_disks_that_are_well_raise_nothing():
    assert [s for module in (disk_failing, disk_hot, disk_worn, link_crc) for s in module.detect(FLEET)] == []


def test_a_member_that_predicts_its_failure_is_to_be_replaced_beside_itself():
    (found,) = disk_failing.detect(having(SDFL_WWID, FAILS))
    assert (found.severity, found.subject["pool"], found.subject["wwid"]) == ("act", POOL.name, SDFL_WWID)
    assert [cure.kind for cure in found.cures] == ["scrub", "replace"]
    assert all(word in found.meaning for word in ("bay", "serial number", "hardware impending failure", "It may stop at any time"))


def test_a_free_disk_that_fails_is_watched_and_kept_out_of_pools():
    (found,) = disk_failing.detect(having(BLANK_WWID, FAILS))
    assert (found.severity, found.cures[-1].kind, found.answers) == ("watch", "look", ())
    assert "Do not put it into a pool" in found.meaning


@pytest.mark.parametrize("state", ["SUSPENDED", "FAULTED", "UNAVAIL"])
def test_while_its_pool_is_down_nobody_is_told_to_replace_it(state):
    down = replace(POOL, state=state, suspended=state == "SUSPENDED")
    (found,) = disk_failing.detect(having(SDFL_WWID, FAILS, replace(NODE, pools=(down,))))
    assert ({cure.kind for cure in found.cures} & {"replace", "scrub"}, found.answers) == (set(), ())
    assert "Replace nothing now" in found.meaning


def test_one_that_zfs_gave_up_is_the_reason_and_no_second_order_to_replace():
    ((role, top),) = POOL.tops
    children = tuple(replace(leaf, state="FAULTED") if leaf.wwid == SDFL_WWID else leaf for leaf in top.children)
    pool = replace(POOL, tops=((role, replace(top, children=children)),))
    (found,) = disk_failing.detect(having(SDFL_WWID, FAILS, replace(NODE, pools=(pool,))))
    assert (found.severity, "replace" in {cure.kind for cure in found.cures}) == ("watch", False)
    assert "faulted it already" in found.meaning


def test_a_few_places_lost_are_watched_where_others_hold_them():
    (found,) = disk_failing.detect(having(SDFL_WWID, replace(WELL, pending_defects=3)))
    assert (found.severity, found.answers) == ("watch", ())


def test_a_cable_is_looked_at_from_the_first_error_where_the_member_counts_errors_too():
    few = replace(WELL, attributes=(("CRC errors of the link", at.LINK_CRC_WITH_ERRORS),))
    ((role, top),) = POOL.tops
    children = tuple(replace(leaf, errors=(3, 0, 0)) if leaf.wwid == SDFL_WWID else leaf for leaf in top.children)
    counting = replace(NODE, pools=(replace(POOL, tops=((role, replace(top, children=children)),)),))
    assert link_crc.detect(having(SDFL_WWID, few)) == ()
    (found,) = link_crc.detect(having(SDFL_WWID, few, counting))
    assert (found.severity, found.cures[0].kind) == ("watch", "reseat")


def test_no_advice_names_a_disk_by_a_name_that_moves():
    lines = [s for module in (disk_failing, disk_hot) for s in module.detect(having(SDFL_WWID, replace(FAILS, temperature=80)))]
    words = [word for s in lines for cure in s.cures for argv in cure.argv for word in argv]
    assert words
    assert not [word for word in words if word.startswith("/dev/sd")]


WORN = [{"percent_used": at.USED_WATCH}, {"percent_used": 103}, {"available_spare": 12, "spare_threshold": 10}, {"exhausted": ("Wear",)}]


@pytest.mark.parametrize("worn", WORN)
def test_a_worn_member_is_replaced_beside_itself_by_its_guid_and_in_no_hurry(worn):
    (found,) = disk_worn.detect(having(SDFL_WWID, replace(WELL, **worn)))
    assert (found.severity, [cure.kind for cure in found.cures]) == ("watch", ["other", "replace"])
    assert found.subject["vdev_guid"] in found.cures[-1].text
    assert (found.cures[-1].runbook, "one disk of a vdev at a time" in found.cures[-1].text.lower()) == ("replace-in-place", True)


def test_a_worn_disk_of_no_pool_is_given_to_none():
    (found,) = disk_worn.detect(having(BLANK_WWID, replace(WELL, percent_used=103)))
    assert [cure.kind for cure in found.cures] == ["wait"]


@pytest.mark.parametrize("state", ["SUSPENDED", "FAULTED", "UNAVAIL"])
def test_a_worn_disk_stays_where_it_is_while_its_pool_is_down(state):
    down = replace(POOL, state=state, suspended=state == "SUSPENDED")
    (found,) = disk_worn.detect(having(SDFL_WWID, replace(WELL, percent_used=103), replace(NODE, pools=(down,))))
    assert [cure.kind for cure in found.cures] == ["look", "other"]
    assert "Keep this disk in its place" in found.cures[0].text
