"""Devices beside the data that go: a special vdev by its removal, a member for which a spare stays, and a log that is gone when the power comes back."""

import re

import pytest

from lab.tests.incidents import BOOTED
from lab.walk import Walk

NODE, DISKS = "oss21", 6
FIRST, SECOND, SPECIAL, OTHER, LOG, SPARE = range(DISKS)
POOL = "tank"
PAGE = f"/nodes/{NODE}/pools/{POOL}/"
SPARE_SECONDS = 120  # for ZED to put the spare in; else a person does


@pytest.fixture(scope="module")
def pool(stage, ann):
    first, second, special, other, log, spare = (stage.machine.disk(number).by_id for number in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 {POOL} mirror {first} {second} special mirror {special} {other} log {log} spare {spare}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=30 2>/dev/null; zpool sync")
    stage.enrol(ann)
    stage.allow("zpool_remove_vdev", "zpool_detach", "zpool_import_without_log", "zpool_export_unused", "zpool_remove")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def guid_of(stage, name: str) -> str:
    """Of what has this in its row without -g."""
    names, guids = (stage.sh(f"zpool status -P {flag} {POOL}").splitlines() for flag in ("", "-g"))
    (row,) = (index for index, line in enumerate(names) if name in line)
    return guids[row].split()[0]


def commands(stage) -> list[str]:
    return [line.split(" zpool ", 1)[1] for line in stage.sh(f"zpool history {POOL}").splitlines() if " zpool " in line]


def test_a_special_mirror_leaves_a_pool_of_mirrors_and_the_data_stays(stage, walk):
    before = stage.sh(f"sha256sum /{POOL}/data; ls -lR /{POOL}")
    guid = guid_of(stage, "mirror-1")
    pool = stage.sh(f"zpool get -Hpo value guid {POOL}").strip()
    walk.begin_at(PAGE, f"by-hand:remove-vdev:{NODE}:{pool}:{guid}")
    walk.insist("Check now", "Check that ZFS can take it out")
    walk.order("Remove the vdev from the pool", "Confirm what is removed")
    walk.until_done()
    stage.keep("special-removed")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert "special" not in status
    assert stage.sh(f"sha256sum /{POOL}/data; ls -lR /{POOL}") == before
    assert commands(stage)[-1] == f"remove {POOL} {guid}"


def test_a_spare_stays_for_a_member_that_is_gone(stage, walk):
    member, spare = (stage.machine.disk(number).by_id for number in (FIRST, SPARE))
    gone = guid_of(stage, member)
    stage.machine.pull(FIRST)
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/more bs=1M count=8 2>/dev/null; zpool sync", seconds=600)
    in_use = f"timeout {SPARE_SECONDS} sh -c 'until zpool status {POOL} | grep -q INUSE; do sleep 2; done'"
    print(stage.sh(f"{in_use} || zpool replace {POOL} {gone} {spare}; zpool wait -t resilver {POOL}; zpool status -P {POOL}", seconds=600))
    walk.begin(f"{POOL}: the spare ", "spare-return")
    walk.choose("Choose how it ends", "Let the spare stay for good")
    walk.insist("Check now", "Check pool, member and spare")
    walk.order("Detach the one that goes", "Confirm what is detached")
    walk.until_done()
    stage.keep("spare-stayed")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert "spares" not in status
    assert member not in status
    assert re.search(rf"{spare}-part1 +ONLINE +0 +0 +0", status)
    assert commands(stage)[-1] == f"detach {POOL} {gone}"


def test_the_pool_comes_in_without_its_log_and_only_that_is_given_up(stage, walk):
    before = stage.sh(f"sha256sum /{POOL}/data /{POOL}/more")
    # Records that only the log has: written synchronously just before the power fails.
    stage.sh(
        f"zfs set sync=always {POOL}; systemd-run -q sh -c 'while :; do dd if=/dev/urandom of=/{POOL}/last bs=4k count=1 oflag=sync; done'; sleep 3"
    )
    stage.machine.cut()
    stage.machine.rearrange({bay: number for bay, number in stage.machine.settings.bays.items() if number != LOG})
    stage.machine.start(tied=True)
    stage.sh(BOOTED, check=False)
    print(stage.sh("zpool import; zpool list; zpool status -P", check=False))
    stage.keep("log-lost")
    walk.begin(f"{POOL} cannot be imported: its log device is missing", "import-without-log")
    walk.insist("Check now", "Check that only a log is missing and no host has the pool")
    walk.hands("Look for the log first", "Looked in every bay of the chassis and at the partner: it is in nobody's hands any more.")
    walk.order("Import it without the log", "Confirm which log is given up")
    walk.insist("Check now", "See what becomes of the log")
    walk.insist("Check now", "See what is to be started")
    stage.sh("zfs mount -a")
    walk.hands("Load keys, mount, and start what the pool serves", "No keys; mounted; nothing is exported from it.")
    walk.until_done()
    stage.keep("imported-without-log")
    print(stage.sh(f"zpool status -P {POOL}"))
    assert stage.sh(f"sha256sum /{POOL}/data /{POOL}/more") == before
    (given,) = (line for line in commands(stage) if line.startswith("import "))
    assert " -m " in given
    assert " -f" not in given


def test_the_log_that_is_gone_leaves_the_pool(stage, walk):
    walk.begin(f"{POOL}: the log device ", "remove-auxiliary")
    walk.insist("Check now", "Check that it holds no data and may go")
    walk.order("Remove it from the pool", "Confirm what is removed")
    walk.until_done()
    stage.keep("log-removed")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert "logs" not in status
    assert not [line for line in commands(stage) if "/dev/sd" in line]
