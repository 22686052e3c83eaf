"""A replacement whose new disk dies while it is filled does not end by itself: the new half is taken out, and the old one is the member it was."""

import re

import pytest

from lab.walk import Walk

NODE, DISKS = "oss16", 8
MEMBERS = range(6)
OLD, NEW = 2, 6
POOL = "tank"
HOLD = (
    "/sys/module/zfs/parameters/zfs_scan_suspend_progress"  # 1: a resilver that runs gets no further (module/zfs/dsl_scan.c:dsl_scan_sync)
)
RUNBOOK = "finish-replacement"
OUT = "Take the new disk out of the pool again"


@pytest.fixture(scope="module")
def pool(stage, ann):
    machine = stage.machine
    members = " ".join(machine.disk(n).by_id for n in MEMBERS)
    machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} raidz2 {members}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=40 2>/dev/null; zpool sync")
    stage.sh(f"echo 1 > {HOLD}; zpool replace {POOL} {machine.disk(OLD).by_id} {machine.disk(NEW).by_id} && zpool sync")
    stage.enrol(ann)
    stage.allow("zpool_detach", "zpool_detach_new_half")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def halves(stage) -> list[str]:
    """The states of the disks in the `replacing`, the old one's first."""
    return re.findall(r"\n\t {6}\S+ +(\S+)", stage.sh(f"zpool status -P {POOL}"))


def test_the_new_disk_dies_and_the_replacement_stands_still(stage, walk):
    assert "replacing-" in stage.sh(f"zpool status {POOL}")
    stage.machine.pull(NEW)
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/more bs=1M count=4 2>/dev/null; zpool sync", seconds=600)
    print(stage.sh(f"zpool status -P {POOL}"))
    assert halves(stage)[0] == "ONLINE"
    assert halves(stage)[1] != "ONLINE"
    stage.keep("new-half-lost")


def test_the_new_half_is_taken_out_and_the_old_one_stays(stage, walk):
    walk.begin("is lost, so the replacement cannot end", RUNBOOK)
    walk.choose("Choose how it ends", "Take the new disk out again")
    walk.insist("Check now", "Check pool, old disk and new disk")
    walk.order(OUT, "Confirm what is detached")
    walk.until_done()
    stage.sh(f"echo 0 > {HOLD}")
    stage.keep("new-half-out")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert "replacing" not in status
    assert re.search(rf"{stage.machine.disk(OLD).by_id}-part1 +ONLINE +0 +0 +0", status)
    assert "errors: No known data errors" in status
    detaches = [line for line in stage.sh(f"zpool history {POOL}").splitlines() if " zpool detach " in line]
    assert len(detaches) == 1
    assert re.search(rf" zpool detach {POOL} \d+$", detaches[0])
