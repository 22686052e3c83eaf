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
