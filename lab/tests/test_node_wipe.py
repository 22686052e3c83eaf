"""What is left over: a former member is wiped, a scrub is stopped for good, and a disk that was added by mistake leaves the pool again."""

import pytest

from lab.walk import Walk

NODE, DISKS = "oss20", 4
FIRST, SECOND, NEW, ADDED = range(4)
POOL = "tank"
PAGE = f"/nodes/{NODE}/pools/{POOL}/"
HOLD = "/sys/module/zfs/parameters/zfs_scan_suspend_progress"  # 1: a scrub that runs gets no further (module/zfs/dsl_scan.c:dsl_scan_sync)


@pytest.fixture(scope="module")
def pool(stage, ann):
    """A mirror that lost a disk, got another one in its place, and found the first again."""
    machine = stage.machine
    first, second, new = (machine.disk(number).by_id for number in (FIRST, SECOND, NEW))
    machine.guest.create_pool(f"-o ashift=12 {POOL} mirror {first} {second}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=30 2>/dev/null; echo kept > /{POOL}/kept; zpool sync")
    bay = machine.pull(FIRST)
    stage.sh(f"zpool sync; zpool replace -w {POOL} {first}-part1 {new}", seconds=600)
    machine.insert(FIRST, bay)
    print(stage.sh(f"zpool status -P {POOL}; zdb -l {first}-part1"))
    stage.enrol(ann)
    stage.allow("disk_wipe", "zpool_scrub_stop", "zpool_remove_vdev")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def offer(stage, runbook: str, about: str = "") -> str:
    guid = stage.sh(f"zpool get -Hpo value guid {POOL}").strip()
    return f"by-hand:{runbook}:{NODE}:{guid}" + (f":{about}" if about else "")


def commands(stage) -> list[str]:
    return [line.split(" zpool ", 1)[1] for line in stage.sh(f"zpool history {POOL}").splitlines() if " zpool " in line]


def test_a_former_member_is_wiped_and_nothing_else(stage, walk):
    disk = stage.machine.disk(FIRST)
    others = [f"{stage.machine.disk(number).by_id}-part1" for number in (SECOND, NEW)]
    walk.begin(f"was a member of {POOL}", "wipe-disk")
    walk.insist("Check now", "Check that no pool needs the disk")
    walk.order("Wipe the disk", "Confirm which disk is wiped")
    walk.until_done()
    stage.keep("wiped")
    assert stage.sh(f"wipefs --noheadings {disk.by_id}").strip() == ""
    assert stage.sh(f"lsblk -nro NAME {disk.by_id}").split() == [stage.machine.name_of(FIRST)]
    for other in others:
        assert f"name: '{POOL}'" in stage.sh(f"zdb -l {other}")
    assert "errors: No known data errors" in stage.sh(f"zpool scrub -w {POOL}; zpool status {POOL}", seconds=600)


def test_a_scrub_is_stopped_for_good(stage, walk):
    stage.sh(f"echo 1 > {HOLD}; zpool scrub {POOL}")
    walk.begin_at(PAGE, offer(stage, "stop-scrub"))
    walk.insist("Check now", "Check that a scrub runs or is paused")
    walk.order("Stop the scrub for good", approved=True)
    walk.until_done()
    stage.keep("scrub-stopped")
    stage.sh(f"echo 0 > {HOLD}")
    assert "scrub canceled on" in stage.sh(f"zpool status {POOL}")
    assert commands(stage)[-1] == f"scrub -s {POOL}"


def test_a_disk_that_was_added_by_mistake_leaves_the_pool_with_its_data_kept(stage, walk):
    stage.sh(
        f"zpool add -f {POOL} {stage.machine.disk(ADDED).by_id}; dd if=/dev/urandom of=/{POOL}/more bs=1M count=20 2>/dev/null; zpool sync"
    )
    before = stage.sh(f"sha256sum /{POOL}/data /{POOL}/more")
    guid = next(line.split()[0] for line in stage.sh(f"zpool status -g {POOL}").splitlines()[::-1] if " ONLINE " in line)
    walk.begin_at(PAGE, offer(stage, "remove-vdev", guid))
    walk.insist("Check now", "Check that ZFS can take it out")
    walk.order("Remove the vdev from the pool", "Confirm what is removed")
    walk.until_done()
    stage.keep("vdev-removed")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert stage.machine.disk(ADDED).by_id not in status
    assert stage.sh(f"sha256sum /{POOL}/data /{POOL}/more") == before
    assert commands(stage)[-1] == f"remove {POOL} {guid}"
    assert not [command for command in commands(stage) if "/dev/sd" in command]
