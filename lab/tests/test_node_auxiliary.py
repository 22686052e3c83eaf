"""What stands beside the data: a cache device that died goes by its guid, a spare comes and goes again, a single log gets a mirror; and a special vdev,
which is a mirror of two new disks, comes for good."""

import re

import pytest

from lab.walk import Walk

NODE, DISKS = "oss17", 10
MEMBERS, LOG, CACHE, SPARE, MIRROR, SPECIAL = range(4), 4, 5, 6, 7, (8, 9)
POOL = "tank"
PAGE = f"/nodes/{NODE}/pools/{POOL}/"
REMOVE, ADD, ATTACH, CLASS = "remove-auxiliary", "add-auxiliary", "add-redundancy", "add-special"


@pytest.fixture(scope="module")
def pool(stage, ann):
    machine = stage.machine
    members = " ".join(machine.disk(n).by_id for n in MEMBERS)
    machine.guest.create_pool(f"-o ashift=12 {POOL} raidz1 {members} log {machine.disk(LOG).by_id} cache {machine.disk(CACHE).by_id}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=20 2>/dev/null; zpool sync")
    stage.enrol(ann)
    stage.allow("zpool_add", "zpool_add_class", "zpool_attach", "zpool_remove")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def guid_of(stage, number: int) -> str:
    """Of a device that is in the pool now: the row that has its name without -g has its guid with it."""
    names, guids = (stage.sh(f"zpool status -P {flag} {POOL}").splitlines() for flag in ("", "-g"))
    (row,) = (index for index, line in enumerate(names) if stage.machine.disk(number).by_id in line)
    return guids[row].split()[0]


def offer(stage, runbook: str, about: str) -> str:
    return f"by-hand:{runbook}:{NODE}:{stage.sh(f'zpool get -Hpo value guid {POOL}').strip()}:{about}"


def removed(walk: Walk) -> None:
    walk.insist("Check now", "Check that it holds no data and may go")
    walk.order("Remove it from the pool", "Confirm what is removed")
    walk.until_done()


def test_a_cache_device_that_died_is_removed(stage, walk):
    guid = guid_of(stage, CACHE)
    stage.machine.pull(CACHE)
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/more bs=1M count=8 2>/dev/null; zpool sync", seconds=600)
    print(stage.sh(f"zpool status -P {POOL}"))
    walk.begin(f"{POOL}: the cache device ", REMOVE)
    stage.keep("cache-lost")
    removed(walk)
    status = stage.sh(f"zpool status -P {POOL}")
    assert "cache" not in status
    assert stage.sh(f"zpool history {POOL}").strip().endswith(f"zpool remove {POOL} {guid}")


def test_a_spare_is_added(stage, walk):
    walk.begin_at(PAGE, offer(stage, ADD, "spare"))
    walk.choose("Choose the disk", stage.machine.disk(SPARE).serial)
    walk.insist("Check now", "Check pool and disk")
    walk.order("Add the disk to the pool", "Confirm what is added")
    walk.until_done()
    stage.keep("spare-added")
    spares = stage.sh(f"zpool status -P {POOL}").partition("spares")[2]
    assert re.search(rf"{stage.machine.disk(SPARE).by_id}-part1 +AVAIL", spares)


def test_the_log_gets_a_mirror(stage, walk):
    walk.begin_at(PAGE, offer(stage, ATTACH, guid_of(stage, LOG)))
    walk.choose("Choose the new disk", stage.machine.disk(MIRROR).serial)
    walk.insist("Check now", "Check pool and both disks")
    walk.order("Attach the new disk to it", "Confirm both disks")
    walk.until_done()
    stage.keep("log-mirrored")
    logs = stage.sh(f"zpool status -P {POOL}").partition("logs")[2].partition("spares")[0]
    print(logs)
    both = [f"{stage.machine.disk(n).by_id}-part1" for n in (LOG, MIRROR)]
    assert re.search(rf"mirror-\d+ +ONLINE.*\n\t +{both[0]} +ONLINE.*\n\t +{both[1]} +ONLINE", logs)


def test_the_spare_goes_by_its_guid_and_nothing_else_with_it(stage, walk):
    guid = guid_of(stage, SPARE)
    walk.begin_at(PAGE, offer(stage, REMOVE, guid))
    removed(walk)
    stage.keep("spare-removed")
    status = stage.sh(f"zpool status -P {POOL}")
    assert "spares" not in status
    assert status.count("ONLINE") == 10  # the pool twice, raidz1-0 and its four, the mirror of the log and its two
    commands = [line.split(" zpool ", 1)[1] for line in stage.sh(f"zpool history {POOL}").splitlines() if " zpool " in line]
    assert [command.split()[0] for command in commands] == ["create", "remove", "add", "attach", "remove"]
    assert commands[-1] == f"remove {POOL} {guid}"
    assert not [command for command in commands if " -f" in command or "/dev/sd" in command]


def test_a_special_vdev_is_added_as_a_mirror(stage, walk):
    """Beside a raidz1 it has two disks. `zpool add -n` is asked first with a mirror of one more, which zpool refuses without -f."""
    first, second = (stage.machine.disk(number) for number in SPECIAL)
    spare = stage.machine.disk(SPARE).by_id
    stage.sh(f"zpool labelclear -f {spare}-part1", check=False)  # nothing to clear where it was never a spare
    wider = stage.sh(f"zpool add -n -P {POOL} special mirror {first.by_id} {second.by_id} {spare} 2>&1", check=False)  # refused, exit 1
    assert "mismatched replication level" in wider
    walk.begin_at(PAGE, offer(stage, CLASS, "special"))
    walk.choose("Choose the first disk", first.serial)
    walk.choose("Choose the second disk", second.serial)
    walk.insist("Check now", "Check the pool and every disk")
    walk.order("Add the mirror to the pool", "Confirm every disk and what the mirror is to be")
    walk.until_done()
    stage.keep("special-added")
    special = stage.sh(f"zpool status -P {POOL}").partition("special")[2].partition("logs")[0]
    assert re.search(rf"mirror-\d+ +ONLINE.*\n\t +{first.by_id}-part1 +ONLINE.*\n\t +{second.by_id}-part1 +ONLINE", special)
    history = stage.sh(f"zpool history {POOL}").strip()
    assert history.endswith(f"zpool add -o ashift=12 {POOL} special mirror {first.by_id} {second.by_id}")
    printed = stage.sh(f"zpool add -n -P {POOL} log {spare}")
    print(printed)
    assert "\tspecial\n\t  mirror\n" in printed  # outside of the data without its number, as agents/operations/_dry_run.py compares it
