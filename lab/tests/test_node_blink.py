"""From the install line to a disk replaced in its bay: the real agent on a real node, the portal's own pages, lamps read at the shelf."""

import re

import pytest

from lab.disks import BAYS
from lab.shelf import hands
from lab.shelf.enclosure import shelf_id
from lab.stage import POLICY
from lab.walk import Walk

NODE, DISKS = "oss01", 7
MEMBERS = range(6)  # the last disk stays blank
SICK, NEW = 2, 20
POOL = "tank"
DATA = "48M"


@pytest.fixture(scope="module")
def pool(stage):
    members = " ".join(stage.machine.disk(n).by_id for n in MEMBERS)
    stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} raidz2 {members}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count={DATA.rstrip('M')} 2>/dev/null; zpool sync")
    return stage.sh(f"zpool get -Hpo value guid {POOL}").strip()


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


def test_the_line_of_the_page_installs_and_enrols(stage, ann, pool):
    enrolled = stage.enrol(ann)
    fingerprint = re.search(r"is enrolled\. Its key is ([0-9a-f]{16})", enrolled)[1]
    ann.until_shows(fingerprint, f"/nodes/{NODE}/agent/")
    assert stage.sh("systemctl is-active slotlight-agent slotlight-relay").split() == ["active", "active"]


def test_the_report_equals_the_truth(stage, pool):
    facts = stage.until(every_member_has_its_disk, "each member of the pool is one of the disks")
    truth = {
        stage.machine.disk(n).wwid: (stage.machine.disk(n).serial, hex(shelf_id(bay // BAYS, stage.machine.settings.lot)), bay % BAYS + 1)
        for bay, n in stage.machine.settings.bays.items()
    }
    assert {d["wwid"]: (d["serial"], d["bay"].get("enclosure"), d["bay"].get("slot")) for d in facts["disks"]} == truth
    assert facts["hostid"] == stage.machine.settings.hostid
    assert {d["size"] for d in facts["disks"]} == {512 * 1024**2}
    (found,) = facts["pools"]
    ((kind, top),) = found["tops"]
    assert (found["name"], found["guid"], found["state"], kind, top["kind"]) == (POOL, pool, "ONLINE", "data", "raidz")
    assert [leaf["wwid"] for leaf in top["children"]] == [stage.machine.disk(n).wwid for n in MEMBERS]
    assert [leaf["state"] for leaf in top["children"]] == ["ONLINE"] * len(MEMBERS)
    guids = dict(re.findall(r"(\d{10,}) +(ONLINE)", stage.sh(f"zpool status -g {POOL}")))
    assert {leaf["guid"] for leaf in top["children"]} < set(guids)


def every_member_has_its_disk(facts: dict) -> bool:
    """The labels are read after the first report: seven disks are asked one after the other on a slow machine."""
    leaves = [leaf for pool in facts["pools"] for _, top in pool["tops"] for leaf in top["children"]]
    return len(facts["disks"]) == DISKS and bool(leaves) and all(isinstance(leaf["wwid"], str) for leaf in leaves)


def test_nothing_that_the_agent_asks_fails_on_a_real_node(stage):
    assert stage.answered()["failures"] == {}


def test_to_look_at_a_node_changes_nothing_on_it(stage):
    """A disk that was open for writing is told of as changed, and ZED reopens its pool for that, in the middle of whatever the pool does."""
    assert changes(stage, "slotlight-agent once > /dev/null") == []
    assert "/block/sda" in changes(stage, "sg_logs --page=0x02 /dev/sda")[0]  # without --readonly: such an event would have been heard


def changes(stage, line: str) -> list[str]:
    """The block devices that the kernel says have changed while a line runs on the node."""
    listening = "udevadm monitor --kernel --subsystem-match=block > /run/heard & ear=$!"
    output = stage.sh(f"{listening}; sleep 5; {line}; sleep 5; kill $ear; wait; cat /run/heard", check=False, seconds=600)
    assert "monitor will print" in output
    return [one for one in output.splitlines() if " change " in one]


def test_the_agent_finds_itself_well(stage):
    output = stage.sh("slotlight-agent doctor; slotlight-agent status", check=False)
    assert "bad" not in output.split(), output


def test_a_node_whose_owner_said_nothing_is_only_observed(stage):
    assert '"observe"' in stage.sh(f"cat {POLICY}")


def test_a_sick_member_is_found_and_its_runbook_begun(stage, walk, pool):
    stage.allow("zpool_offline", "zpool_online", "zpool_replace", "locate_led", "fault_led_off")
    stage.sh(f"zpool offline -f {POOL} {stage.machine.disk(SICK).by_id}-part1")  # as ZED does for a disk with too many errors
    walk.begin("is FAULTED", "blink-and-replace")
    walk.asker.step("Scan the new disk")


def test_the_serial_of_the_disk_that_goes_is_not_the_new_ones(stage, walk):
    old = stage.machine.disk(SICK).serial
    walk.asker.press("Done", evidence=old)
    assert f"{old} is the disk that is to go" in walk.asker.page.text
    walk.asker.press("Done", evidence=stage.machine.disk(NEW).serial)
    walk.asker.step("Check pool, member, disk and bay")


def test_a_member_that_serves_nothing_need_not_be_taken_out_of_service(stage, walk):
    walk.asker.press("Check now")
    walk.asker.step("Have the node plan it: light the bay")
    assert "is FAULTED and serves nothing" in walk.asker.page.text
    assert stage.machine.lit() == {(0, SICK + 1): ["fault"]}  # by ZED, not by us


@pytest.mark.parametrize("mood", ["refuses", "ignores"])
def test_a_shelf_that_does_not_obey_is_found_out_by_reading_the_light_back(stage, walk, mood):
    """The kernel takes the write in both cases and says that all is well."""
    if mood == "refuses":
        walk.plan("Light the bay")
    walk.asker.step("Light the bay")
    hands.ask(stage.machine.shelf_folder, shelf=0, mood=mood)
    walk.asker.press("Light the bay")
    walk.asker.until_shows("Make a new plan")
    assert f"Its output: read back: bay {SICK + 1} of " in walk.asker.page.current
    assert [bay for bay, lamps in stage.machine.lit().items() if "ident" in lamps] == []
    hands.ask(stage.machine.shelf_folder, shelf=0, mood="")
    walk.asker.press("Make a new plan")


def test_the_lamp_of_the_bay_is_really_lit_and_no_other(stage, walk):
    walk.asker.step("Light the bay")
    walk.asker.press("Light the bay")
    walk.asker.step("Say which bay blinks")
    identified = [bay for bay, lamps in stage.machine.lit().items() if "ident" in lamps]
    assert identified == [(0, SICK + 1)]


def test_another_bay_than_the_lit_one_is_refused(walk):
    walk.asker.press("Done", evidence=str(SICK + 2))
    assert "Pull nothing." in walk.asker.page.text
    walk.asker.press("Done", evidence=str(SICK + 1))
    print(walk.asker.page.current)
    walk.asker.step("Pull the disk")


def test_the_disk_is_pulled_and_the_new_one_is_seen_in_its_bay(stage, walk):
    bay = stage.machine.pull(SICK)
    walk.asker.step("Put the new disk into the same place")
    stage.machine.insert(NEW, bay)
    walk.asker.step("Take the new disk")
    chosen = stage.machine.disk(NEW)
    assert [chosen.serial in label for value, label in walk.asker.options().items() if value == chosen.wwid] == [True]


def test_it_is_filled_by_one_replace_and_the_light_goes_out(stage, walk):
    walk.asker.press("Take this disk", choose=stage.machine.disk(NEW).serial)
    walk.order("Replace the disk", "Confirm what is replaced")
    walk.until_filled(stage.machine.guest, "switch the light off")
    walk.order("Switch the light off")
    walk.order_if_asked("Switch the fault light off")  # where ZED has not heard of the new disk
    walk.until_done()
    assert stage.machine.lit() == {}
    stage.keep("replaced")
    status = stage.sh(f"zpool status -P {POOL}")
    assert f"{stage.machine.disk(NEW).by_id}-part1" in status
    assert f"pool '{POOL}'" not in status
    assert "DEGRADED" not in status
    assert "0 errors" in status
    (replace,) = stage.replaces(POOL)
    assert " -f" not in replace
    assert "/dev/sd" not in replace
