"""A disk beside its peers: never a number without how many it is held against, and no accusation that the detectors do not share."""

from dataclasses import replace
from types import SimpleNamespace

from workflows.analysis.peers import of_disk
from workflows.facts import ErrorFacts, LeafLatency, PoolLatency, Unknown
from workflows.tests.incident import NODE, POOL, SDCW_WWID, SDFL_WWID, WELL, with_disk


def row(read_ns, write_ns=3_000_000):
    return SimpleNamespace(disk_read_ns=read_ns, disk_write_ns=write_ns)


def slow_fleet(reads, slow=(0, 0, 0, 0)):
    """The incident's vdev with such waits; a member whose wait is None was not asked for anything."""
    top = POOL.tops[0][1]
    serving = [leaf for leaf in top.leaves() if leaf.state == "ONLINE"]
    leaves = tuple(
        LeafLatency(leaf, top, now=row(ns), slow=count, delays=0, aborts=Unknown("kernel_log was not collected."))
        for leaf, ns, count in zip(serving, reads, slow, strict=False)
    )
    pool = replace(POOL, latency=PoolLatency(leaves))
    return replace(NODE, pools=(pool,))


def disk(node, wwid):
    return next(one for one in node.disks if one.wwid == wwid)


def compared(node, wwid, group=0):
    return {one.what: one for one in of_disk(node, disk(node, wwid))[group].rows}


def test_a_member_that_waits_much_longer_than_its_vdev_stands_out():
    node = slow_fleet((400_000_000, 6_000_000, 7_000_000, 8_000_000), slow=(90, 0, 0, 0))
    mine = compared(node, SDCW_WWID)
    read = mine["A read takes the disk, in the last seconds"]
    assert (read.mine, read.usual, read.peers, read.stands_out) == ("400 ms", "7.0 ms", len(node.pools[0].latency.leaves) - 1, True)
    assert read.beside.startswith("median of ")
    assert mine["Slow I/Os"].stands_out
    assert not mine["A write takes the disk, in the last seconds"].stands_out


def test_a_member_like_its_peers_does_not_stand_out():
    mine = compared(slow_fleet((6_000_000, 6_000_000, 7_000_000, 8_000_000)), SDCW_WWID)
    assert not any(one.stands_out for one in mine.values())


def test_what_is_not_known_of_it_says_why_and_what_no_peer_tells_says_so():
    aborts = compared(slow_fleet((6_000_000, 6_000_000, 7_000_000)), SDCW_WWID)["Commands the kernel aborted"]
    assert (aborts.mine, aborts.why) == ("not known", "kernel_log was not collected.")
    assert aborts.beside == "no peer has a value"


def test_no_median_is_made_of_one_peer():
    read = compared(slow_fleet((400_000_000, 6_000_000)), SDCW_WWID)["A read takes the disk, in the last seconds"]
    assert read.usual is None
    assert read.beside == "only one peer has a value, too few for a median"
    assert not read.stands_out


def test_a_disk_is_compared_with_others_of_its_own_model_and_firmware_only():
    other = replace(disk(NODE, SDCW_WWID), firmware="TT99")
    node = replace(NODE, disks=tuple(other if one.wwid == SDCW_WWID else one for one in NODE.disks))
    assert compared(node, SDFL_WWID, -1)["Grown defects"].peers == compared(NODE, SDFL_WWID, -1)["Grown defects"].peers - 1
    assert compared(node, SDCW_WWID, -1)["Grown defects"].beside == "no peer has a value"


def test_defects_that_only_this_one_of_its_model_has_stand_out():
    ill = with_disk(SDFL_WWID, condition=replace(WELL, grown_defects=1874)).nodes["oss01"]
    grown = compared(ill, SDFL_WWID, -1)["Grown defects"]
    assert (grown.mine, grown.usual, grown.stands_out) == ("1,874", "0", True)


def test_corrected_errors_are_a_habit_until_they_are_ten_times_the_habit():
    rate = "Errors it corrected for each TiB read"
    some = with_disk(SDFL_WWID, condition=replace(WELL, errors=(ErrorFacts("read", 4340, 0, 214 * 10**12),))).nodes["oss01"]
    many = with_disk(SDFL_WWID, condition=replace(WELL, errors=(ErrorFacts("read", 217_000, 0, 214 * 10**12),))).nodes["oss01"]
    assert not compared(some, SDFL_WWID, -1)[rate].stands_out
    assert compared(many, SDFL_WWID, -1)[rate].stands_out


def test_a_disk_whose_logs_are_not_known_is_not_compared():
    node = with_disk(SDFL_WWID, condition=Unknown("smart was not collected.")).nodes["oss01"]
    group = of_disk(node, disk(node, SDFL_WWID))[-1]
    assert group.rows == ()
    assert "smart was not collected." in group.unknown


def test_a_pool_whose_waits_are_not_known_says_so_to_its_members_only():
    groups = of_disk(NODE, disk(NODE, SDFL_WWID))
    assert "How long its disks wait is not known" in groups[0].unknown
    free = next(one for one in NODE.disks if one.labels == ())
    assert len(of_disk(NODE, free)) == 1
