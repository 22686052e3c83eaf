"""Disks and volumes as the kernel, smartctl, nvme and the tools of smaller controllers tell of them, in whole texts."""

from __future__ import annotations

import json

import pytest

from workflows.triage import triage

SMART = """smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.8.0] (local build)

=== START OF INFORMATION SECTION ===
Device Model:     ACME A4000
Serial Number:    AC000001
LU WWN Device Id: 5 000c50 0a0b0c0d0
User Capacity:    4,000,787,030,016 bytes [4.00 TB]
SMART support is: Enabled

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

SMART Attributes Data Structure revision number: 10
Vendor Specific SMART Attributes with Thresholds:
ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0
187 Reported_Uncorrect      -O--CK   100   100   000    -    {attribute}
197 Current_Pending_Sector  -O--C-   100   100   000    -    0
198 Offline_Uncorrectable   ----C-   100   100   000    -    0

Device Statistics (GP Log 0x04)
Page  Offset Size        Value Flags Description
0x04  =====  =               =  ===  == General Errors Statistics (rev 1) ==
0x04  0x008  4  {statistic:>14}  ---  Number of Reported Uncorrectable Errors
0x04  0x010  4               0  ---  Resets Between Cmd Acceptance and Completion

SMART Extended Self-test Log Version: 1 (1 sectors)
No self-tests have been logged.  [To run self-tests, use: smartctl -t]
"""


def slugs(text: str) -> list[tuple[str, str]]:
    return [(one.severity, one.slug) for one in triage([("p", text)]).situations]


def titles(text: str) -> str:
    return " / ".join(one.title for one in triage([("p", text)]).situations)


def test_a_disk_whose_statistics_count_lost_reads_is_not_good_though_its_attribute_is_zero():
    assert triage([("p", SMART.format(attribute=0, statistic=0))]).good
    assert not triage([("p", SMART.format(attribute=0, statistic=12))]).good
    assert "12 reads or writes failed for good" in titles(SMART.format(attribute=0, statistic=12))
    assert "15 reads or writes" in titles(SMART.format(attribute=15, statistic=12))


@pytest.mark.parametrize(("value", "good"), [(0, True), (9, False)])
def test_the_statistics_in_json_count_as_those_in_text(value, good):
    row = {"offset": 8, "name": "Number of Reported Uncorrectable Errors", "size": 4, "value": value, "flags": {"valid": True}}
    table = [
        {
            "id": n,
            "name": name,
            "value": 100,
            "thresh": 0,
            "when_failed": "",
            "flags": {"prefailure": False},
            "raw": {"value": 0, "string": "0"},
        }
        for n, name in ((187, "Reported_Uncorrect"), (197, "Current_Pending_Sector"))
    ]
    document = {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 4], "exit_status": 0},
        "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
        "model_name": "ACME A4000",
        "serial_number": "AC000001",
        "smart_status": {"passed": True},
        "ata_smart_attributes": {"revision": 10, "table": table},
        "ata_device_statistics": {"pages": [{"number": 4, "name": "General Errors Statistics", "table": [row]}]},
    }
    assert triage([("p", json.dumps(document, indent=2))]).good is good


def test_damage_inside_a_disk_at_its_threshold_is_a_failure_and_no_wear():
    text = (
        "smartctl -H /dev/sdc\nsmartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)\n\n=== START OF READ SMART DATA SECTION ===\n"
        "SMART overall-health self-assessment test result: PASSED\nPlease note the following marginal Attributes:\n"
        "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n"
        "184 End-to-End_Error        0x0032   080   080   097    Old_age   Always   FAILING_NOW 20\n"
    )
    assert slugs(text) == [("act", "disk-failing")]


BOOTS = """[    0.000000] Linux version 6.1.0-13-amd64 (build@example)
[    2.100000] sd 0:0:1:0: [sdb] Attached SCSI disk
[812350.100000] sd 0:0:1:0: [sdb] tag#3 Sense Key : Medium Error [current]
[812350.100001] critical medium error, dev sdb, sector 77777 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0
[    0.000000] Linux version 6.1.0-13-amd64 (build@example)
[    3.100000] ata4: hard resetting link
[  512.000000] sd 3:0:0:0: [sdd] tag#9 FAILED Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK cmd_age=0s
[  512.000001] I/O error, dev sdd, sector 4242 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0
"""


def test_the_last_boot_of_a_log_is_the_newest_though_it_was_short():
    found = {one.title.split()[0]: one for one in triage([("p", BOOTS)]).situations}
    assert found["sdd"].severity == "act"
    assert "ata4" not in found  # of the first minute of its own boot
    cut = BOOTS.replace(BOOTS.split("\n")[4] + "\n", "").replace(BOOTS.split("\n")[5] + "\n", "")
    older = {one.title.split()[0]: one.severity for one in triage([("p", cut)]).situations}
    assert older == {"sdb": "act", "sdd": "watch"}  # it may be an older piece of the same log
    marked = cut.replace("[  512.000000]", f"-- Boot {'0a' * 16} --\n[  512.000000]")
    assert {one.title.split()[0]: one.severity for one in triage([("p", marked)]).situations}["sdd"] == "act"


LOCKED = """[    3.359704] sd 1:0:0:0: [sda] tag#2 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=0s
[    3.359706] sd 1:0:0:0: [sda] tag#2 Sense Key : Data Protect [current]
[    3.359707] sd 1:0:0:0: [sda] tag#2 Add. Sense: Logical unit access not authorized
[    3.359708] critical target error, dev sda, sector 0 op 0x0:(READ) flags 0x0 phys_seg 8 prio class 0
[  400.000000] sd 1:0:0:0: [sda] tag#5 Sense Key : Data Protect [current]
[  400.000001] critical target error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 8 prio class 0
"""


def test_a_locked_disk_is_named_as_locked_and_never_replaced():
    (one,) = triage([("p", LOCKED)]).situations
    assert "is locked" in one.title
    assert one.severity == "watch"
    assert "replace" not in {cure.kind for cure in one.cures}
    assert "destroys" in " ".join(cure.text for cure in one.cures)


def test_wrong_protection_information_is_no_failing_disk():
    text = (
        "[ 9000.000001] sd 7:0:6:0: [sdh] tag#3 Sense Key : Illegal Request [current]\n"
        "[ 9000.000002] sd 7:0:6:0: [sdh] tag#3 Add. Sense: Logical block reference tag check failed\n"
        "[ 9000.000003] protection error, dev sdh, sector 7814036992 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0\n"
    )
    (one,) = triage([("p", text)]).situations
    assert "protection information" in one.title
    assert "replace" not in {cure.kind for cure in one.cures}


CARD = """da0 at umass-sim0 bus 0 scbus9 target 0 lun 0
da0: <ACME Card Reader 1.00> Removable Direct Access SPC-2 SCSI device
(da0:umass-sim0:0:0:0): READ(10). CDB: 28 00 00 00 26 b8 00 00 08 00
(da0:umass-sim0:0:0:0): CAM status: SCSI Status Error
(da0:umass-sim0:0:0:0): SCSI status: Check Condition
(da0:umass-sim0:0:0:0): SCSI sense: NOT READY asc:3a,0 (Medium not present)
(da0:umass-sim0:0:0:0): Error 6, Unretryable error
"""


def test_an_empty_slot_for_cards_is_no_disk_in_trouble():
    (one,) = triage([("p", CARD)]).situations
    assert one.severity == "info"
    assert "without a medium" in one.title
    other = CARD.replace("asc:3a,0 (Medium not present)", "asc:4,0 (Logical unit not ready, cause not reportable)")
    assert [each.severity for each in triage([("p", other)]).situations] == ["act"]


def test_a_namespace_of_zero_bytes_is_told():
    head = "Node             SN          Model          Namespace Usage                      Format           FW Rev\n" + "-" * 90 + "\n"
    row = "/dev/nvme{n}n1     NV0000{n}    ACME N1 1TB    1         {usage}    512   B +  0 B   1.0\n"
    well, ill = "640.25  GB /   1.00  TB", "  0.00   B /   0.00   B"
    assert not slugs(head + row.format(n=0, usage=well))
    assert "nvme1n1" in titles(head + row.format(n=0, usage=well) + row.format(n=1, usage=ill))
    assert not slugs(head + row.format(n=0, usage="  0.00   B /   1.00  TB"))  # nothing is written on it yet


MPT = """ioc0 vol_id 0 type IM, 2 phy, 136 GB, state {volume}
ioc0 phy 0 scsi_id 8 ACME     A300             0001, 136 GB, state ONLINE, flags NONE
ioc0 phy 1 scsi_id 1 ACME     A300             0001, 136 GB, state {drive}
"""


def test_mpt_status():
    assert not slugs(MPT.format(volume="OPTIMAL, flags ENABLED", drive="ONLINE, flags NONE"))
    assert not triage([("p", MPT.format(volume="OPTIMAL, flags ENABLED", drive="ONLINE, flags NONE"))]).good  # no counters
    lost = MPT.format(volume="DEGRADED, flags ENABLED", drive="MISSING, flags NONE")
    assert sorted(slugs(lost)) == [("act", "disk-failing"), ("act", "hba-fault")]
    syncing = triage([("p", MPT.format(volume="DEGRADED, flags ENABLED RESYNC_IN_PROGRESS", drive="ONLINE, flags OUT_OF_SYNC"))])
    assert {one.severity for one in syncing.situations} == {"watch"}
    assert "replace" not in {cure.kind for one in syncing.situations for cure in one.cures}
    new = (
        "ioc:0 phys_id:1 scsi_id:1 vendor:ACME     product_id:A300  revision:0001 size(GB):68 state: ONLINE flags: NONE "
        "sync_state: 100 ASC/ASCQ:0x11/0x00 SMART ASC/ASCQ:0x5d/0x02\n"
    )
    assert "SMART alert" in titles(new)
    assert ("watch", "unexplained") in slugs(MPT.format(volume="OPTIMAL, flags ENABLED", drive="QUARANTINED, flags NONE"))


MVCLI = """# mvcli info -o vd
SG driver version 3.5.36.

Virtual Disk Information
-------------------------
id:                  0
name:                boot
status:              {status}
RAID mode:           RAID1
BGA status:          not running
# of PDs:            2
PD RAID setup:       0 1
{more}
Total # of VD:       1
"""


@pytest.mark.parametrize(
    ("status", "more", "severities"),
    [
        ("functional", "VD status:           optimal", []),
        ("degraded", "", ["act"]),
        ("degraded", "BGA progress:    rebuilding is 15% done", ["watch"]),
        ("offline", "", ["act"]),
        ("functional", "VD status:           degraded", ["act"]),
        ("perplexed", "", ["watch"]),
    ],
)
def test_volumes_of_mvcli(status, more, severities):
    found = triage([("p", MVCLI.format(status=status, more=more))])
    assert [one.severity for one in found.situations] == severities
    assert [each.source for each in found.reads if each.source] == ["mvcli"]


def test_the_smart_table_of_mvcli():
    text = (
        "# mvcli smart -p 0\nSMART STATUS RETURN: {verdict}.\n\nSmart Info\nID      Attribute Name          Current Worst   Threshhold      RawValue        Status\n"
        "05      Reallocated Sectors     200     200     140             000000000000    OK\n"
        "C5      Current pending         200     200     0               {pending}    OK\n"
    )
    assert not slugs(text.format(verdict="OK", pending="000000000000"))
    assert "16 media errors" in titles(text.format(verdict="OK", pending="000000000010"))
    assert slugs(text.format(verdict="Threshold Exceeded", pending="000000000000")) == [("act", "disk-failing")]


METASTAT = """# metastat
d4: Mirror
    Submirror 0: d14
      State: Okay
    Submirror 1: d24
      State: {state}
    Pass: 1
    Size: 120850176 blocks (57 GB)

d14: Submirror of d4
    State: Okay
    Size: 120850176 blocks (57 GB)
    Stripe 0:
        Device     Start Block  Dbase        State Reloc Hot Spare
        c1t0d0s4          0     No            Okay   Yes

d24: Submirror of d4
    State: {state}
    Size: 120850176 blocks (57 GB)
    Stripe 0:
        Device     Start Block  Dbase        State Reloc Hot Spare
        c1t1d0s4          0     No     {slice:>11}   Yes
"""


def test_metastat():
    well = triage([("p", METASTAT.format(state="Okay", slice="Okay"))])
    assert not well.situations
    assert not well.good  # it is of no pool
    assert slugs(METASTAT.format(state="Needs maintenance", slice="Maintenance")) == [("act", "disk-failing")]
    assert "c1t1d0 is out of use" in titles(METASTAT.format(state="Needs maintenance", slice="Maintenance"))
    assert not slugs(METASTAT.format(state="Resyncing", slice="Resyncing"))
    assert slugs("d24: Submirror of d4\n    State: Unavailable\n    Size: 1024 blocks\n") == [("act", "disk-missing")]
