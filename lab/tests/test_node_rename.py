"""A pool that was made under kernel names is exported and imported by the names in /dev/disk/by-id, while people stop and start what uses it."""

import pytest

from lab.walk import Walk

NODE, DISKS = "oss19", 4
POOL = "tank"
RUNBOOK = "rename-members"
STOP = "Stop what uses the pool, and unmount it"


@pytest.fixture(scope="module")
def pool(stage, ann):
    members = " ".join(f"/dev/{stage.machine.name_of(number)}" for number in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 {POOL} raidz1 {members}")
    stage.sh(f"echo kept > /{POOL}/kept; zpool sync")
    print(stage.sh(f"zpool status -P {POOL}"))
    stage.enrol(ann)
    stage.allow("zpool_export_unused", "zpool_import_ordinary")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def test_every_member_gets_its_stable_name_and_nothing_is_forced(stage, walk):
    walk.begin(f"{POOL}: {DISKS} members stand under kernel names", RUNBOOK)
    walk.insist("Check now", "Check that it can be exported and found again by stable names")
    walk.asker.step(STOP)
    stage.sh("zfs unmount -a")
    walk.hands(STOP, "Nothing but the mount used it, and that is away; no keys.")
    walk.order("Export the pool", approved=True)
    walk.order("Import it by its stable names", approved=True)
    walk.insist("Check now", "See what is to be started")
    stage.keep("renamed")
    assert stage.sh(f"zfs get -H -o value mounted {POOL}").strip() == "no"
    stage.sh("zfs mount -a")
    walk.hands("Load keys, mount, and start what the pool serves", "No keys; mounted; nothing is exported from it.")
    walk.until_done()
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert status.count("/dev/disk/by-id/") == DISKS
    assert "/dev/sd" not in status
    assert stage.sh(f"cat /{POOL}/kept") == "kept\n"
    commands = [line.split(" zpool ", 1)[1] for line in stage.sh(f"zpool history {POOL}").splitlines() if " zpool " in line]
    assert [command.split()[0] for command in commands] == ["create", "export", "import"]
    assert " -f" not in " ".join(commands)
    assert " -N " in commands[-1]
