"""One disk tells another story than all others, and no import succeeds: it is found, taken from the kernel, the pool comes in without it,
and a new disk takes its place.

The disks were copied, the copies imported alone on another host and written to; then the node boots with the copy of one disk.
"""

import shutil
import subprocess

import pytest

from lab.machine import Machine
from lab.walk import Walk

NODE, DISKS = "oss05", 6
POOL = "ost_5"
BAD, NEW = 3, 20
TXGS = 80  # as many as an uberblock ring has, and more


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def blocked(stage, ann, boot):
    """The guid of the pool that does not come in any more."""
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    # With sectors of 512 bytes metadata is spread over more disks, so that one disk alone cannot tell enough of its story for an import.
    stage.machine.guest.create_pool(f"-o ashift=9 {POOL} raidz2 {members}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=40 2>/dev/null")
    guid = stage.sh(f"zpool get -Hpo value guid {POOL}").strip()
    stage.enrol(ann)
    stage.allow(
        *(
            "zdb_without",
            "disk_delete",
            "disk_rescan",
            "zpool_import_readonly",
            "zpool_export_readonly",
            "zpool_import_writable",
            "zpool_replace",
        )
    )
    stage.until(lambda facts: facts["pools"], "there is a pool")
    stage.sh(f"sync; zpool sync {POOL}")
    stage.machine.cut()
    away = _copied(stage.machine)
    elsewhere = boot("oss07", DISKS, hostid="0badcafe", disks_folder=str(away), lot=stage.machine.settings.lot)
    elsewhere.guest.sh(f"zpool import -f {POOL}")
    more = f"dd if=/dev/urandom of=/{POOL}/$((i % 7)) bs=256k count=1 2>/dev/null; zpool sync {POOL}"
    elsewhere.guest.sh(f"for i in $(seq {TXGS}); do {more}; done")
    elsewhere.cut()
    shutil.copyfile(elsewhere.disk(BAD).image, stage.machine.disk(BAD).image)
    stage.machine.start(tied=True)
    return guid


def _copied(machine: Machine):
    away = machine.folder / "copies"
    away.mkdir()
    for number in range(DISKS):
        subprocess.run(["cp", "--sparse=always", str(machine.disk(number).image), str(away)], check=True)
    return away


def test_the_pool_did_not_come_in_and_the_disk_that_stands_out_is_named(stage, ann, blocked):
    assert stage.sh("zpool list -H -o name", check=False).split() == []
    output = stage.sh(f"zpool import; zpool import -o readonly=on -N {POOL}", check=False)
    print(output)
    assert "cannot import" in output
    name = stage.machine.name_of(BAD)
    ann.until(
        lambda page: any(f"must not be imported as it is: {name}" in words for words, _ in page.links), "the disk that stands out", "/"
    )


def test_it_is_taken_from_the_kernel_and_the_pool_is_imported_read_only_without_it(stage, walk, blocked):
    stage.keep("blocked")
    walk.begin(f"{POOL} must not be imported", "device-delete-reimport")
    walk.asker.step("Choose the disk that blocks it")
    fitting = [value for value, label in walk.asker.options().items() if " fits " in label]
    assert fitting == [stage.machine.disk(BAD).wwid]
    walk.choose("Choose the disk that blocks it", stage.machine.disk(BAD).wwid)
    walk.order("Try to open the pool without it")
    walk.asker.step("Take it away, or hand over")
    assert f"{POOL} opens without it only." in walk.asker.page.current
    walk.choose("Take it away, or hand over", "Take the disk away from the kernel")
    walk.insist("Check now", "Check that no host has the pool")
    walk.order("Take the disk away from the kernel", approved=True)
    walk.order("Import the pool read-only without it", approved=True)
    walk.asker.step("Look, and compare")
    status = stage.sh(f"zpool status {POOL}; zpool get -H readonly {POOL}")
    print(status)
    assert "state: DEGRADED" in status
    assert "\ton\t" in status
    assert stage.machine.name_of(BAD) == ""


def test_it_is_let_go_of_and_comes_in_for_writing_without_the_disk(stage, walk, blocked):
    walk.hands("Look, and compare", "Looked at the data; it is what was there before the copy. Going on for writing.")
    walk.order("Let go of the pool")
    walk.choose("Choose whether it is imported for writing", "Import it for writing without this disk")
    walk.order("Import it for writing without this disk", "Confirm what is given up")
    walk.asker.step("Find the deleted disk")
    status = stage.sh(f"zpool status {POOL}; zpool get -H readonly {POOL}")
    assert "state: DEGRADED" in status
    assert "\toff\t" in status


def test_it_is_pulled_and_a_new_disk_takes_its_place(stage, walk, blocked):
    walk.hands("Find the deleted disk", stage.machine.disk(BAD).serial)
    bay = stage.machine.pull(BAD, noticed=False)
    walk.hands("Pull the deleted disk", stage.machine.disk(BAD).serial)
    walk.order("Have the kernel look for disks again")
    walk.asker.step("Choose the new disk")
    assert stage.machine.name_of(BAD) == ""
    stage.machine.insert(NEW, bay)
    walk.choose("Choose the new disk", stage.machine.disk(NEW).serial)
    walk.order("Replace the disk", "Confirm what is replaced")
    walk.until_filled(stage.machine.guest)
    stage.keep("replaced")
    assert "state: ONLINE" in stage.sh(f"zpool status {POOL}")
    (replace,) = stage.replaces(POOL)
    assert " -f" not in replace
