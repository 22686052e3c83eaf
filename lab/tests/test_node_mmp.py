"""multihost is on, and all disks stall: ZFS suspends the pool, `zpool` hangs, and the portal still knows what is the matter."""

import contextlib

import pytest

from lab.qmp import QemuRefused

NODE, DISKS = "oss04", 4
POOL = "ost_4"
SUSPENDED = f"{POOL} is suspended: its multihost writes did not get through"
LOOKS = f"lets zpool clear {POOL} resume it after a look"
ADVICE = {"2.1": "zpool clear does not help: OpenZFS 2.1.", "2.3": LOOKS, "2.4": LOOKS}


@pytest.fixture(scope="module")
def suspended(stage, ann):
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 -o multihost=on {POOL} raidz1 {members}")
    stage.enrol(ann)
    stage.until(lambda facts: facts["pools"], "there is a pool")
    for number in range(DISKS):
        stage.machine.slow(number, bytes_per_second=1, writes_only=True)
    yield
    with contextlib.suppress(QemuRefused):  # after a stall this long the driver resets the adapter, and QEMU may have ended over it
        for number in range(DISKS):
            stage.machine.slow(number)


def test_it_is_known_while_zpool_hangs_and_the_advice_is_for_this_release(stage, ann, suspended, made):
    ann.until(lambda page: any(SUSPENDED in words for words, _ in page.links), "the suspension", "/")
    page = ann.follow(SUSPENDED)
    print(page.text)
    state = stage.sh(f"cat /proc/spl/kstat/zfs/{POOL}/state").strip()
    assert state == "SUSPENDED"
    assert ADVICE[made.zfs_version[:3]] in page.text.replace("`", "")
    stage.keep("suspended")


def test_the_agent_goes_on_reporting(stage, suspended):
    before = stage.portal.manage("shell", "-v", "0", "-c", LAST.format(node=NODE)).strip()
    stage.sh("sleep 45")
    assert stage.portal.manage("shell", "-v", "0", "-c", LAST.format(node=NODE)).strip() != before


LAST = "from app.fleet.models import Node; print(Node.objects.get(name={node!r}).last_report_at)"
