"""The worked examples of the handbook, and what must never make a margin look better than it is."""

from dataclasses import replace
from pathlib import Path

import pytest

import agents.tests
from agents.collectors.base import Capture
from workflows.analysis.redundancy import (
    class_margins,
    explain,
    has_nothing_to_fill,
    log_margin,
    margin,
    pool_margin,
    top_margin,
    wrote_nothing,
)
from workflows.facts import PoolFacts, ScanFacts, Unknown, VdevFacts, known, node_facts

NO_SCAN = (ScanFacts("none", "none", "none requested"),)
RUNNING = (ScanFacts("resilver", "running", "resilver in progress since …", "8.53"),)
CLEAN = (ScanFacts("resilver", "finished", "resilvered 580G in 16h55m with 0 errors", None, 0),)
DIRTY = (ScanFacts("resilver", "finished", "resilvered 580G in 16h55m with 5 errors", None, 5),)


def leaf(state="ONLINE", **more):
    return VdevFacts(1, "/dev/disk/by-id/wwn-0x5000c500a65b200b-part1", "disk", 0, state, (0, 0, 0), "", **more)


def interior(kind, parity, *children):
    return VdevFacts(2, f"{kind}-0", kind, parity, "ONLINE", (0, 0, 0), "", tuple(children))


def raidz(parity, *children, width=10):
    return interior("raidz", parity, *children, *(leaf() for _ in range(width - len(children))))


def pool(*tops, scans=NO_SCAN):
    return PoolFacts("ost_0", 7, "ONLINE", False, scans, tuple(tops))


OLD_NEW = interior("replacing", 0, leaf("UNAVAIL"), leaf(resilvering=True))
SPARED = interior("spare", 0, leaf("FAULTED"), leaf())

EXAMPLES = {
    "raidz2 of ten, one UNAVAIL": (raidz(2, leaf("UNAVAIL")), NO_SCAN, 1),
    "raidz2, replacing {UNAVAIL, resilvering}": (raidz(2, OLD_NEW), RUNNING, 1),
    "the same and another leaf resilvering": (raidz(2, OLD_NEW, leaf(resilvering=True)), RUNNING, 0),
    "raidz3 of 22, one deleted for import": (raidz(3, leaf("REMOVED"), width=22), NO_SCAN, 2),
    "raidz2, spare {FAULTED, ONLINE} resilvered without errors": (raidz(2, SPARED), CLEAN, 2),
    "the same, finished with 5 errors": (raidz(2, SPARED), DIRTY, 1),
    "raidz1, one leaf DEGRADED": (raidz(1, leaf("DEGRADED"), width=5), NO_SCAN, 0),
    "3-way mirror: ONLINE, OFFLINE, awaiting resilver": (
        interior("mirror", 0, leaf(), leaf("OFFLINE"), leaf(awaiting_resilver=True)),
        NO_SCAN,
        0,
    ),
    "all ONLINE, resilver in progress, no leaf marked": (raidz(2), RUNNING, 1),
    "single disk": (leaf(), NO_SCAN, 0),
    "single disk that is gone": (leaf("UNAVAIL"), NO_SCAN, -1),
    "2-way mirror": (interior("mirror", 0, leaf(), leaf()), NO_SCAN, 1),
    "draid2, one FAULTED": (interior("draid", 2, leaf("FAULTED"), *(leaf() for _ in range(7))), NO_SCAN, 1),
    "raidz2 with three gone": (raidz(2, leaf("REMOVED"), leaf("REMOVED"), leaf("FAULTED")), NO_SCAN, -1),
    "replacing a disk that still reads": (raidz(2, interior("replacing", 0, leaf(), leaf(resilvering=True))), RUNNING, 2),
    "a replacement that has just begun, nothing marked yet": (raidz(2, interior("replacing", 0, leaf("REMOVED"), leaf())), RUNNING, 1),
    "a replacement beside the scan line of an older resilver": (raidz(2, interior("replacing", 0, leaf("REMOVED"), leaf())), CLEAN, 1),
    "a spare while the next scrub runs": (raidz(2, SPARED), (ScanFacts("scrub", "running", ""),), 1),
    "a spare inside which a replacement runs": (raidz(2, interior("spare", 0, OLD_NEW, leaf())), RUNNING, 1),
    "a label that says a rebuild is not over": (raidz(2, leaf(rebuilding_since_txg=81)), CLEAN, 1),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_agrees_with_the_worked_example(name):
    vdev, scans, expected = EXAMPLES[name]
    assert margin(vdev, scans) == expected


def test_it_can_answer_as_the_kernel_does_for_a_degraded_leaf():
    assert margin(raidz(1, leaf("DEGRADED"), width=5), NO_SCAN, trust_degraded=True) == 1


def test_it_takes_the_worst_vdev_for_the_pool():
    assert pool_margin(pool(("data", raidz(2)), ("data", raidz(2, leaf("FAULTED"), leaf("UNAVAIL"))))) == 0


def test_it_counts_a_single_special_disk_as_the_pool():
    assert pool_margin(pool(("data", raidz(2)), ("special", leaf()))) == 0


def test_it_counts_a_log_separately():
    tank = pool(("data", raidz(2)), ("log", leaf()))
    assert (pool_margin(tank), log_margin(tank)) == (2, 0)
    assert log_margin(pool(("data", raidz(2)))) is None


def test_it_does_not_charge_a_vdev_for_a_resilver_that_names_another_one():
    tank = pool(("data", raidz(2)), ("data", raidz(2, OLD_NEW)), scans=RUNNING)
    assert [m for _, _, m in class_margins(tank)] == [2, 1]
    assert top_margin(tank, tank.tops[0][1]) == 2


def test_it_charges_every_vdev_for_a_resilver_that_names_none():
    assert [m for _, _, m in class_margins(pool(("data", raidz(2)), ("data", raidz(2)), scans=RUNNING))] == [1, 1]


def test_it_does_not_know_without_scan_lines_or_vdevs():
    lost = Unknown("zpool status timed out")
    assert not known(margin(raidz(2), lost))
    assert not known(pool_margin(replace(pool(("data", raidz(2))), scans=lost)))
    assert not known(pool_margin(replace(pool(), tops=lost)))
    assert not known(log_margin(replace(pool(), tops=lost)))
    assert not known(pool_margin(pool()))


def test_it_does_not_know_a_vdev_of_another_kind():
    assert not known(margin(interior("other", 0, leaf(), leaf()), NO_SCAN))
    assert not known(pool_margin(pool(("data", raidz(2)), ("data", interior("other", 0, leaf())))))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("state", ["OFFLINE", "REMOVED", "FAULTED", "UNAVAIL", "SPLIT", "", "HEALTHY"])
def test_it_never_gains_from_a_leaf_that_leaves(name, state):
    vdev, scans, before = EXAMPLES[name]
    worse = replace(vdev, state=state) if not vdev.children else replace(vdev, children=(*vdev.children[:-1], leaf(state)))
    assert margin(worse, scans) <= before


def test_it_names_the_disk_that_does_not_count():
    assert "UNAVAIL" in explain(raidz(2, leaf("UNAVAIL")), NO_SCAN)
    assert explain(raidz(2), NO_SCAN) == "Every disk of raidz-0 counts."
    assert "one is taken as lost" in explain(raidz(2), RUNNING)


CAPTURES = Path(agents.tests.__file__).parent / "captures"
REPLACED = "2.1.11--log-and-empty-dedup-replaced.txt"


def with_log_and_dedup(list_from=lambda text: text):
    fields = {
        "zpool_status": (CAPTURES / "zpool_status" / f"zpool-status-{REPLACED}").read_text(),
        "zpool_status_guid": (CAPTURES / "zpool_status_guid" / f"zpool-status-g-{REPLACED}").read_text(),
        "zpool_list": list_from((CAPTURES / "zpool_list" / f"zpool-list-{REPLACED}").read_text()),
    }
    return node_facts("oss01", {name: Capture(name, "", "data", text) for name, text in fields.items()}, 1.0, ()).pools[0]


def rightly_empty(tank):
    return {role: has_nothing_to_fill(tank, (top, top.children[0])) for role, top in tank.tops}


def test_a_resilver_of_a_log_or_an_empty_vdev_rightly_writes_nothing():
    tank = with_log_and_dedup()
    assert wrote_nothing(tank.scans[0])
    assert rightly_empty(tank) == {"data": False, "dedup": True, "log": True}


def test_a_vdev_whose_allocation_nobody_told_has_something_to_fill():
    assert not rightly_empty(with_log_and_dedup(lambda text: ""))["dedup"]
    assert not rightly_empty(with_log_and_dedup(lambda text: text.replace("\t503316480\t0\t503316480", "\t503316480\t-\t503316480")))[
        "dedup"
    ]


def test_where_the_new_disk_sits_must_be_known():
    tank = with_log_and_dedup()
    assert not has_nothing_to_fill(tank, Unknown("No disk is chosen yet."))
    assert not has_nothing_to_fill(tank, ())
