"""A pool that was not read through for two months is scrubbed: paused by ending the run, gone on with by another one, and its result names the disk."""

import mmap
import re
import time

import pytest

from lab.walk import Walk

NODE, DISKS = "oss18", 6
BAD = 2
POOL = "tank"
MARK = b"what stood on the disk that goes wrong "
LOST_BYTES = 65536
HOLD = "/sys/module/zfs/parameters/zfs_scan_suspend_progress"  # 1: a scrub that runs gets no further (module/zfs/dsl_scan.c:dsl_scan_sync)
RUNBOOK = "scrub-due"
CHECK, MEASURE, WAIT = (
    "Check that a scrub is due and nothing forbids it",
    "Measure how reads wait without the scrub",
    "Wait for the scrub",
)
MEASURE_SECONDS = 1700
DAYS = 60
# Of a file beside the one that is damaged: without reads between its two looks the run waits the whole 25 minutes for what it cannot measure.
READER = "systemd-run -q --collect sh -c 'while :; do dd if=/{pool}/read of=/dev/null bs=128k 2>/dev/null; sleep 5; done'"


@pytest.fixture(scope="module")
def pool(stage, ann):
    """Made and scrubbed two months ago, by the clock of the node."""
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.sh(f"date -s @{time.time() - DAYS * 86400:.0f} >/dev/null")
    stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} raidz2 {members}")
    stage.sh(f"yes '{MARK.decode()}' | head -c 41943040 > /{POOL}/data; zpool sync; zpool scrub -w {POOL}", seconds=600)
    stage.sh(f"date -s @{time.time():.0f} >/dev/null")
    stage.sh(f"zfs set primarycache=metadata {POOL}; dd if=/dev/urandom of=/{POOL}/read bs=1M count=2 2>/dev/null; zpool sync")
    stage.sh(READER.format(pool=POOL))
    stage.enrol(ann)
    stage.allow("zpool_scrub", "zpool_scrub_pause")


@pytest.fixture(scope="module")
def walk(ann, bob, pool):
    return Walk(ann, bob)


def lose_a_little(stage) -> None:
    """Of what one member holds, on its medium: as much as two or three blocks have there."""
    disk = stage.machine.disk(BAD)
    with disk.image.open("rb") as image, mmap.mmap(image.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(MARK + b"\n" + MARK)
    assert at >= 0
    disk.lose(at, LOST_BYTES)


def to_the_scrub(walk: Walk, situation: str) -> None:
    walk.begin(situation, RUNBOOK)
    walk.insist("Check now", CHECK)
    page = walk.asker.until(lambda page: MEASURE not in page.current and page.current, "the end of the measuring", "", MEASURE_SECONDS)
    print(page.current)
    walk.order("Scrub the pool")


def test_it_is_due_and_paused_when_the_run_is_ended(stage, walk):
    lose_a_little(stage)
    stage.sh(f"echo 1 > {HOLD}")
    to_the_scrub(walk, f"{POOL}: the last scrub ended {DAYS} days ago")
    walk.asker.step(WAIT)
    stage.keep("scrub-runs")
    assert "scrub in progress" in stage.sh(f"zpool status {POOL}")
    walk.asker.press("End the run", reason="The users feel it.")
    walk.order("Pause the scrub")
    walk.asker.until(lambda page: " ended by a person " in page.text, "that the run has ended")
    stage.keep("scrub-paused")
    assert "scrub paused since" in stage.sh(f"zpool status {POOL}")


def test_it_goes_on_where_it_stopped_and_its_result_names_the_disk(stage, walk, pytestconfig):
    stage.sh(f"echo 0 > {HOLD}")
    to_the_scrub(walk, f"{POOL}: its scrub is paused")
    walk.until_done()
    print(walk.asker.page.text)
    stage.keep("scrubbed")
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert re.search(r"scrub repaired [1-9]\S* in \S+ with 0 errors", status)
    (errors,) = re.findall(rf"{stage.machine.disk(BAD).by_id}-part1 +\S+ +0 +0 +(\S+)", status)
    assert errors != "0"
    assert re.search(rf"checksum errors \d+ → {errors}\b", walk.asker.page.text)
    scrubs = [line.split(" zpool ", 1)[1] for line in stage.sh(f"zpool history {POOL}").splitlines() if " zpool scrub " in line]
    # The fourth went on with the paused one. Before 2.3.3 the kernel answers that with ECANCELED (dsl_scan in module/zfs/dsl_scan.c) and writes no history of it.
    resumed = [f"scrub {POOL}"] if pytestconfig.getoption("--zfs") >= "2.4" else []
    assert scrubs == [f"scrub -w {POOL}", f"scrub {POOL}", f"scrub -p {POOL}", *resumed]
