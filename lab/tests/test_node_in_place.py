"""A member that reads wrong and still serves is replaced by another disk beside it: first called off while the new disk is filled, then to its end."""

import re

import pytest

from lab.walk import Walk

NODE, DISKS = "oss09", 8
MEMBERS = range(6)
BAD, FIRST, SECOND = 2, 6, 7
POOL = "tank"
DAMAGED = "seek=4 count=60"  # MiB of the member's 512: its data, and none of its labels
HOLD = (
    "/sys/module/zfs/parameters/zfs_scan_suspend_progress"  # 1: a resilver that runs gets no further (module/zfs/dsl_scan.c:dsl_scan_sync)
)
FILL = "Have ZFS fill the new disk"
RUNBOOK = "replace-in-place"


@pytest.fixture(scope="module")
def pool(stage, ann):
    machine = stage.machine
    members = " ".join(machine.disk(n).by_id for n in MEMBERS)
    machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} raidz2 {members}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=40 2>/dev/null; zpool sync")
    stage.enrol(ann)
    stage.allow("zpool_replace_serving", "zpool_detach_new_half", "locate_led")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def begin(walk: Walk, new: str) -> None:
    walk.begin("checksum errors", RUNBOOK)
    walk.choose("Choose the new disk", new)
    walk.insist("Check now", "Check pool, member and both disks")
    walk.plan(FILL, "Confirm what is replaced by what")


def test_a_member_that_reads_wrong_is_found(stage, walk):
    stage.sh(f"dd if=/dev/urandom of={stage.machine.disk(BAD).by_id}-part1 bs=1M conv=notrunc {DAMAGED} 2>/dev/null; sync")
    stage.sh(f"zpool export {POOL}; zpool import -d /dev/disk/by-id {POOL}; zpool scrub -w {POOL}", seconds=600)
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    (errors,) = re.findall(rf"{stage.machine.disk(BAD).by_id}-part1 +\S+ +0 +0 +(\S+)", status)
    assert errors != "0"
    assert "errors: No known data errors" in status


def test_the_new_disk_is_filled_while_the_old_one_serves(stage, walk):
    stage.keep("errors")
    begin(walk, stage.machine.disk(FIRST).serial)
    stage.sh(f"echo 1 > {HOLD}")
    walk.insist(FILL, FILL)
    walk.asker.step("Wait until the new disk is filled")
    status = stage.sh(f"zpool status -P {POOL}")
    assert "replacing-" in status
    assert stage.machine.lit() == {}


def test_it_is_called_off_and_the_pool_is_as_before(stage, walk):
    walk.asker.press("End the run", reason="Another disk is to be taken.")
    walk.insist("Check now", "See how far it is")
    walk.order("Take the new disk out of the pool again", "Confirm what is taken out")
    walk.asker.step("Have the node plan it: light the bay of the new disk", 600)  # the node has done it; before that the resilver would end
    stage.sh(f"echo 0 > {HOLD}")
    walk.order("Light the bay of the new disk")
    walk.asker.step("Say which bay blinks now")
    assert lit(stage) == [(0, FIRST + 1)]
    walk.hands("Say which bay blinks now", str(FIRST + 1))
    stage.machine.pull(FIRST)
    walk.order("Switch the light of that bay off")
    walk.asker.until(lambda page: " ended by a person Member " in page.text, "that the run has ended", "", 600)
    status = stage.sh(f"zpool status -P {POOL}")
    assert "replacing" not in status
    assert stage.machine.disk(BAD).by_id in status
    assert lit(stage) == []


def test_the_second_attempt_comes_to_its_end(stage, walk):
    begin(walk, stage.machine.disk(SECOND).serial)
    walk.insist(FILL, FILL)
    walk.until_filled(stage.machine.guest, "light the bay of the old disk", seconds=900)
    walk.order("Light the bay of the old disk")
    walk.asker.step("Say which bay blinks")
    assert lit(stage) == [(0, BAD + 1)]
    walk.asker.press("Done", evidence=str(BAD + 2))
    assert "Pull nothing." in walk.asker.page.text
    walk.hands("Say which bay blinks", str(BAD + 1))
    walk.asker.step("Pull the old disk")
    stage.machine.pull(BAD)
    walk.hands("Scan the disk in your hand", stage.machine.disk(BAD).serial)
    walk.order("Switch the light off")
    walk.until_done()
    stage.keep("replaced")
    status = stage.sh(f"zpool status -P {POOL}")
    assert f"{stage.machine.disk(SECOND).by_id}-part1" in status
    assert stage.machine.disk(BAD).by_id not in status
    assert "replacing" not in status
    assert lit(stage) == []
    replaces = stage.replaces(POOL)
    assert len(replaces) == 2
    assert not [line for line in replaces if " -f" in line or "/dev/sd" in line]


def lit(stage) -> list[tuple[int, int]]:
    return [bay for bay, lamps in stage.machine.lit().items() if "ident" in lamps]
