"""A boot pool on the third partition of two disks: one is pulled, and a blank disk gets its partition table, its partition and its place in the pool."""

import json
import re

import pytest

from lab.walk import Walk

NODE, DISKS = "oss33", 3
MEMBERS, NEW = (0, 1), 2
POOL = "rpool"
RUNBOOK = "replace-boot-member"
TABLE = "sgdisk -a 8 -n 1:0:+1M -t 1:ef02 -n 2:0:+32M -t 2:ef00 -n 3:0:0 -t 3:bf01 {disk} >/dev/null; udevadm settle -t 30"
REPLACE = "Have ZFS fill the partition of the new disk"
COPY = "Copy the partition table to the new disk"


@pytest.fixture(scope="module")
def walk(stage, ann, bob):
    disks = [stage.machine.disk(number).by_id for number in MEMBERS]
    for disk in disks:
        stage.sh(TABLE.format(disk=disk))
    stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} mirror {' '.join(f'{disk}-part3' for disk in disks)}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=30 2>/dev/null; zpool sync")
    stage.enrol(ann)
    stage.allow("partition_copy", "zpool_replace_partition")
    return Walk(ann, bob)


def table(stage, number: int) -> list[tuple[int, int, str]]:
    """Of a disk: where each partition begins, its sectors and its type."""
    answer = json.loads(stage.sh(f"sfdisk --json {stage.machine.disk(number).by_id}"))["partitiontable"]
    return [(part["start"], part["size"], part["type"]) for part in answer["partitions"]]


def ids(stage, number: int) -> set[str]:
    answer = json.loads(stage.sh(f"sfdisk --json {stage.machine.disk(number).by_id}"))["partitiontable"]
    return {answer["id"], *(part["uuid"] for part in answer["partitions"])}


def test_the_table_is_copied_the_partition_replaced_and_the_boot_loader_left_to_a_person(stage, walk):
    lost, serving, new = (stage.machine.disk(number) for number in (*MEMBERS, NEW))
    before = table(stage, MEMBERS[1]), ids(stage, MEMBERS[1])
    stage.machine.pull(MEMBERS[0])
    stage.sh(f"zpool scrub -w {POOL}", check=False, seconds=600)
    print(stage.sh(f"zpool status -P {POOL}"))
    walk.begin(f"{POOL}: the member", RUNBOOK)
    walk.choose("Choose the new disk", new.serial)
    walk.insist("Check now", "Check pool, member and both disks")
    walk.plan(COPY, "Confirm which table goes where")
    walk.insist(COPY, COPY)
    walk.plan(REPLACE, "Confirm which member is replaced")
    assert table(stage, NEW) == before[0]
    assert not ids(stage, NEW) & before[1]
    walk.insist(REPLACE, REPLACE)
    walk.choose("Choose what boots the node", "Another boot loader, or none")
    walk.hands("Install the boot loader on the new disk", "Nothing boots from this pool: the node has a disk of its own.")
    walk.until_filled(stage.machine.guest, "See what the old disk still serves", seconds=900)
    walk.insist("Check now", "See what the old disk still serves")
    walk.until_done()
    stage.keep("replaced")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert f"{new.by_id}-part3" in status
    assert f"{serving.by_id}-part3" in status
    assert lost.by_id not in status
    assert "0 errors" in status
    assert (table(stage, MEMBERS[1]), ids(stage, MEMBERS[1])) == before  # it was only read
    (replace,) = stage.replaces(POOL)
    assert re.search(rf" \d+ {new.by_id}-part3$", replace)
    assert " -f" not in replace
