"""A single disk beside a mirror: what `zpool remove` can do of it, by release, layout and what is so now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors.zpool_list import PoolSpace, Space
from workflows.facts import FleetFacts
from workflows.situations import top_without_redundancy
from workflows.tests.incident import NODE, leaf, vdev, with_pool

ALONE = replace(leaf(77, "/dev/disk/by-id/wwn-0x5000c500a65b209b-part1"), ashift=12)
BESIDE = replace(vdev(70, "mirror-0", "mirror", 0, leaf(71, "a"), leaf(72, "b")), ashift=12)
HELD = vdev(73, "replacing-1", "replacing", 0, leaf(74, "c"), leaf(75, "d"))
WELL = {"checkpoint": False, "removing": False, "tops": (("data", BESIDE), ("data", ALONE))}


def cures(**changes):
    facts: FleetFacts = with_pool(**{**WELL, **changes})
    (one,) = [s for s in top_without_redundancy.detect(facts) if s.subject["top"] == ALONE.name]
    return one.cures


def space(free, own_alloc, own_free):
    """`free` of the whole pool: what is not free on the disk itself is on the mirror beside it."""
    row = Space(str(ALONE.guid), 1000, own_alloc, own_free, None, None, None, None, "ONLINE")
    beside = replace(row, name=str(BESIDE.guid), free_bytes=free - own_free)
    return PoolSpace(Space("ost_0", 4000, 4000 - free, free, None, None, None, None, "ONLINE"), (row, beside))


def test_where_nothing_forbids_it_it_may_be_removed_and_a_mirror_stands_first():
    found = cures(space=space(free=2000, own_alloc=400, own_free=600))
    assert [cure.kind for cure in found] == ["attach", "remove"]
    assert found[0].runbook == "add-redundancy"
    assert "device_removal" in found[1].needs


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"checkpoint": True}, "has a checkpoint"),
        ({"removing": True}, "another vdev is being removed"),
        (
            {"tops": (("data", replace(BESIDE, children=(leaf(71, "a"), HELD))), ("data", ALONE))},
            "a replacement in replacing-1 is not over",
        ),
        ({"tops": (("data", BESIDE), ("data", replace(ALONE, state="DEGRADED")))}, "and is DEGRADED"),
        ({"tops": (("data", BESIDE), ("data", replace(ALONE, resilvering=True)))}, "and is being filled"),
        ({"tops": (("data", replace(BESIDE, ashift=9)), ("data", ALONE))}, "different ashifts (9, 12)"),
        ({"space": space(free=800, own_alloc=400, own_free=600)}, "the others have"),
    ],
)
def test_what_forbids_it_now_is_named_and_the_mirror_stays(changes, words):
    found = cures(**changes)
    assert [cure.kind for cure in found][:2] == ["attach", "other"]
    assert words in found[1].text
    assert "Attach a disk to it meanwhile" in found[1].text


def test_beside_a_raidz_no_release_removes_it():
    raidz = vdev(60, "raidz2-0", "raidz", 2, *(leaf(61 + i, str(i)) for i in range(6)))
    found = cures(tops=(("data", raidz), ("data", ALONE)))
    assert [cure.kind for cure in found] == ["attach", "restore"]
    assert "attach a disk to it at once" in found[1].text


def test_before_0_8_no_data_vdev_is_removed():
    facts = with_pool(**WELL)
    node = replace(facts.nodes[NODE.node], zfs_module="0.7.13-1")
    (one,) = [s for s in top_without_redundancy.detect(FleetFacts({node.node: node})) if s.subject["top"] == ALONE.name]
    assert "cannot remove a data vdev" in one.cures[1].text
