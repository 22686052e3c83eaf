"""How long a resilver still takes, by three ways, each with what it rests on. Looks and histories are genuine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors import zpool_history
from agents.collectors.zpool_iostat import Waits
from workflows.analysis import eta
from workflows.facts import LeafLatency, PoolLatency, known
from workflows.facts.tests.played import captures, played
from workflows.situations import resilver_running
from workflows.situations.tests.test_resilvers import then
from workflows.tests.walks import assert_readable

NOW, BEFORE = "disk-removed/7-resilver-later", "disk-removed/6-resilver-running"
AFTER = captures("disk-removed/8-resilvered")["zpool_history/ost_0"].text
TAKING_LONGER = AFTER.replace("08:07:22 [txg:96] scan done", "20:05:15 [txg:96] scan done")


def running(history: str = "", seconds: float = 60.0):
    facts = then(NOW, BEFORE, seconds)
    node = facts.nodes["oss01"]
    return replace(node, histories={"ost_0": zpool_history.parse(history)}) if history else node


def eta_of(node) -> eta.Eta:
    found = eta.of(node, node.pools[0])
    assert known(found), found
    for line in found.lines:
        assert_readable(line)
    return found


def test_by_the_rate_between_two_looks():
    found = eta_of(running())
    assert 55 < found.recent.low <= found.recent.high < 80  # the genuine one took 127 s in all, and was half through
    assert "By the rate of the last 60 s:" in found.lines[1]


def test_the_same_look_half_an_hour_apart_goes_thirty_times_slower():
    near, far = eta_of(running()).recent, eta_of(running(seconds=1800.0)).recent
    assert 25 < far.low / near.low < 35
    assert "By the rate of the last 30 min:" in eta_of(running(seconds=1800.0)).lines[1]


def test_zfs_own_word_stands_beside_it():
    assert eta_of(running()).lines[0] == "ZFS prints: no estimated completion time."


@pytest.mark.parametrize(("before", "seconds", "why"), [(NOW, 60.0, "Nothing that it prints changed"), (BEFORE, 20.0, "only 20 s apart")])
def test_it_says_why_the_rate_tells_nothing(before, seconds, why):
    node = then(NOW, before, seconds).nodes["oss01"]
    assert why in eta_of(node).lines[1]


def test_earlier_resilvers_of_this_vdev_tell_how_long_they_took():
    (past,) = eta.resilvers(zpool_history.parse(AFTER))
    assert (past.seconds, past.filled_new, past.disks) == (127.0, True, {"naa:5000c500a65b207b"})
    found = eta_of(running(TAKING_LONGER))
    assert found.earlier.same_vdev
    assert found.earlier.took == (12 * 3600.0,)
    share = 1 - float(found.scan.percent) / 100
    assert found.earlier.left.low == pytest.approx(12 * 3600 * share)
    assert "one took 12 h" in found.lines[2]


def test_those_of_other_vdevs_are_called_so():
    other = TAKING_LONGER.replace("5000c500a65b207b", "5000c500a65bffff")
    assert "of this pool, of whichever vdev" in eta_of(running(other)).lines[2]


def test_one_that_only_caught_up_is_no_measure():
    caught_up = (
        "History for 'ost_0':\n2026-11-21.08:05:15 [txg:74] scan setup func=2 mintxg=3\n2026-11-21.08:05:17 [txg:75] scan done errors=0\n"
    )
    assert "none that filled a new disk" in eta_of(running(caught_up)).lines[2]


def test_one_that_was_broken_off_is_no_measure():
    assert list(eta.resilvers(zpool_history.parse(AFTER.replace("scan done", "scan cancelled")))) == []


def test_a_scrub_is_no_resilver():
    assert list(eta.resilvers(zpool_history.parse(AFTER.replace("func=2", "func=1")))) == []


def test_the_disk_that_sets_the_pace_is_named():
    def leaves(slow_ms: int):
        node = running()
        ((_, top),) = node.pools[0].tops
        rows = [Waits("x", 0, 0, 100, 10, 0, 0, *(None,) * 11) for _ in top.leaves()]
        waits = [(slow_ms if i == 2 else 12) * 1_000_000 for i in range(len(rows))]
        own_rows = [replace(row, disk_read_ns=wait, disk_write_ns=wait) for row, wait in zip(rows, waits, strict=True)]
        latency = PoolLatency(tuple(LeafLatency(leaf, top, now=row) for leaf, row in zip(top.leaves(), own_rows, strict=True)))
        return replace(node, pools=(replace(node.pools[0], latency=latency),)), top.leaves()[2].name.rsplit("/", 1)[-1]

    node, name = leaves(96)
    assert eta_of(node).limiting.startswith(name)
    assert "sets the pace: it waits 96 ms for each I/O, the next slowest of raidz2-0 12 ms." in eta_of(node).limiting
    assert eta_of(leaves(14)[0]).limiting.startswith("No disk sets the pace alone")


def test_who_is_not_seen_at_work_is_not_blamed():
    assert "not seen at work" in eta_of(running()).lines[3]


def test_no_resilver_no_estimate():
    node = played("healthy-raidz2")
    assert not known(eta.of(node, node.pools[0]))


def test_the_situation_tells_it():
    (found,) = resilver_running.detect(then(NOW, BEFORE, 60.0))
    assert "By the rate of the last 60 s:" in found.meaning
    assert_readable(found.meaning)
