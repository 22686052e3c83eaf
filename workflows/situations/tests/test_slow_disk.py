"""One disk slower than its peers: by its waits, its slow I/Os, the kernel's events. Genuine: slow-disk, where disk 4 is throttled."""

from dataclasses import replace

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.zpool_iostat import parse
from agents.tests.scenarios import step
from twin.scenarios import Clock, host, leaf_on, tiny
from workflows.facts import FleetFacts, LeafLatency, PoolLatency, Unknown, node_facts
from workflows.facts.tests.played import captures, fleet, played
from workflows.situations import slow_disk

SLOW, GUID = "slow-disk/1-writing", "13503972318507133441"


def test_it_names_the_disk_and_the_numbers():
    (found,) = slow_disk.detect(fleet(SLOW))
    assert found.subject["vdev_guid"] == GUID
    for words in (
        "naa:5000c500a65b204b",
        "waited 342 ms",
        "1.3 ms for its peers",
        "270 times",
        "9 of its I/Os were slow",
        "survives 2 more",
    ):
        assert words in found.meaning
    assert {e.source for e in found.evidence} == {"zpool_iostat", "zpool_status_slow", "zpool_events"}


def node(second: str | None = None, **changed):
    """The genuine step, with a second block as if the seconds after the throttle had been sampled too."""
    collected = dict(captures(SLOW))
    if second is not None:
        first = (step(SLOW) / "zpool-iostat-vl-H-p.txt").read_text()
        collected["zpool_iostat"] = replace(collected["zpool_iostat"], text=first + second)
    for where, capture in changed.items():
        collected[where] = replace(collected[where], outcome="failed", reason=capture)
    return FleetFacts({"oss01": node_facts("oss01", collected, 1.0, ())})


def sampled(slow_ns: int) -> str:
    rows = parse((step(SLOW) / "zpool-iostat-vl-H-p.txt").read_text()).since_import
    waits = {row.name: slow_ns if row.name.endswith("4b") else 2_000_000 for row in rows}
    return "".join(f"{name}\t0\t0\t0\t9\t0\t90000" + f"\t-\t{ns}" * 2 + "\t-" * 6 + "\n" for name, ns in waits.items())


def test_a_disk_that_keeps_up_again_is_only_watched():
    """Composed by us: a second block of `zpool iostat` in which the disk is as fast as its peers."""
    (found,) = slow_disk.detect(node(sampled(2_500_000)))
    assert (found.severity, "kept up with its peers" in found.meaning) == ("watch", True)


def test_a_disk_that_is_slow_right_now_is_acted_upon_by_that_alone():
    """Composed by us, as above; and nobody counted slow I/Os."""
    (found,) = slow_disk.detect(node(sampled(900_000_000), zpool_status_slow="timeout"))
    assert (found.severity, found.sure) == ("act", True)
    assert "In the last seconds a write waited 900 ms" in found.meaning


def test_one_method_alone_is_watched_and_not_sure():
    (found,) = slow_disk.detect(node(zpool_status_slow="timeout", zpool_events="timeout"))
    assert (found.severity, found.sure, "Only one thing says so" in found.meaning) == ("watch", False, True)


def test_without_either_source_nothing_is_said():
    assert slow_disk.detect(node(zpool_status_slow="timeout", zpool_iostat="timeout")) == ()


def with_latency(change):
    facts = played(SLOW)
    (pool,) = facts.pools
    leaves = tuple(change(i, one) for i, one in enumerate(pool.latency.leaves))
    return FleetFacts({"oss01": replace(facts, pools=(replace(pool, latency=PoolLatency(leaves)),))})


def test_slow_io_everywhere_is_no_single_disks():
    assert slow_disk.detect(with_latency(lambda i, one: LeafLatency(one.leaf, one.top, slow=9))) == ()


def test_two_slow_disks_in_one_vdev_are_not_two_cases_for_the_rack():
    found = slow_disk.detect(
        with_latency(lambda i, one: replace(one, since_import=None, slow=40 if i < 2 else 0, delays=40 if i < 2 else 0))
    )
    assert [s.severity for s in found] == ["watch", "watch"]
    assert "2 disks of raidz2-0 are slow at once" in found[0].meaning


def test_events_and_aborts_add_up():
    found = slow_disk.detect(
        with_latency(lambda i, one: replace(one, since_import=None, slow=0, delays=30 * (i == 3), aborts=5 * (i == 3)))
    )
    assert [(s.severity, s.sure) for s in found] == [("act", True)]
    assert "30 delayed I/Os" in found[0].meaning
    assert "aborted 5 commands" in found[0].meaning


def test_the_new_disk_of_a_replacement_is_not_called_slow():
    facts = played("disk-removed/7-resilver-later")
    (pool,) = facts.pools
    leaves = tuple(replace(one, slow=50 if one.leaf.resilvering else 0, delays=50 * one.leaf.resilvering) for one in pool.latency.leaves)
    assert slow_disk.detect(FleetFacts({"oss01": replace(facts, pools=(replace(pool, latency=PoolLatency(leaves)),))})) == ()


def test_the_twins_slow_disk_is_found(tmp_path):
    """The real collectors on a simulated node whose fourth disk takes 340 ms."""
    made = tiny()
    one = leaf_on(made, made.disks[3].wwid)
    one.wait_ms, one.slow = 340.0, 12
    taken = [c for module in COLLECTORS.values() for c in module.collect(host(tmp_path, made, Clock()))]
    facts = FleetFacts({"oss01": node_facts("oss01", {f"{c.source}/{c.key}" if c.key else c.source: c for c in taken}, 1.0, ())})
    (found,) = slow_disk.detect(facts)
    assert (found.severity, found.subject["vdev_guid"]) == ("act", str(one.guid))


@pytest.mark.parametrize(
    ("module", "can"), [("zfs-kmod-2.3.2-1", False), ("zfs-kmod-2.4.0-1", True), ("zfs-kmod-2.4.4-1", True), ("", False)]
)
def test_since_2_4_a_slow_disk_may_sit_out_of_reads_meanwhile(module, can):
    """Composed by us: the genuine step, on another release."""
    reported = FleetFacts({name: replace(one, zfs_module=module or Unknown("not told")) for name, one in fleet(SLOW).nodes.items()})
    (found,) = slow_disk.detect(reported)
    typed = [argv for cure in found.cures for argv in cure.argv if "sit_out=on" in argv]
    assert typed == ([("zpool", "set", "sit_out=on", found.subject["pool"], GUID)] if can else [])


def mirror(mine: dict[str, int], other: dict[str, int], **counted):
    """A pool of one mirror of two, composed by us from two members of the genuine step."""
    facts = played(SLOW)
    (pool,) = facts.pools
    ((role, top),) = pool.tops
    top = replace(top, kind="mirror", name="mirror-0", parity=0, children=top.children[:2])
    rows = [
        row for row in parse((step(SLOW) / "zpool-iostat-vl-H-p.txt").read_text()).since_import if row.name.endswith(("1b", "2b", "4b"))
    ]
    first, second = (
        LeafLatency(leaf, top, now=replace(rows[0], **waits), **more)
        for leaf, waits, more in zip(top.children, (mine, other), (counted, {}), strict=True)
    )
    return FleetFacts({"oss01": replace(facts, pools=(replace(pool, tops=((role, top),), latency=PoolLatency((first, second))),))})


def waits(milliseconds: float) -> dict[str, int]:
    return {"disk_read_ns": int(milliseconds * 1_000_000), "disk_write_ns": int(milliseconds * 1_000_000)}


@pytest.mark.parametrize(("one", "other", "watched"), [(200, 20, True), (199, 20, False), (900, 1, True), (19, 1, False)])
def test_of_two_halves_the_one_that_waits_ten_times_as_long_is_watched(one, other, watched):
    found = slow_disk.detect(mirror(waits(one), waits(other)))
    assert [(s.severity, s.sure) for s in found] == ([("watch", False)] if watched else [])


def test_of_two_halves_it_is_never_an_act_and_never_replaced_whatever_agrees():
    """The waits, the kernel's events and its aborts: nothing tells still which of the two is as usual."""
    (found,) = slow_disk.detect(mirror(waits(900), waits(1), slow=90, delays=90, aborts=90))
    assert (found.severity, found.sure) == ("watch", False)
    assert "replace" not in {cure.kind for cure in found.cures}
    assert "blink-and-replace" not in {answer.runbook for answer in found.answers}
    assert "There is one disk to compare it with" in found.meaning
    assert "kept up with its peers" not in found.meaning


def test_beside_another_mirror_there_is_more_to_compare_with():
    """Of three peers five times are enough, and two methods an act, as in a raidz."""
    facts = mirror(waits(900), waits(1), delays=90, aborts=90)
    (node,) = facts.nodes.values()
    (pool,) = node.pools
    ((role, top),) = pool.tops
    more = replace(top, name="mirror-1", children=tuple(replace(leaf, guid=leaf.guid + 1, name=f"{leaf.name}-b") for leaf in top.children))
    rows = tuple(replace(pool.latency.leaves[1], leaf=leaf, top=more) for leaf in more.children)
    pool = replace(pool, tops=((role, top), (role, more)), latency=PoolLatency((*pool.latency.leaves, *rows)))
    (found,) = slow_disk.detect(FleetFacts({"oss01": replace(node, pools=(pool,))}))
    assert (found.severity, found.sure) == ("act", True)
