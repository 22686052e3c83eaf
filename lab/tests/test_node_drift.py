"""The power fails, and the node comes back with its disks in other bays, one of them missing: names are other disks now.

The pool was made on raw `/dev/sdX` names. The name of the lost member is another disk today.
"""

import re

import pytest

from lab.tests.incidents import AFTER, LOST, MEMBERS, NEW, drift, import_if_need_be
from lab.walk import Walk

NODE, DISKS = "oss02", MEMBERS
POOL = "ost_1"


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def lost(stage, ann):
    """The member that is gone after the power cut."""
    return drift(stage, ann, POOL)


def test_after_the_boot_the_name_of_the_lost_member_is_another_disk(stage, lost):
    import_if_need_be(stage, POOL)
    assert lost.now(stage) != LOST
    status = stage.sh(f"zpool status -P {POOL}")
    print(status)
    assert re.search(rf"{lost.guid} +\w+ .*was /dev/{lost.was}1", status)


def test_the_agent_came_back_by_itself_and_the_drift_is_found(stage, walk, lost):
    facts = stage.until(lambda facts: facts["pools"] and facts["pools"][0]["state"] == "DEGRADED", "the pool is degraded")
    ((_, top),) = facts["pools"][0]["tops"]
    gone = {leaf["guid"]: leaf["was"] for leaf in top["children"] if leaf["state"] != "ONLINE"}
    assert gone[lost.guid] == f"/dev/{lost.was}1"  # others may be lost as well: those that udev named after the import
    stage.keep("drifted")
    walk.begin(f"{POOL} lost the member {lost.guid}", "wwid-mismatch-replace")
    walk.asker.step("Choose the new disk")


def test_a_healthy_member_is_refused_also_when_it_has_the_name_of_the_lost_one(stage, walk, lost):
    new = stage.machine.disk(NEW).wwid
    walk.asker.until(lambda page: " fits " in walk.asker.options().get(new, ""), "that the new disk fits")  # its health is asked for later
    options = walk.asker.options()
    assert set(options) == {stage.machine.disk(n).wwid for n in AFTER.values()}
    assert [value for value, label in options.items() if " fits " in label] == [new]
    now = lost.now(stage)
    wrong = stage.machine.disk(AFTER[0] if now == NEW else now)
    assert "refused" in options[wrong.wwid]
    walk.asker.press("Take this disk", choose=wrong.serial)
    assert walk.asker.page.status == 409, walk.asker.page.text


def test_the_right_disk_takes_the_lost_ones_place_without_force(stage, walk, lost):
    walk.to_the_button_that_replaces(stage.machine.disk(NEW).serial)
    walk.asker.press("Replace the disk")
    walk.until_filled(stage.machine.guest)
    (replace,) = stage.replaces(POOL)
    assert lost.guid in replace
    assert " -f" not in replace
    assert stage.machine.disk(NEW).by_id in replace
    assert "state: ONLINE" in stage.sh(f"zpool status {POOL}")
