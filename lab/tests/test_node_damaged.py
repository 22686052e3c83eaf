"""A block of a pool without redundancy is wrong, and a snapshot holds it too: deleting the file is not enough, so the snapshot goes as well."""

import mmap

import pytest

from lab.guest import GuestFailed
from lab.walk import Walk

NODE, DISKS = "oss15", 2
POOL = "scratch"
MARK = "the block that goes wrong "
FILE, SNAPSHOT, OTHER = f"/{POOL}/data", f"{POOL}@monday", f"{POOL}@sunday"
SETTLE, DESTROY = "damaged-data", "destroy-damaged-snapshot"
DAMAGED = f"{POOL}: data is damaged"


@pytest.fixture(scope="module")
def pool(stage, ann):
    stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} {stage.machine.disk(0).by_id}")
    stage.sh(
        f"zfs snapshot {OTHER}; yes '{MARK}' | head -c 131072 > {FILE}; dd if=/dev/urandom of=/{POOL}/other bs=1M count=20 2>/dev/null; zpool sync"
    )
    stage.sh(f"zfs snapshot {SNAPSHOT}")
    stage.enrol(ann)
    stage.allow("zpool_scrub", "zpool_scrub_pause", "zfs_destroy_snapshot")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def lose_the_block(stage) -> None:
    """On the medium and not through the pool, while that is exported."""
    disk = stage.machine.disk(0)
    with disk.image.open("rb") as image, mmap.mmap(image.fileno(), 0, access=mmap.ACCESS_READ) as content:
        first = content.find((MARK + "\n").encode() * 20)
        assert first >= 0
        assert content.rfind((MARK + "\n").encode()) - first < 131072
    disk.lose(first, 131072)


def listed(stage) -> str:
    return stage.sh(f"zpool status -v {POOL}").partition("errors: ")[2].strip()


def scrubbed(walk: Walk, done: str) -> None:
    walk.begin(DAMAGED, SETTLE)
    walk.insist("Check now", "Check what is damaged, and that every member serves")
    walk.choose("Say what was done about what is damaged", done)
    walk.order("Scrub the pool")


def test_the_damage_is_found_and_listed_by_its_file(stage, walk):
    stage.sh(f"zpool export {POOL}")
    lose_the_block(stage)
    stage.machine.guest.import_pool(f"-d /dev/disk/by-id {POOL}")
    with pytest.raises(GuestFailed, match="Input/output error"):
        stage.sh(f"cat {FILE}")
    stage.sh("sync; zpool sync")
    print(listed(stage))
    assert FILE in listed(stage)
    walk.asker.until(lambda page: any(DAMAGED in words for words, _ in page.links), "that data is damaged", "/")
    walk.asker.follow(DAMAGED)
    walk.asker.until(lambda page: FILE in page.text, "which file it is")
    stage.keep("file-damaged")


def test_deleting_the_file_is_not_enough_while_a_snapshot_holds_the_block(stage, walk):
    stage.sh(f"rm {FILE}; zpool sync")
    scrubbed(walk, "Everything listed was restored")
    walk.order("Scrub the pool once more")
    page = walk.asker.until(lambda page: " still lists " in page.current, "what the second scrub found")
    print(page.current)
    print(listed(stage))
    assert f"{POOL} still lists 1 file of a snapshot: a scrub found them damaged now." in page.current
    assert f"{SNAPSHOT}:/data" in listed(stage)
    stage.keep("snapshot-damaged")
    walk.asker.press("End the run", reason="A snapshot holds it too.")
    walk.asker.until(lambda page: " ended by a person " in page.text, "that the run has ended")


def test_the_snapshot_that_holds_it_is_destroyed_and_no_other(stage, walk):
    walk.begin(DAMAGED, DESTROY)
    walk.insist("Check now", "Check that a snapshot is damaged and every member serves")
    walk.choose("Choose the snapshot that goes", SNAPSHOT)
    walk.order("Destroy the snapshot", "Confirm which snapshot is destroyed")
    walk.until_done()
    stage.keep("snapshot-destroyed")
    assert stage.sh(f"zfs list -H -t snapshot -o name -r {POOL}").split() == [OTHER]
    print(listed(stage))


def test_after_the_next_scrub_nothing_is_listed(stage, walk):
    """A pool with the feature head_errlog, as 2.2 and newer make it, lists nothing of a snapshot that is destroyed, at once."""
    if listed(stage) != "No known data errors":
        scrubbed(walk, "Everything listed was restored")
        walk.until_done()
        stage.keep("settled")
    assert listed(stage) == "No known data errors"
    destroyed = [line for line in stage.sh(f"zpool history {POOL}").splitlines() if " zfs destroy " in line]
    assert [line.split(" zfs destroy ")[1] for line in destroyed] == [SNAPSHOT]
