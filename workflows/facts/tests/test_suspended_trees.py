"""A suspended pool's tree stands still. Of members that it calls ONLINE the kernel says whether their disks are there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import agents.tests
from agents.collectors.base import Capture
from twin.stories import reconnected, shelf_lost
from workflows.analysis.next_loss import of_pool
from workflows.analysis.pool_fate import fate
from workflows.analysis.redundancy import explain, pool_margin
from workflows.facts import FleetFacts, Unknown, known
from workflows.facts.join import node_facts
from workflows.facts.read.suspended_trees import with_gone
from workflows.guards import mass
from workflows.situations import detect_all
from workflows.tests.stage import Stage

CAPTURES = Path(agents.tests.__file__).parent / "captures"
GONE = {
    "zpool_status": "zpool-status-2.1.11--shelf-gone-at-once.txt",
    "zpool_status_guid": "zpool-status-g-2.1.11--shelf-gone-at-once.txt",
    "block": "linux-6.1.0--shelf-gone-at-once.txt",
    "enclosure": "linux-6.1.0--shelf-gone-at-once.txt",
    "kstat_pools": "zfs-2.1.11--shelf-gone-at-once.txt",
    "kernel_log": "dmesg-6.1.0--shelf-gone-at-once-zfs-2.1.11.txt",
}


def collected(without=()):
    """What a real node said after its shelf had lost six disks at once."""
    return {
        source: Capture(source, "", "data", (CAPTURES / source / name).read_text())
        for source, name in GONE.items()
        if source not in without
    }


def node(without=()):
    return node_facts("oss20", collected(without), 1.0, ())


def leaves(facts):
    (pool,) = facts.pools
    return pool, [leaf for _, top in pool.tops for leaf in top.leaves()]


def test_zpool_calls_them_all_in_service_and_they_are_gone():
    pool, members = leaves(node())
    assert (pool.suspended, {leaf.state for leaf in members}) == (True, {"ONLINE"})
    assert [leaf.gone for leaf in members] == [True] * 6


def test_they_do_not_count():
    pool, _ = leaves(node())
    ((_, top),) = pool.tops
    assert pool_margin(pool) == -4
    assert explain(top, pool.scans).count("its disk is gone") == 6


def test_what_another_loss_would_do_is_not_said_of_a_tree_that_stands_still():
    facts = node()
    found = of_pool(facts.pools[0], fate(facts, facts.pools[0]))
    assert not known(found)
    assert "suspended" in found.reason


def test_it_is_one_trouble_and_not_a_dozen():
    found = detect_all(FleetFacts({"oss20": node()}))
    (cause,) = [one for one in found if not one.cause]
    assert (cause.slug, cause.severity) == ("many-disks-offline", "act")
    assert "6 members of ost_20 are lost together" in cause.title
    assert {one.slug for one in found if one.cause} == {"pool-suspended", "data-errors"}
    assert {one.severity for one in found if one.slug == "data-errors"} == {"watch"}


@pytest.mark.parametrize("without", ["block"])
def test_where_the_kernel_was_not_asked_nothing_is_known_of_them(without):
    pool, members = leaves(node((without,)))
    assert not any(known(leaf.gone) for leaf in members)
    assert not known(pool_margin(pool))
    assert "its tree is as it was then" in pool_margin(pool).reason


def test_a_member_whose_name_can_move_and_whose_label_nobody_read_is_not_known():
    text = collected()["zpool_status"].text.replace(
        "/dev/disk/by-id/wwn-0x5000c500aa270003-part1", "/dev/sdc1                                     "
    )
    pool, members = leaves(node_facts("oss20", {**collected(), "zpool_status": Capture("zpool_status", "", "data", text)}, 1.0, ()))
    assert [known(leaf.gone) for leaf in members] == [False, *[True] * 5]
    assert not known(pool_margin(pool))


def test_a_pool_that_serves_speaks_for_itself():
    facts = node()
    (pool,) = facts.pools
    served = replace(pool, suspended=False, tops=tuple((kind, _as_read(top)) for kind, top in pool.tops))
    assert with_gone((served,), facts.disks) == (served,)
    assert with_gone(Unknown("no answer"), facts.disks) == Unknown("no answer")


def _as_read(vdev):
    return replace(vdev, gone=False, children=tuple(_as_read(child) for child in vdev.children))


@pytest.fixture
def shelf(tmp_path):
    return Stage(tmp_path, {"oss01": shelf_lost(0.0)})


def params(stage):
    (found,) = [one for one in detect_all(stage.facts()) if one.slug == "many-disks-offline"]
    return dict(found.answers[0].params)


def test_it_is_not_let_go_on_before_the_disks_are_back(shelf):
    about = params(shelf)
    verdict = mass.the_disks_are_back(shelf.facts(), about)
    assert (verdict.outcome, "6 members of ost_0 have no running disk" in verdict.reason) == ("refuse", True)
    shelf.change("oss01", reconnected)
    assert mass.the_disks_are_back(shelf.facts(), about).outcome == "pass"


def test_nor_where_it_is_not_known_whether_they_are(shelf):
    about, facts = params(shelf), shelf.facts()
    here = facts.nodes["oss01"]
    blind = replace(here, pools=with_gone(here.pools, Unknown("sysfs did not answer")))
    verdict = mass.the_disks_are_back(FleetFacts({"oss01": blind}), about)
    assert (verdict.outcome, "sysfs did not answer" in verdict.reason) == ("unknown", True)


def test_nothing_is_called_damaged_before_it_goes_on():
    (found,) = [one for one in detect_all(FleetFacts({"oss20": node()})) if one.slug == "data-errors"]
    assert "Whether data is lost shows when it goes on" in found.meaning
    assert "Restore" not in found.meaning
    assert (found.title, found.sure) == ("ost_20: 24 data errors counted while it is suspended", False)
