"""One disk tells another story than all others, and no import succeeds: it is found, taken from the kernel, and the pool comes in without it.

The disks were copied, the copies imported alone on another host and written to; then the node boots with the copy of one disk.
"""

import shutil
import subprocess

import pytest

from lab.machine import Machine
from lab.walk import Walk

NODE, DISKS = "oss05", 6
POOL = "ost_5"
BAD = 3
TXGS = 200


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def blocked(stage, ann, boot):
    """The guid of the pool that does not come in any more."""
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.sh(f"zpool create -o ashift=12 {POOL} raidz2 {members}; dd if=/dev/urandom of=/{POOL}/data bs=1M count=40 2>/dev/null")
    guid = stage.sh(f"zpool get -Hpo value guid {POOL}").strip()
    stage.enrol(ann)
    stage.allow("disk_delete", "disk_rescan", "zpool_import_readonly", "zpool_export_readonly", "zpool_replace")
    stage.until(lambda facts: facts["pools"], "there is a pool")
    stage.sh(f"sync; zpool sync {POOL}")
    stage.machine.cut()
    away = _copied(stage.machine)
    elsewhere = boot("oss07", DISKS, hostid="0badcafe", disks_folder=str(away))
    elsewhere.guest.sh(f"zpool import -f {POOL}")
    elsewhere.guest.sh(
        f"for i in $(seq {TXGS}); do dd if=/dev/urandom of=/{POOL}/$((i % 7)) bs=1M count=1 2>/dev/null; zpool sync {POOL}; done"
    )
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
    said = stage.sh(f"zpool import -o readonly=on -N {POOL}", check=False)
    print(said)
    assert "cannot import" in said
    name = stage.machine.name_of(BAD)
    ann.until(
        lambda page: any(f"must not be imported as it is: {name}" in words for words, _ in page.links), "the disk that stands out", "/"
    )


def test_it_is_taken_from_the_kernel_and_the_pool_is_imported_read_only_without_it(stage, walk, blocked):
    walk.begin(f"{POOL} must not be imported", "device-delete-reimport")
    walk.asker.step("Choose the disk that blocks it")
    fitting = [value for value, said in walk.asker.options().items() if " fits " in said]
    assert fitting == [stage.machine.disk(BAD).wwid]
    walk.asker.press("Go this way" if "Go this way" in walk.asker.page.text else "Take this disk", choose=stage.machine.disk(BAD).serial)
    walk.asker.step("Check that nobody has the pool")
    walk.asker.press("Check now")
    walk.order("Take the disk away from the kernel", approved=True)
    walk.order("Import the pool read-only without it", approved=True)
    walk.asker.step("Look, compare, and copy out what is needed")
    status = stage.sh(f"zpool status {POOL}; zpool get -H readonly {POOL}")
    assert "state: DEGRADED" in status
    assert "\ton\t" in status
    assert stage.machine.name_of(BAD) == ""


def test_it_is_let_go_of_and_comes_in_writable_without_the_disk(stage, walk, blocked):
    walk.asker.press("Done", evidence="Looked at the data; it is what was there before the copy.")
    walk.order("Let go of the pool")
    walk.asker.step("Pull the disk and label it")
    stage.machine.pull(BAD, noticed=False)
    walk.asker.press("Done", evidence=f"{stage.machine.disk(BAD).serial}, in the drawer.")
    walk.until_done()
    stage.sh(f"zpool import {POOL}")
    assert "state: DEGRADED" in stage.sh(f"zpool status {POOL}")
