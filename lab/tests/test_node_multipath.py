"""A raidz2 of multipath maps, two adapters to one shelf: a member is replaced by a map, named by the link that leads to the map, and a path is lost."""

import re

import pytest

from lab.walk import Walk

NODE, DISKS = "oss35", 7
SETTINGS = {"paths": 2}
MEMBERS, NEW = range(6), 6
BAD, HALF = 2, 4
POOL = "tank"
RUNBOOK = "replace-in-place"
FILL = "Have ZFS fill the new disk"
DAMAGED = "seek=4 count=60"
CONFIG = "defaults {\n  user_friendly_names yes\n  find_multipaths no\n}\n"
MAPPED = 'test "$(ls -d /sys/block/dm-*/slaves/sd* | wc -l)" = {paths}'


@pytest.fixture(scope="module")
def walk(stage, ann, bob):
    stage.machine.guest.put("/etc/multipath.conf", CONFIG)
    stage.sh("systemctl start multipathd; multipath; udevadm settle -t 60")
    stage.sh(f"for i in 1 2 3 4 5 6; do {MAPPED.format(paths=2 * DISKS)} && exit 0; sleep 5; done; multipath -ll; ls /sys/block; exit 1")
    print(stage.sh("multipath -ll; ls -l /dev/disk/by-id /dev/mapper"))
    members = " ".join(stage.machine.disk(number).by_id for number in MEMBERS)
    stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} raidz2 {members}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count=40 2>/dev/null; zpool sync")
    stage.enrol(ann)
    stage.allow("zpool_replace_serving", "zpool_detach_new_half", "locate_led")
    return Walk(ann, bob)


def test_each_map_is_one_disk_with_two_paths(stage, walk):
    facts = stage.until(every_member_has_its_disk, "each member is one of the disks")
    print(stage.sh(f"zpool status -P {POOL}"))
    assert {disk["wwid"]: len(disk["names"]) for disk in facts["disks"]} == {
        stage.machine.disk(number).wwid: 2 for number in (*MEMBERS, NEW)
    }
    ((_, top),) = facts["pools"][0]["tops"]
    assert [leaf["wwid"] for leaf in top["children"]] == [stage.machine.disk(number).wwid for number in MEMBERS]


def every_member_has_its_disk(facts: dict) -> bool:
    leaves = [leaf for pool in facts["pools"] for _, top in pool["tops"] for leaf in top["children"]]
    return len(leaves) == len(MEMBERS) and all(isinstance(leaf["wwid"], str) for leaf in leaves)


def test_a_member_is_replaced_by_a_map_and_its_bay_is_lit(stage, walk):
    old, new = stage.machine.disk(BAD), stage.machine.disk(NEW)
    stage.sh(f"dd if=/dev/urandom of={old.by_id} bs=1M conv=notrunc {DAMAGED} 2>/dev/null; sync")
    stage.sh(f"zpool export {POOL}; zpool import -d /dev/disk/by-id {POOL}; zpool scrub -w {POOL}", seconds=600)
    print(stage.sh(f"zpool status -P {POOL}"))
    walk.begin(f"({old.wwid}) counted", RUNBOOK)  # beside it stands that the scrub repaired something
    walk.choose("Choose the new disk", new.serial)
    walk.insist("Check now", "Check pool, member and both disks")
    walk.plan(FILL, "Confirm what is replaced by what")
    walk.insist(FILL, FILL)
    walk.until_filled(stage.machine.guest, "light the bay of the old disk", seconds=900)
    walk.order("Light the bay of the old disk")
    walk.asker.step("Say which bay blinks")
    assert [bay for bay, lamps in stage.machine.lit().items() if "ident" in lamps] == [(0, BAD + 1)]
    walk.hands("Say which bay blinks", str(BAD + 1))
    walk.asker.step("Pull the old disk")
    stage.machine.pull(BAD)
    walk.hands("Scan the disk in your hand", old.serial)
    walk.order("Switch the light off")
    walk.until_done()
    stage.keep("replaced")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert "replacing" not in status
    assert "0 errors" in status
    (replace,) = stage.replaces(POOL)
    assert re.search(rf" \d+ /dev/disk/by-id/dm-uuid-mpath-3{new.wwn:016x}$", replace)
    assert " -f" not in replace


def test_a_lost_path_is_told_of_and_the_pool_serves_on(stage, walk):
    stage.machine.lose_path(HALF)
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/more bs=1M count=20 2>/dev/null; zpool sync", seconds=600)
    walk.asker.until(
        lambda page: any("lost a path" in words and stage.machine.disk(HALF).wwid in words for words, _ in page.links),
        "the lost path",
        "/",
        900,
    )
    assert "ONLINE" in stage.sh(f"zpool list -H -o health {POOL}")
