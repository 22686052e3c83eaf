"""A member whose disk is gone while ZFS goes on calling it ONLINE: raised where it is certain, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin import scenarios
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.scenarios import Clock
from workflows.analysis.judgement import Concern, judge_pool
from workflows.analysis.pool_fate import fate
from workflows.facts import FleetFacts, Unknown
from workflows.facts.read.unnoticed import with_unnoticed
from workflows.situations import detect_all
from workflows.tests.walks import History


def node_without(*places: int, release: str = "2.0.3"):
    """A twin whose disks in these places are gone, as an idle pool of that release shows it: nothing noticed it."""
    node = scenarios.tiny()
    node.zfs_userland = node.zfs_module = release
    for disk in [node.disks[place] for place in places]:
        scenarios.take_away(node, disk.wwid)
    return node


def facts_of(node) -> FleetFacts:
    clock = Clock()
    return FleetFacts({"oss01": History().facts_at(TwinHost(MemoryStore(node), clock, clock.sleep), "oss01", clock.at)}, at=clock.at)


def of_slug(facts: FleetFacts, slug: str = "disk-missing"):
    return [one for one in detect_all(facts) if one.slug == slug]


def test_it_is_raised_and_the_pool_is_not_whole():
    facts = facts_of(node_without(2))
    (one,) = of_slug(facts)
    assert one.severity == "act"
    assert one.title.endswith("is gone, and ZFS calls it ONLINE")
    assert [cure.argv[0][:2] for cure in one.cures if cure.argv] == [("zpool", "offline")]
    assert one.answers == (), "another disk can take its place when it is out of service"
    pool = facts.nodes["oss01"].pools[0]
    assert (pool.state, fate(facts.nodes["oss01"], pool).verdict) == ("ONLINE", "reduced")
    judged = judge_pool(facts.nodes["oss01"], pool, [Concern.of(one.severity, one.title, one.subject)])
    assert judged.tone != "good"


def test_nothing_is_raised_of_a_node_that_has_all_its_disks():
    assert of_slug(facts_of(node_without())) == []
    assert all(leaf.gone is False for _, top in facts_of(node_without()).nodes["oss01"].pools[0].tops for leaf in top.leaves())


def test_several_at_once_are_one_situation():
    facts = facts_of(node_without(1, 2, 3))
    assert len([one for one in detect_all(facts) if one.slug in ("disk-missing", "many-disks-offline") and not one.cause]) == 1


@pytest.mark.parametrize(
    "disks",
    [
        Unknown("The block devices were not read."),
        (),
        "one with its link",
    ],
)
def test_where_it_is_not_certain_nothing_is_claimed(disks):
    node = facts_of(node_without(2)).nodes["oss01"]
    gone = next(leaf for _, top in node.pools[0].tops for leaf in top.leaves() if leaf.gone is True)
    if disks == "one with its link":
        path = replace(node.disks[0].paths[0], by_id=(gone.name,))
        disks = (replace(node.disks[0], paths=(path,)), *node.disks[1:])
    before = tuple(replace(pool, tops=tuple((role, unmarked(top)) for role, top in pool.tops)) for pool in node.pools)
    assert with_unnoticed(before, disks) == before
    assert with_unnoticed(before, node.disks) != before


def unmarked(vdev):
    return replace(vdev, gone=False, children=tuple(map(unmarked, vdev.children)))


def test_a_disk_without_an_identity_elsewhere_in_the_node_hides_it_not():
    node = facts_of(node_without(2)).nodes["oss01"]
    disks = (replace(node.disks[-1], wwid=Unknown("It answers no page 83h.")), *node.disks[:-1])
    before = tuple(replace(pool, tops=tuple((role, unmarked(top)) for role, top in pool.tops)) for pool in node.pools)
    assert with_unnoticed(before, disks) == with_unnoticed(before, node.disks) != before


@pytest.mark.parametrize(
    ("name", "gone"), [("/dev/sdzz1", True), ("/dev/sda1", False), ("/dev/vdb1", False), ("/dev/mapper/luks-1", False)]
)
def test_a_member_under_a_kernel_name_is_gone_where_the_kernel_has_no_such_disk(name, gone):
    node = facts_of(node_without(2)).nodes["oss01"]
    pool = node.pools[0]
    lost = next(leaf for _, top in pool.tops for leaf in top.leaves() if leaf.gone is True)
    (role, _), *_ = pool.tops
    (marked,) = with_unnoticed((replace(pool, tops=((role, replace(lost, name=name, gone=False)),)),), node.disks)
    assert marked.tops[0][1].gone is gone
