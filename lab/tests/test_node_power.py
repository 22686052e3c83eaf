"""The power fails in the middle of a replace: after the command took effect, before anybody could write down how it ended."""

import re

import pytest

from lab.tests.incidents import MEMBERS, NEW, drift, import_if_need_be
from lab.walk import Walk

NODE, DISKS = "oss03", MEMBERS
POOL = "ost_3"


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def lost(stage, ann):
    lost = drift(stage, ann, POOL)
    import_if_need_be(stage, POOL)
    return lost


def test_a_replace_is_under_way_when_the_power_fails(stage, walk, lost):
    walk.begin(f"{POOL} lost the member {lost.guid}", "wwid-mismatch-replace")
    walk.to_the_button_that_replaces(stage.machine.disk(NEW).serial)
    stage.machine.slow(NEW, iops=100)
    agent = stage.sh("systemctl show -P MainPID slotlight-agent").strip()
    stage.catch("zpool", "replace", stop=f"{agent},parent")  # agent and minder; the command goes on, it is not theirs to end
    walk.asker.press("Replace the disk")
    stage.caught()
    stage.sh(f"timeout 120 sh -c 'until zpool history {POOL} | grep -q \"zpool replace\"; do sleep 0.2; done'")
    stage.sh(f"zpool sync {POOL}")
    assert stage.sh("ps -o state= -p $(cat /run/stopped)").split() == ["T", "T"]
    stage.machine.cut()
    walk.asker.go(walk.path)
    assert "done" not in walk.asker.page.current
    stage.machine.start(tied=True)
    import_if_need_be(stage, POOL)


def test_it_is_settled_by_what_the_pool_shows_and_not_run_again(stage, walk, lost):
    walk.until_filled(stage.machine.guest)
    (replace,) = stage.replaces(POOL)
    assert lost.guid in replace
    text = walk.asker.page.text
    stage.keep("settled")
    print(text)
    assert "The agent ended after it had recorded the start" in text, text
    assert "has the command once, at" in text, text
    status = stage.sh(f"zpool status {POOL}")  # names drift at the boot, so another member may be lost by now
    assert re.search(rf"wwn-0x{stage.machine.disk(NEW).wwn:016x} +ONLINE", status), status
    assert lost.guid not in status
