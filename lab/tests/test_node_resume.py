"""All disks stall for a moment, and multihost suspends the pool: it is let go on by `zpool clear` where the kernel looks for another writer first, and by
a reboot where it does not.

The stall ends before the kernel gives a command up after 30 seconds: what its driver does then to the adapter ends QEMU
(`mptsas_doorbell_read: Assertion`).
"""

import time

import pytest

from lab.tests.incidents import BOOTED
from lab.walk import Walk

NODE, DISKS = "oss12", 4
POOL = "ost_12"
SUSPENDED = f"{POOL} is suspended: its multihost writes did not get through"
STALL_SECONDS_MAX = 28
STEADY, REFUSED = "Watch it for ten minutes", "Inform the owners of what else runs here"
MORE_TIME, FAIL_INTERVALS, STEADY_SECONDS_MAX, PUT_BACK_SECONDS = "Give it more time, or not", "zfs_multihost_fail_intervals", 1200, 600
WAY, CLEAR, REBOOT = "Resume, or reboot", "Let it go on (zpool clear)", "Reboot the node"


@pytest.fixture(scope="module")
def looks_first(made) -> bool:
    """Whether this release's `zpool clear` looks for another writer after a multihost suspension; 2.1 refuses it."""
    return not made.zfs_version.startswith("2.1.")


@pytest.fixture(scope="module")
def suspended(stage, ann):
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 -o multihost=on {POOL} raidz1 {members}")
    stage.enrol(ann)
    stage.allow("zpool_clear", "set_tunable")
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


def to_the_choice_of_the_way(ann, bob) -> Walk:
    walk = Walk(ann, bob)
    walk.begin(SUSPENDED, "suspended-pool")
    walk.insist("Check now", "Check that it is suspended")
    walk.choose("Say what suspended it", "Multihost suspended it")
    walk.choose("Name the disk that began it", "None of them")
    walk.hands("Answer for the other hosts", "none")
    walk.insist("Check now", "Prove that no other host has the pool")
    walk.hands("Mend the cable or the HBA that stalled", "The cable of the shelf was loose.")
    ann.step(WAY)
    print(ann.page.current)
    return walk


def test_it_is_let_go_on_when_nobody_else_has_it(stage, ann, bob, suspended, looks_first):
    if not looks_first:
        pytest.skip("OpenZFS 2.1 refuses `zpool clear` after a multihost suspension; its way is walked below.")
    walk = to_the_choice_of_the_way(ann, bob)
    stage.keep("before-clear")
    walk.choose(WAY, CLEAR)
    walk.order("Let the pool take writes again", approved=True)
    page = ann.until(lambda page: any(title in page.current for title in (STEADY, REFUSED)), f"{STEADY!r} or {REFUSED!r}")
    stage.keep("after-clear")
    assert STEADY in page.current, page.text
    print(ann.page.text)
    assert state(stage) == "ONLINE"
    stage.sh(f"echo kept > /{POOL}/file; timeout 60 zpool sync {POOL}")
    assert stage.sh(f"zpool history {POOL}").strip().endswith(f" zpool clear {POOL}")


def test_where_a_clear_does_not_help_the_node_is_rebooted_and_the_pool_imported(stage, ann, bob, suspended, looks_first):
    if looks_first:
        pytest.skip("Here `zpool clear` lets it go on, which is walked above.")
    walk = to_the_choice_of_the_way(ann, bob)
    assert not any(CLEAR in option and " fits " in option for option in ann.options().values()), ann.page.text
    assert f"{CLEAR} refused" in ann.page.text
    walk.choose(WAY, REBOOT)
    walk.hands(REFUSED, "none")
    ann.step(REBOOT)
    stage.machine.cut()
    stage.machine.start(tied=True)
    stage.sh(BOOTED, check=False)
    walk.hands(REBOOT, "By its management controller.")
    ann.step("Import the pool")
    if POOL not in stage.sh("zpool list -H -o name", check=False).split():  # the boot imported it, or a person does
        stage.machine.guest.import_pool(f"-d /dev/disk/by-id {POOL}")
    walk.hands("Import the pool", "By its guid.")
    ann.step(STEADY)
    print(ann.page.text)
    assert state(stage) == "ONLINE"
    stage.sh(f"echo kept > /{POOL}/file; timeout 60 zpool sync {POOL}")


def test_it_is_given_more_time_which_is_taken_back_although_the_agent_died_meanwhile(stage, ann, bob, suspended):
    """On either way, once it was steady for ten minutes."""
    walk, before = Walk(ann, bob), intervals(stage)
    ann.step(MORE_TIME, STEADY_SECONDS_MAX)
    walk.choose(MORE_TIME, FAIL_INTERVALS)
    walk.choose("Choose for how long", "days at most")
    walk.order("Set it here")
    walk.hands("Set it alike on the partners", "none")
    ann.step("Hold it")
    assert intervals(stage) > before
    stage.keep("more-time")
    stage.sh("systemctl kill -s KILL slotlight-agent")
    ann.press("End the run", reason="It was shown that it is put back.")
    walk.hands("Put it back on the partners", "none", PUT_BACK_SECONDS)
    assert intervals(stage) == before
    ann.until(lambda page: "ended by a person" in page.text, "the end of the run")


def intervals(stage) -> int:
    return int(stage.sh(f"cat /sys/module/zfs/parameters/{FAIL_INTERVALS}"))
