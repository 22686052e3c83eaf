"""One disk of six caches writes and the others do not: it is taken out of service, its cache is switched off by its WWID, read back, and it serves again.

QEMU's disks switch their cache and refuse to save a mode, so sdparm's wish to save it is left out on its way to the disk.
"""

import pytest

from lab.walk import Walk

NODE, DISKS = "oss17", 6
POOL = "ost_17"
ODD = 2
# Stands before the node's sdparm.
SAVES_NOT = """#!/bin/sh
for word; do shift; [ "$word" = --save ] || set -- "$@" "$word"; done
exec /usr/bin/sdparm.real "$@"
"""


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def odd(stage, ann):
    """The disk that caches, in a pool that serves."""
    stage.machine.guest.put("/root/sdparm", SAVES_NOT)
    stage.sh(
        "dpkg-divert --quiet --divert /usr/bin/sdparm.real --rename --add /usr/bin/sdparm; install -m 755 /root/sdparm /usr/bin/sdparm"
    )
    for number in range(DISKS):
        if number != ODD:
            stage.sh(f"echo 'write through' | tee /sys/block/{stage.machine.name_of(number)}/device/scsi_disk/*/cache_type")
    assert [caches(stage, number) for number in range(DISKS)] == [number == ODD for number in range(DISKS)]
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 {POOL} raidz2 {members}")
    stage.enrol(ann)
    stage.allow("set_drive_mode", "zpool_offline", "zpool_online")
    stage.answered()
    return stage.machine.disk(ODD)


def caches(stage, number: int) -> bool:
    """What the disk itself says."""
    output = stage.sh(f"sdparm --get=WCE /dev/{stage.machine.name_of(number)}", check=False)
    return [line.split()[1] for line in output.splitlines() if line.startswith("WCE")] == ["1"]


def test_the_write_cache_of_the_odd_disk_is_switched_off_and_read_back(stage, ann, walk, odd):
    offer = f"by-hand:drive-mode-audit:{NODE}:"

    def offered(page):
        return next((v for form in page.forms if form.buttons for v in form.fields.values() if v.startswith(offer)), "")

    ann.until(offered, "that the audit may be begun", f"/disks/{odd.wwid}/")
    ann.press("Start", within=offered(ann.page))
    walk.insist("Check now", "Check disk and pool")
    walk.choose("Choose what is switched", "Switch the write cache off")
    walk.order("Take the member out of service", approved=True)
    walk.insist("Check now", "Check that it serves nothing")
    walk.plan("Switch the mode and save it")
    ann.step("Confirm disk and mode")
    ann.press("Confirm", text=f"{odd.serial[-6:]} WCE 0")
    ann.step("Have another person approve the plan")
    walk.approve()
    walk.insist("Switch the mode and save it", "Switch the mode and save it")
    walk.order("Bring the member back into service")
    walk.until_done()
    stage.keep("switched")
    assert not any(caches(stage, number) for number in range(DISKS))
    status = stage.sh(f"zpool status {POOL}")
    assert "state: ONLINE" in status
    assert "No known data errors" in status
