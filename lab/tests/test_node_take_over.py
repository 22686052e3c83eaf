"""A head dies with its pool imported, and the other head at the same shelf takes it over; first while it only seems to be dead, which is refused."""

import time

import pytest

from lab.stage import Stage
from lab.walk import Walk

NODE, DISKS = "oss14", 2
HEAD, HOSTID, SERIAL = "oss13", "0badf00d", "C8470LABWALK13"
POOL = "ost_13"
RUNBOOK = "take-over"
FENCE, STILL = "Switch the head off, and show that it has no power", "Wait a minute between two looks at the uberblocks"
IMPORT = "Import it by force"
RETURNED = "Wait until the head reports and cannot import the pool"
WRITER = "systemd-run -q --collect sh -c 'while :; do date > /{pool}/file; sync; sleep 1; done'"
IPMI = """\
{date}
System Power         : {power}
Power Overload       : false
Power Restore Policy : always-off
Last Power Event     : command
Watchdog Timer Use:     SMS/OS (0x04)
Watchdog Timer Is:      Stopped
Watchdog Timer Action:  No action (0x00)
FRU Device Description : Builtin FRU Device (ID 0)
 Chassis Type          : Rack Mount Chassis
 Chassis Serial        : {serial}
"""


def ipmitool(power: str = "off", serial: str = SERIAL) -> str:
    """What its management controller prints at this moment; QEMU has none."""
    return IPMI.format(date=time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime()), power=power, serial=serial)


@pytest.fixture(scope="module")
def head(stage, ann, portal, boot) -> Stage:
    stage.enrol(ann)
    stage.allow("zpool_import_fenced")
    disks = str(stage.machine.folder / "disks")
    machine = boot(HEAD, DISKS, hostid=HOSTID, serial=SERIAL, disks_folder=disks, lot=stage.machine.settings.lot)
    members = " ".join(machine.disk(n).by_id for n in range(DISKS))
    machine.guest.create_pool(f"-o ashift=12 {POOL} mirror {members}")
    head = Stage(portal, machine)
    head.sh(WRITER.format(pool=POOL))
    head.trust()
    head.enrol(ann)
    head.until(lambda facts: facts["pools"], "there is a pool")
    stage.sh("for d in /sys/block/sd*; do blockdev --rereadpt /dev/${d##*/}; done; udevadm settle -t 30", check=False)
    return head


@pytest.fixture(scope="module")
def walk(ann, bob, head):
    return Walk(ann, bob)


def begin(walk: Walk) -> None:
    walk.begin(f"{NODE} sees {POOL}", RUNBOOK)
    walk.insist("Check now", "Check that the head is silent and that this node may have the pool")


def test_while_it_reports_nothing_is_to_be_taken_over(stage, walk, head):
    words = f"{NODE} sees {POOL}, which {HEAD} has imported"
    walk.asker.until(lambda page: any(words in link for link, _ in page.links), words, "/")
    walk.asker.follow(words)
    assert not [form for form in walk.asker.page.forms if RUNBOOK in form.fields.values()]


def test_a_head_that_resumes_in_the_middle_of_the_check_is_seen_by_what_it_writes(stage, walk, head):
    """Its agent has ended, so that only the disks show that it lives: it stands still, is taken for dead, and goes on."""
    head.sh("systemctl stop 'slotlight*'")
    head.machine.qmp("stop")
    begin(walk)
    walk.asker.step(FENCE)
    walk.asker.press("Done", evidence=ipmitool(power="on"))
    assert "By this text the machine has power. Switch it off first." in walk.asker.page.text
    walk.asker.press("Done", evidence=ipmitool(serial="ANOTHER"))
    assert f"It is about another machine than {HEAD}" in walk.asker.page.text
    walk.hands(FENCE, ipmitool())
    time.sleep(30)
    walk.asker.step(STILL)
    head.machine.qmp("cont")
    page = walk.asker.until(lambda page: " was written to: " in page.current, "that a host writes to it")
    print(page.current)
    assert "Some host has it, whatever was shown." in page.current
    assert not walk.asker.has_button(f"Have the node plan it: {IMPORT[0].lower()}{IMPORT[1:]}")
    stage.keep("head-resumed")
    walk.asker.press("End the run", reason="The head was not dead.")
    walk.asker.until(lambda page: " ended by a person " in page.text, "that the run has ended")
    assert stage.sh("zpool list -H -o name").split() == []
    assert head.sh(f"zpool list -H -o health {POOL}").strip() == "ONLINE"


def test_the_head_that_is_dead_is_replaced_by_the_other(stage, walk, head):
    head.sh(f"echo kept > /{POOL}/kept; zpool sync {POOL}")
    head.machine.cut()
    begin(walk)
    walk.hands(FENCE, ipmitool())
    walk.order(IMPORT, "Confirm what is taken from whom")
    walk.insist("Check now", "See what is to be started")
    stage.keep("taken-over")
    assert stage.sh(f"zpool list -H -o health {POOL}").strip() == "ONLINE"
    assert stage.sh(f"zfs get -H -o value mounted {POOL}").strip() == "no"
    stage.sh(f"zfs mount {POOL}")
    assert stage.sh(f"cat /{POOL}/kept") == "kept\n"
    walk.hands("Load keys, mount, and start what the pool serves", "No keys; mounted; nothing is exported from it.")
    walk.hands("Keep the head from the pool before its power returns", "Its SAS cables are unplugged, by ann, before it was switched on.")
    walk.asker.step(RETURNED)


def test_the_head_returns_and_the_run_ends_once_it_cannot_import_it(stage, walk, head):
    head.machine.rearrange({})
    head.machine.start(tied=True)
    page = walk.asker.until(lambda page: f"{HEAD} has {POOL} in its cache file" in page.current, "what its cache file holds")
    assert "imports it at its next boot" in page.current
    head.sh("rm /etc/zfs/zpool.cache; systemctl restart slotlight-agent")
    walk.until_done()
    assert stage.sh(f"zpool list -H -o health {POOL}").strip() == "ONLINE"
    assert "errors: No known data errors" in stage.sh(f"zpool status {POOL}")
