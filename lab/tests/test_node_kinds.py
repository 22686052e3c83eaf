"""Disks that sit in no shelf: a mirror of NVMe disks and one of SATA disks without WWN, a member of each replaced in place by the name of its kind.

No enclosure tells where they sit, so a person reads the serial number of the disk that comes and of the disk that goes. A third mirror lies on LUKS
containers: no disk is taken as it is there, and the refusal has the commands, which are given by hand.
"""

import re
from typing import NamedTuple

import pytest

from lab.disks import NVME, SATA
from lab.walk import Walk

NODE, DISKS = "oss31", 3
CRYPT, FORMAT = "crypt", "cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file /root/key {disk}"
OPEN = "cryptsetup open --key-file /root/key {disk} luks-{number}"
DAMAGED = "seek=4 count=40"  # MiB of the member's 512: its data, and none of its labels
FILL = "Have ZFS fill the new disk"
RUNBOOK = "replace-in-place"


class Kind(NamedTuple):
    pool: str
    kind: str
    members: tuple[int, int]
    new: int

    @property
    def disks(self) -> tuple[int, ...]:
        return (*self.members, self.new)


KINDS = (Kind("fast", NVME, (10, 11), 12), Kind("bulk", SATA, (20, 21), 22))
SETTINGS = {"built_in": {number: kind.kind for kind in KINDS for number in kind.disks}}


@pytest.fixture(scope="module")
def walk(stage, ann, bob):
    for kind in KINDS:
        members = " ".join(stage.machine.disk(number).by_id for number in kind.members)
        stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {kind.pool} mirror {members}")
        stage.sh(f"dd if=/dev/urandom of=/{kind.pool}/data bs=1M count=30 2>/dev/null; zpool sync")
    stage.sh("echo secret > /root/key")
    for number in (0, 1):
        encrypt(stage, number)
    stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {CRYPT} mirror /dev/mapper/luks-0 /dev/mapper/luks-1")
    stage.sh(f"dd if=/dev/urandom of=/{CRYPT}/data bs=1M count=30 2>/dev/null; zpool sync")
    stage.enrol(ann)
    stage.allow("zpool_replace_serving", "zpool_detach_new_half", "locate_led")
    return Walk(ann, bob)


def encrypt(stage, number: int) -> None:
    disk = stage.machine.disk(number).by_id
    stage.sh(f"{FORMAT.format(disk=disk)} && {OPEN.format(disk=disk, number=number)} && udevadm settle -t 30")


def test_each_disk_is_known_by_the_name_of_its_kind(stage, walk):
    facts = stage.until(every_member_has_its_disk, "each member is one of the disks")
    disks = [stage.machine.disk(number) for kind in KINDS for number in kind.disks]
    known = {disk["wwid"]: disk for disk in facts["disks"] if isinstance(disk["wwid"], str)}
    assert {disk.wwid: disk.serial for disk in disks} == {disk.wwid: known.get(disk.wwid, {}).get("serial") for disk in disks}
    for kind in KINDS:
        assert members_of(facts, kind.pool) == [stage.machine.disk(number).wwid for number in kind.members]
    assert members_of(facts, CRYPT) == [stage.machine.disk(number).wwid for number in (0, 1)]


def members_of(facts: dict, name: str) -> list[str]:
    (pool,) = (pool for pool in facts["pools"] if pool["name"] == name)
    ((_, mirror),) = pool["tops"]
    return [leaf["wwid"] for leaf in mirror["children"]]


def every_member_has_its_disk(facts: dict) -> bool:
    leaves = [leaf for pool in facts["pools"] for _, top in pool["tops"] for leaf in top["children"]]
    return len(leaves) == 6 and all(isinstance(leaf["wwid"], str) for leaf in leaves)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.kind for kind in KINDS])
def test_a_member_that_reads_wrong_is_replaced_and_its_disk_found_by_its_serial_number(stage, walk, kind):
    old, new = stage.machine.disk(kind.members[0]), stage.machine.disk(kind.new)
    stage.sh(f"dd if=/dev/urandom of={old.by_id}-part1 bs=1M conv=notrunc {DAMAGED} 2>/dev/null; sync")
    stage.sh(f"zpool export {kind.pool}; zpool import -d /dev/disk/by-id {kind.pool}; zpool scrub -w {kind.pool}", seconds=600)
    print(stage.sh(f"zpool status -P {kind.pool}"))
    walk.begin(f"({old.wwid}) counted", RUNBOOK)  # beside it stands that the scrub repaired something
    walk.choose("Choose the new disk", new.serial)
    walk.asker.step("Scan the new disk")
    walk.asker.press("Done", evidence=old.serial)
    walk.asker.step("Scan the new disk")  # that one is the member, and stays
    walk.hands("Scan the new disk", new.serial)
    walk.insist("Check now", "Check pool, member and both disks")
    walk.plan(FILL, "Confirm what is replaced by what")
    walk.insist(FILL, FILL)
    walk.until_filled(stage.machine.guest, "Find the disk that comes out", seconds=900)
    walk.asker.press("Done", evidence=new.serial)
    walk.asker.step("Find the disk that comes out")  # the new one is in the pool
    walk.hands("Find the disk that comes out", old.serial)
    walk.asker.step("Pull the old disk")
    out(stage, kind)
    walk.hands("Scan the disk in your hand", old.serial)
    walk.until_done()
    stage.keep(f"replaced-{kind.kind}")
    status = stage.sh(f"zpool status -P {kind.pool}")
    assert f"{new.by_id}-part1" in status
    assert old.by_id not in status
    assert "replacing" not in status
    (replace,) = stage.replaces(kind.pool)
    assert re.search(rf" \d+ {new.by_id}$", replace)
    assert " -f" not in replace


def test_no_disk_is_taken_as_it_is_into_a_pool_on_luks_and_the_refusal_has_the_way(stage, walk):
    stage.sh(f"dd if=/dev/urandom of=/dev/mapper/luks-0 bs=1M conv=notrunc {DAMAGED} 2>/dev/null; sync")
    stage.sh(f"zpool export {CRYPT}; zpool import -d /dev/mapper {CRYPT}; zpool scrub -w {CRYPT}", seconds=600)
    walk.begin(f"({stage.machine.disk(0).wwid}) counted", RUNBOOK)
    new = stage.machine.disk(2)
    walk.choose("Choose the new disk", new.serial)
    walk.asker.step("Check pool, member and both disks")
    walk.asker.press("Check now")
    page = walk.asker.until_shows("would hold the pool's data unencrypted")
    print(page.current)
    assert f"cryptsetup luksFormat {new.by_id}" in page.text
    command = re.search(rf"zpool replace {CRYPT} \d+ /dev/mapper/NAME", page.text)[0]
    walk.asker.press("End the run", reason="It is done by hand, as the check says.")
    encrypt(stage, 2)
    stage.sh(f"{command.replace('NAME', 'luks-2')} && zpool wait -t replace {CRYPT}", seconds=600)
    wanted = [new.wwid, stage.machine.disk(1).wwid]
    stage.until(lambda facts: members_of(facts, CRYPT) == wanted, "the new container is a member")


def out(stage, kind: Kind) -> None:
    """QEMU's AHCI lets no disk go while it runs: the kernel is told to, which is what it does when one is pulled."""
    number = kind.members[0]
    if kind.kind == NVME:
        stage.machine.pull_built_in(number)
        return
    stage.sh(f"echo 1 > /sys/block/{stage.machine.name_of(number)}/device/delete; udevadm settle -t 20")
