"""Whole outputs of the tools of RAID controllers and HBAs, in the shape that each prints.

No part is lost, and a list without counters is not good.
"""

from __future__ import annotations

import pytest

from workflows.triage import triage

RULE = "-" * 72
IRCU = f"""LSI Corporation SAS2 IR Configuration Utility.
Version 13.00.00.00 (2012.02.17)
Copyright (c) 2009-2012 LSI Corporation. All rights reserved.

Read configuration has been initiated for controller 0
{RULE}
Controller information
{RULE}
  Controller type                         : SAS2008
  Firmware version                        : 7.15.04.00
{RULE}
IR Volume information
{RULE}
IR volume 1
  Volume ID                               : 79
  Status of volume                        : {{volume}}
  RAID level                              : RAID1
{RULE}
Physical device information
{RULE}
Initiator at ID #0

Device is a Hard disk
  Enclosure #                             : 1
  Slot #                                  : 0
  State                                   : Optimal (OPT)
  Model Number                            : ACME A4000
  Serial No                               : Z1Z0AAA1
{RULE}
SAS2IRCU: Command DISPLAY Completed Successfully.
SAS2IRCU: Utility Completed Successfully.
"""


def read(text):
    found = triage([("p", text)])
    assert [each.outcome for each in found.reads] == ["read"]
    return found


def test_what_stands_above_the_first_empty_line_ends_no_display_of_a_controller():
    assert [each.severity for each in read(IRCU.format(volume="Degraded (DGD)")).situations] == ["act"]
    whole = read(IRCU.format(volume="Okay (OKY)"))
    assert not whole.situations
    assert not whole.good
    assert "smartctl -x" in " ".join(whole.not_good_because)


SMART_ARRAY = """Controller: Smart Array 6i
  Board ID: 0x40910e11
  Logical drives: 0
  Running firmware: 2.58
/dev/cciss/c0d0: (Smart Array 6i) RAID 1 Volume 0 status: OK.
  Physical drives: 2
    b0t0 connector J1 box 0 bay 0                 ACME  AD0728                   DAL1P640        HPB1 OK
    b0t1 connector J1 box 0 bay 1                 ACME  AD0728                   J2094RPK        HPB8 {state}
"""


def test_a_drive_with_bus_and_target_before_its_connector_is_read():
    assert not read(SMART_ARRAY.format(state="OK")).situations
    assert [each.slug for each in read(SMART_ARRAY.format(state="Failed")).situations]


def test_a_line_that_a_tool_does_not_print_keeps_its_output_from_being_good():
    found = triage([("p", SMART_ARRAY.format(state="OK") + "    b0t2 in a form that nothing here knows\n")])
    assert [each.outcome for each in found.reads] == ["partly"]
    assert not found.good


def test_every_controller_of_a_list_is_read_whatever_it_is_called():
    one = "{name}\n   Controller Status: {state}\n   Cache Status: OK\n   Battery/Capacitor Status: OK\n\n"
    text = one.format(name="MSA1500 CS in CELLAR", state="OK") + one.format(name="MSA1500 CS in ATTIC", state="Failed")
    assert [each.title for each in read(text).situations] == ["Controller Status of the RAID controller: Failed"]


STORCLI = """EID:Slt DID State DG     Size Intf Med SED PI SeSz Model         Sp Type
-------------------------------------------------------------------------
252:0    10 Onln   0 3.637 TB SAS  HDD N   N  512B ACME4000      U  -
252:1    11 Onln   0 3.637 TB SAS  HDD N   N  512B ACME4000      U  -
-------------------------------------------------------------------------
"""
ARCCONF = """Controllers found: 1
      Device #0
         Device is a Hard drive
         State                              : Online
         Reported Channel,Device(T:L)       : 0,0(0:0)
         Vendor                             : ACME
         Model                              : A4000
         Serial number                      : Z1Z0AAA1
"""


@pytest.mark.parametrize("text", [STORCLI, ARCCONF])
def test_drives_without_their_counters_are_not_good(text):
    found = read(text)
    assert not found.situations
    assert not found.good
    assert "error counters are not shown" in " ".join(found.not_good_because)


def test_drives_with_their_counters_are():
    assert read(ARCCONF + "         S.M.A.R.T. warnings                : 0\n").good


LISTED = """-- Controller information --
-- ID | H/W Model          | RAM    | Temp | BBU    | Firmware
c0    | ACME H710P         | 1024MB | 60C  | Good   | FW: 21.3.0-0009

-- Disk information --
-- ID   | Type | Drive Model                                | Size     | Status          | Speed    | Temp | Slot ID  | LSI ID
c0u0p0  | HDD  | ACME A1000 S4700001                        | 931.0 Gb | {state}  | 6.0Gb/s  | 28C  | [32:0]   | 0
"""


def test_a_drive_that_is_being_rebuilt_is_waited_for_and_not_replaced():
    (found,) = read(LISTED.format(state="Rebuilding (67%)")).situations
    assert (found.slug, found.severity) == ("disk-failing", "watch")
    assert [cure.kind for cure in found.cures] == ["wait"]


TASK = """Controllers found: 1
Logical device Task:
   Logical device                 : 0
   Task ID                        : 102
   Current operation              : {operation}
   Status                         : In Progress
   Percentage complete            : 1


Command completed successfully.
"""


def test_a_volume_that_is_being_rebuilt_is_named_by_its_task():
    assert [each.title for each in read(TASK.format(operation="Rebuild")).situations] == ["RAID volume 0 of the controller: Rebuilding"]
    assert not read(TASK.format(operation="Build/Verify with fix")).situations
    assert not read(TASK.format(operation="None")).situations


CACHE = """Controller: Smart Array P800
  Board ID: 0x3223103c
/dev/cciss/c0d0: (Smart Array P800) RAID 1 Volume 0 status: OK.
/dev/cciss/c0d0(Smart Array P800:0): Non-Volatile Cache status:
                   Cache configured: Yes
                 Total cache memory: 816 MiB
                        Cache Ratio: 10% Read / 90% Write
                Write cache enabled: No
   Write cache temporarily disabled
           Temporary disable condition. Posted write operations have
been disabled due to the fact that less than 75% of the
battery packs are at the sufficient voltage level.
"""


def test_why_a_cache_is_switched_off_is_no_line_that_is_not_known():
    assert [each.title for each in read(CACHE).situations] == ["The write cache of the RAID controller: it is switched off"]


def test_of_a_volume_that_has_lost_a_drive_the_drive_is_replaced_and_nothing_in_the_pool():
    text = LISTED.format(state="Online, Spun Up") + (
        "\n-- Array information --\n-- ID | Type    |    Size |  Strpsz | Flags | DskCache |   Status |  OS Path | CacheCade |InProgress\n"
        "c0u0  | RAID-1  |    930G |    64 KB | RA,WB |  Default | Degraded | /dev/sda | None      |None\n"
    )
    (found,) = read(text).situations
    assert [cure.kind for cure in found.cures] == ["look", "other"]
    assert "controller's own tool" in found.cures[1].text


def test_a_logical_drive_of_serveraid_that_lost_a_disk_is_raised_and_its_list_is_none_of_sas_ircu():
    text = (
        "Read configuration has been initiated for controller 7...\n----------------------------------------\nLogical drive information\n"
        " Logical drive number 9\n   Status of logical drive        : Critical (CRT)\n   RAID level                     : 5\n   Size (in MB)                   : 70018\n"
        "Command completed successfully.\n"
    )
    (one,) = triage([("p", text)]).situations
    assert (one.slug, one.severity, one.title) == ("hba-fault", "act", "RAID volume 9 of the controller: Critical")


def test_a_disk_list_of_illumos_is_named_as_what_it_is():
    (one,) = triage([("p", "SCSI\tc1t5000CCA0496FCA6Dd0\tACME\tM7\t0HWZ\t93.16\tF---\t[0] Slot07\n")]).reads
    assert "illumos" in one.reason
    assert "fmadm faulty" in one.reason
