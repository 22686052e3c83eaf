"""A resilver goes slowly: one tunable of the node is raised for it, with a measure before, and read back. The agent is killed meanwhile and comes back;
the run is ended, and the tunable is put back without anybody.
"""

import pytest

from lab.walk import Walk

NODE, DISKS = "oss15", 5
POOL = "ost_15"
# The new disk gets half as much as was written: 15 minutes. How fast a resilver goes is known four minutes after it began, and a run takes as long again.
MIB, BYTES_PER_SECOND = 520, 300_000
TUNABLE = "zfs_resilver_min_time_ms"
# A txg of a resilver lasts until what it has in flight is written. That was 4 MiB a disk and is 16 MiB since 2.2 (module/zfs/dsl_scan.c), which is a
# minute on disks as slow as these, and figures that move once a minute.
IN_FLIGHT, IN_FLIGHT_BYTES = "zfs_scan_vdev_limit", 4 << 20
BEFORE = "Have the node plan it"


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def resilvering(stage, ann) -> str:
    """The guid of a pool whose new disk is being filled, while every disk of it is as slow as the next."""
    *members, new = (stage.machine.disk(n).by_id for n in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 -O compression=off {POOL} raidz2 {' '.join(members)}")
    stage.sh(f"dd if=/dev/urandom of=/{POOL}/data bs=1M count={MIB} 2>/dev/null; zpool sync {POOL}")
    stage.enrol(ann)
    stage.allow("set_tunable")
    stage.answered()
    stage.sh(
        f"echo options zfs {IN_FLIGHT}={IN_FLIGHT_BYTES} > /etc/modprobe.d/scan.conf"
    )  # a run refuses a value that the next boot takes back
    stage.sh(f"echo {IN_FLIGHT_BYTES} > /sys/module/zfs/parameters/{IN_FLIGHT}")
    for number in range(DISKS):
        stage.machine.slow(number, bytes_per_second=BYTES_PER_SECOND)
    stage.sh(f"zpool replace {POOL} {members[0]} {new}")
    return stage.sh(f"zpool get -Hpo value guid {POOL}").strip()


def value(stage) -> int:
    return int(stage.sh(f"cat /sys/module/zfs/parameters/{TUNABLE}"))


def test_a_tunable_is_raised_for_a_resilver_measured_and_put_back_when_the_run_ends(stage, ann, walk, resilvering):
    before = value(stage)
    offer = f"by-hand:resilver-tuning:{NODE}:{resilvering}"
    ann.until(
        lambda page: any(form.fields.get("offer") == offer and form.buttons for form in page.forms),
        "that tuning may be begun",
        f"/nodes/{NODE}/pools/{POOL}/",
    )
    ann.press("Start", within=offer)
    walk.insist("Check now", "Check that tuning can help")
    walk.choose("Choose one tunable and its value", TUNABLE)
    walk.choose("Take the measure of now", "As it is now")
    walk.choose("Choose for how long", "1 h at most")
    walk.planned(BEFORE)
    walk.insist("Set the tunable", "Set the tunable")
    ann.step("Measure what it does")
    print(ann.page.current)
    raised = value(stage)
    assert raised > before
    stage.keep("tuned")
    stage.sh("systemctl kill -s KILL slotlight-agent")
    ann.press("End the run", reason="It was shown what it does.")
    ann.until(lambda page: "ended by a person" in page.text and value(stage) == before, f"that {TUNABLE} is put back and the run is over")
    assert "resilver" in stage.sh(f"zpool status {POOL}")
