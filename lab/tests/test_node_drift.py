"""The power fails, and the node comes back with its disks in other bays, one of them missing: names are other disks now.

The pool was made on raw `/dev/sdX` names. sdc, the name of the lost member, is a healthy member of the same pool today.
"""

import re

import pytest

from lab.walk import Walk

NODE, DISKS = "oss02", 6
POOL = "ost_1"
LOST, NOW_SDC, NEW = 2, 4, 8
AFTER = {0: 1, 1: 0, 2: NOW_SDC, 3: 3, 4: 5, 5: NEW}


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def lost(stage, ann):
    """The guid of the member that is gone after the power cut; the agent was there before and comes back by itself."""
    names = " ".join(stage.machine.name_of(n) for n in range(DISKS))
    assert names == "sda sdb sdc sdd sde sdf"
    stage.sh(
        f"zpool create -o ashift=12 {POOL} raidz2 {names}; dd if=/dev/urandom of=/{POOL}/data bs=1M count=60 2>/dev/null; sync; zpool sync"
    )
    stage.enrol(ann)
    stage.allow("zpool_replace")
    stage.until(lambda facts: facts["pools"], "there is a pool")
    guid = re.search(r"guid: (\d+)", stage.sh("zdb -l /dev/sdc1 | grep -v -e pool_guid -e top_guid"))[1]
    stage.machine.cut()
    stage.machine.disk(NEW).make(stage.machine.settings.size)
    stage.machine.rearrange(AFTER)
    stage.machine.start(tied=True)
    return guid


def test_the_cachefile_alone_brings_the_pool_back_with_a_stale_name_or_not_at_all(stage, lost):
    assert stage.machine.name_of(NOW_SDC) == "sdc"
    print(stage.sh("systemctl status zfs-import-cache --no-pager -l; zpool status -P; zpool import", check=False))
    if POOL not in stage.sh("zpool list -H -o name", check=False).split():
        stage.sh(f"zpool import -d /dev {POOL}")
    status = stage.sh(f"zpool status -P {POOL}")
    assert f"{lost}  UNAVAIL" in re.sub(r" +", "  ", status), status
    assert "was /dev/sdc1" in status


def test_the_agent_came_back_by_itself_and_the_drift_is_found(stage, walk, lost):
    facts = stage.until(lambda facts: facts["pools"] and facts["pools"][0]["state"] == "DEGRADED", "the pool is degraded")
    ((_, top),) = facts["pools"][0]["tops"]
    (gone,) = [leaf for leaf in top["children"] if leaf["state"] != "ONLINE"]
    assert (gone["guid"], gone["was"]) == (lost, "/dev/sdc1")
    walk.begin("lost the member", "wwid-mismatch-replace")
    walk.asker.step("Choose the new disk")


def test_the_disk_that_has_the_name_today_is_refused_with_the_member_it_is(stage, walk):
    options = walk.asker.options()
    assert set(options) == {stage.machine.disk(n).wwid for n in AFTER.values()}
    fitting = [value for value, said in options.items() if " fits " in said]
    assert fitting == [stage.machine.disk(NEW).wwid]
    wrong = stage.machine.disk(NOW_SDC)
    assert "refused" in options[wrong.wwid]
    walk.asker.press("Take this disk", choose=wrong.serial)
    assert walk.asker.page.status == 409, walk.asker.page.text


def test_the_right_disk_takes_the_lost_ones_place_without_force(stage, walk, lost):
    walk.asker.step("Choose the new disk")
    walk.asker.press("Take this disk", choose=stage.machine.disk(NEW).serial)
    walk.asker.step("Check pool, lost member and new disk")
    walk.asker.press("Check now")
    walk.asker.step("Have the node plan it")
    walk.asker.press("Ask the node for its plan")
    walk.confirm_and_approve("Confirm what is replaced")
    walk.asker.step("Replace the disk")
    walk.asker.press("Replace the disk")
    walk.until_done()
    (replace,) = stage.replaces(POOL)
    assert lost in replace
    assert " -f" not in replace
    assert stage.machine.disk(NEW).by_id in replace
    assert "state: ONLINE" in stage.sh(f"zpool status {POOL}")
