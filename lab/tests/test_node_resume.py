"""All disks stall for a moment, and multihost suspends the pool: it is let go on by `zpool clear` where the kernel looks for another writer first.

The stall ends before the kernel gives a command up after 30 seconds: what its driver does then to the adapter ends QEMU
(`mptsas_doorbell_read: Assertion`).
"""

import time

import pytest

from lab.walk import Walk

NODE, DISKS = "oss12", 4
POOL = "ost_12"
SUSPENDED = f"{POOL} is suspended: its multihost writes did not get through"
STALL_SECONDS_MAX = 28
STEADY, REFUSED = "Watch it for ten minutes", "Tell the owners of what else lives here"


@pytest.fixture(scope="module")
def can_go_on(made):
    if made.zfs_version.startswith("2.1."):
        pytest.skip("OpenZFS 2.1 refuses `zpool clear` after a multihost suspension. Its way is a reboot, which no walk takes yet.")


@pytest.fixture(scope="module")
def suspended(can_go_on, stage, ann):
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 -o multihost=on {POOL} raidz1 {members}")
    stage.enrol(ann)
    stage.allow("zpool_clear")
    stage.until(lambda facts: facts["pools"], "there is a pool")
    began = time.monotonic()
    for number in range(DISKS):
        stage.machine.slow(number, bytes_per_second=1, writes_only=True)
    while state(stage) != "SUSPENDED" and time.monotonic() < began + STALL_SECONDS_MAX:
        time.sleep(1)
    for number in range(DISKS):
        stage.machine.slow(number)
    assert state(stage) == "SUSPENDED"  # and stays so, with every disk well again


def state(stage) -> str:
    return stage.sh(f"cat /proc/spl/kstat/zfs/{POOL}/state").strip()


def test_it_is_let_go_on_when_nobody_else_has_it(stage, ann, bob, suspended):
    walk = Walk(ann, bob)
    walk.begin(SUSPENDED, "suspended-pool")
    walk.insist("Check now", "Check that it is suspended")
    walk.choose("Say what suspended it", "Multihost suspended it")
    walk.choose("Name the disk that began it", "None of them")
    walk.hands("Answer for the other hosts", "none")
    walk.insist("Check now", "Prove that nobody else has the pool")
    walk.hands("Take the sick disk out", "The cable of the shelf was loose.")
    ann.step("Resume, or reboot")
    stage.keep("before-clear")
    print(ann.page.current)
    walk.choose("Resume, or reboot", "Let it go on (zpool clear)")
    walk.order("Let the pool take writes again", approved=True)
    page = ann.until(lambda page: any(title in page.current for title in (STEADY, REFUSED)), f"{STEADY!r} or {REFUSED!r}")
    stage.keep("after-clear")
    assert STEADY in page.current, page.text
    print(ann.page.text)
    assert state(stage) == "ONLINE"
    stage.sh(f"echo kept > /{POOL}/file; timeout 60 zpool sync {POOL}")
    assert stage.sh(f"zpool history {POOL}").strip().endswith(f" zpool clear {POOL}")
