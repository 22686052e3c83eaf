"""Texts that say little, or of which an end is missing: what they do not say is named, and nothing of it counts as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflows.triage import Triage, triage

BANNER = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)\nCopyright (C) 2002-23, Bruce Allen, Christian Franke, www.smartmontools.org\n\n"
TABLE = """ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0
197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       0
199 UDMA_CRC_Error_Count    0x003e   200   200   000    Old_age   Always       -       0
"""
VERDICT = "=== START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: PASSED\n\n"
TESTS = "SMART Self-test log structure revision number 1\nNo self-tests have been logged.  [To run self-tests, use: smartctl -t]\n"


def read(text: str) -> Triage:
    return triage([("p", text)])


def test_a_report_without_its_beginning_and_verdict_is_not_good():
    found = read(TABLE)
    assert [each.outcome for each in found.reads] == ["read"]
    assert not found.good
    assert "beginning" in found.not_good_because[0]


def test_a_whole_report_is_good():
    found = read(BANNER + VERDICT + TABLE + TESTS)
    assert found.good
    assert not [what for what in found.not_looked_at if "self-tests" in what]


def test_a_report_that_ends_before_its_self_tests_says_so():
    found = read(BANNER + VERDICT + TABLE)
    assert found.good
    assert "no self-tests" in found.not_looked_at[0]


@pytest.mark.parametrize(
    "answer",
    [
        "Standard Inquiry (36 bytes) failed [No such device or address]\nRetrying with a 64 byte Standard Inquiry\n",
        "A mandatory SMART command failed: exiting. To continue, add one or more '-T permissive' options.\n",
        "Smartctl open device: /dev/sg9 failed: No such device\n",
    ],
)
def test_one_disk_that_did_not_answer_keeps_the_others_from_being_all(answer):
    found = read(f"{BANNER}SMART Health Status: OK\n{BANNER}{answer}")
    assert not found.good
    assert any("says nothing of its health" in why for why in found.not_good_because)


SLOTS = """Enclosure Device ID: 8
Slot Number: {slot}
Device Id: 1{slot}
Media Error Count: 0
Other Error Count: 0
Predictive Failure Count: 0
PD Type: SAS
Firmware state: Online, Spun Up
Inquiry Data: EXAMPLE MODEL10000       0001XY00000{slot}
Drive has flagged a S.M.A.R.T alert : No

"""


def test_a_list_without_the_tools_last_line_may_be_a_part_of_it():
    text = "Adapter #0\n\n" + "".join(SLOTS.format(slot=slot) for slot in (0, 1))
    assert any("more may have been printed" in what for what in read(text).not_looked_at)
    assert not any("more may have been printed" in what for what in read(text + "Exit Code: 0x00\n").not_looked_at)


def test_a_log_tells_nothing_of_the_time_before_it():
    found = read("[ 4321.000001] sd 4:0:0:0: [sdd] tag#7 Sense Key : Medium Error [current]\n")
    assert any("what the log says before 4321.000001" in what for what in found.not_looked_at)


@pytest.mark.parametrize("gap", ["\t", "    ", " "])
@pytest.mark.parametrize("own", ["", "[99881.120034] "])
def test_a_stamp_and_what_follows_may_be_parted_by_a_tab(gap, own):
    found = read(f"2024-03-05 06:07:08{gap}{own}Buffer I/O error on device sdk, logical block 0\n")
    assert [each.source for each in found.reads] == ["kernel_log"]
    assert [each.slug for each in found.situations] == ["kernel-errors"]


def test_what_stands_far_down_in_a_quoted_mail_is_found():
    prose = "".join(f"> This is line {n} of a long letter about other things.\n" for n in range(400))
    quoted = "".join(f"> {line}\n" for line in (BANNER + VERDICT + TABLE + TESTS).split("\n"))
    found = read(f"Hello,\n\nOn Monday somebody wrote:\n{prose}{quoted}")
    assert "smart" in [each.source for each in found.reads if each.outcome == "read"]


ADAPTERS = """LSI Corporation SAS2 IR Configuration Utility.
Version 20.00.00.00 (2014.09.18)
Copyright (c) 2008-2014 LSI Corporation. All rights reserved.

         Adapter      Vendor  Device                       SubSys  SubSys
 Index    Type          ID      ID    Pci Address          Ven ID  Dev ID
 -----  ------------  ------  ------  -----------------    ------  ------
   0     SAS2308     1000h    87h   00h:05h:00h:00h      1000h   3040h
   1     SAS2308     1000h    87h   00h:06h:00h:00h      1000h   3040h
SAS2IRCU: Utility Completed Successfully.
"""


def test_a_list_of_adapters_is_read_and_says_of_nothing_that_it_is_well():
    found = read(ADAPTERS)
    (one,) = found.reads
    assert (one.outcome, one.source, one.lists) == ("read", "sas_ircu", True)
    assert "2 adapters" in one.notes[0]
    assert not found.good


STORCLI = (
    "CLI Version = 007.2000.0000.0000 Jan 01, 2022\nOperating system = Linux\nController = 0\nStatus = Success\nDescription = None\n\n"
)
PHYS = """Phy Info :
========

-----------------------------------------------------------------------
PhyNo InvldDwrdCount RungDispartyErrCnt LosOfDwrdSynCnt PhyResetPrbCnt
-----------------------------------------------------------------------
    0              0                  0               0              0
    1           {n:4}                  9               0              0
-----------------------------------------------------------------------
"""


def test_an_answer_of_storcli_that_tells_of_no_drive_is_read_and_good_for_nothing():
    found = read(f"{STORCLI}Controller Properties :\n=====================\n\nROC temperature(Degree Celsius) 51\n")
    assert [(each.outcome, each.source) for each in found.reads] == [("read", "storcli")]
    assert not found.good


@pytest.mark.parametrize("line", ["BBU Status = 0", "BBU Status = NA", "BBU = Present", "Cache When BBU Bad = Off"])
def test_a_property_of_the_controller_that_names_its_battery_is_no_row_about_one(line):
    assert read(f"{STORCLI}Controller Properties :\n=====================\n\n{line}\n").situations == ()


def test_a_phy_of_the_controller_that_counts_errors_is_told():
    (one,) = read(STORCLI + PHYS.format(n=12)).situations
    assert (one.slug, one.severity) == ("phy-errors", "watch")
    assert "12 invalid dwords, 9 running disparity errors" in one.title
    assert read(STORCLI + PHYS.format(n=0).replace(" 9 ", " 0 ")).situations == ()


CASES = Path(__file__).parent / "cases" / "cut"
LABEL = (CASES / "label.txt").read_text().split("\n")
CONFIG = (CASES / "config.txt").read_text().split("\n")


@pytest.mark.parametrize("count", [5, 8, 10])
def test_a_label_that_ends_before_the_guid_of_the_disk_says_what_it_says(count):
    found = read("# zdb -l /dev/sda1\n" + "\n".join(LABEL[:count]) + "\n")
    (one,) = found.reads
    assert (one.outcome, "name tank" in one.reason, "guid of the disk" in one.reason) == ("partly", True, True)
    assert not found.good


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("title", ["tank:", "\nMOS Configuration:"])
def test_a_configuration_that_ends_before_the_guid_of_the_pool_says_what_it_says(count, title):
    shift = "    " if title != "tank:" else ""
    found = read("# zdb -C tank\n" + "\n".join([title, *(shift + line for line in CONFIG[1:count])]) + "\n")
    (one,) = [each for each in found.reads if each.source]
    assert (one.outcome, "name tank" in one.reason, "guid of the pool" in one.reason) == ("partly", True, True)


def test_the_configuration_of_one_pool_by_name_is_read():
    body = "\n".join(f"    {line}" if line else line for line in CONFIG[1:])
    found = read(f"# zdb -C tank\n\nMOS Configuration:\n{body}")
    assert [(each.outcome, each.source) for each in found.reads if each.source] == [("read", "zdb_config")]


def test_a_map_whose_paths_were_cut_is_a_part():
    found = read("mpathq (35000c500a7000001) dm-5 EXAMPLE,DISK12T\nsize=10.9T features='0' hwhandler='0' wp=rw\n")
    assert [(each.outcome, each.source) for each in found.reads] == [("partly", "multipath_ll")]
    assert not found.good


def test_a_device_without_a_node_hides_no_other():
    text = "[1:0:0:2]    disk    EXAMPLE  VIRTUAL-DISK     0002\n[5:0:0:0]    disk    EXAMPLE  DISK 12T         A001  /dev/sdq\n"
    assert [(each.outcome, each.source) for each in read(text).reads] == [("read", "lsscsi")]


def test_the_names_of_controllers_alone_are_read_and_say_nothing_of_health():
    (one,) = read("Smart Array P999i in Slot 2                (sn: ABC0000000001)\n").reads
    assert (one.outcome, one.source, one.lists) == ("read", "ssacli", True)


TREE = """  pool: oak
 state: DEGRADED
  scan: resilver in progress since Mon Jan  5 10:00:00 2026
        1.00T / 9.00T scanned at 1.00G/s, 500G / 9.00T issued at 500M/s
        50.0G resilvered, 5.43% done, 04:50:00 to go
config:

        NAME                        STATE     READ WRITE CKSUM
        oak                         DEGRADED     0     0     0
          raidz2-0                  DEGRADED     0     0     0
            sda                     ONLINE       0     0     0
            replacing-1             DEGRADED     0     0     0
              13800000000000000001  UNAVAIL      0     0     0  was /dev/sdb1
              sdk                   ONLINE       0     0     0  (resilvering)
            sdc                     ONLINE       0     0     0
            sdd                     ONLINE       0     0     0
          raidz2-1                  ONLINE       0     0     0
"""


@pytest.mark.parametrize("count", [12, 17])
def test_a_tree_that_ends_behind_a_row_with_members_keeps_the_rows_before_it(count):
    found = read("\n".join(TREE.split("\n")[:count]) + "\n")
    (one,) = found.reads
    assert (one.outcome, one.source) == ("partly", "zpool_status")
    assert "left out" in one.notes[0]
    assert "resilver-running" in [each.slug for each in found.situations]
    assert ("disk-missing" in [each.slug for each in found.situations]) == (count == 17)


def test_lines_of_zed_in_a_journal_are_read_whatever_journalctl_was_asked_for():
    lines = "Jan 05 10:00:01 oss07 zed[811]: eid=77 class=statechange pool='oak' vdev=sdb1 vdev_state=FAULTED\n"
    found = read(f"# journalctl -S yesterday\n{lines}")
    assert "kernel_log" in [each.source for each in found.reads if each.outcome == "read"]
    assert not found.good


def test_tabs_that_a_program_wrote_down_are_tabs():
    rows = (
        "\\tNAME        STATE     READ WRITE CKSUM\n\\telm         DEGRADED     0     0     0\n\\t  raidz2-0  DEGRADED     0     0     0\n"
    )
    rows += "".join(f"\\t    sd{letter}     ONLINE       0     0     0\n" for letter in "abc")
    text = f"  pool: elm\n state: DEGRADED\nconfig:\n\n{rows}\\t    sdd     FAULTED     12   125     0  too many errors\n\nerrors: No known data errors\n"
    found = read(text)
    assert "zpool_status" in [each.source for each in found.reads]
    assert {"disk-faulted", "disk-missing"} & {each.slug for each in found.situations}


def test_a_report_ends_where_somebody_asks_something_of_linux_raid():
    raid = "sudo mdadm --examine /dev/sdk\n/dev/sdk:\n          Magic : a92b4efc\n        Version : 1.2\n          State : active\n"
    first, *rest = read(BANNER + VERDICT + TABLE + TESTS + raid).reads
    assert (first.source, first.last) == ("smart", (BANNER + VERDICT + TABLE + TESTS).count("\n"))
    assert all(each.outcome == "left out" for each in rest)


def test_a_driver_whose_lines_begin_with_a_colon_is_read():
    found = read(
        "Feb 03 04:05:06 oss07 kernel: : mpt2sas3: fault_state(0x5854)!\nFeb 03 04:05:06 oss07 kernel: : mpt2sas3: sending diag reset !!\n"
    )
    assert [each.slug for each in found.situations] == ["hba-fault"]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("Disk /dev/vdz: 32.1 GB, 32100000000 bytes, 62695312 sectors\n", "fdisk"),
        ("cciss0: HP Smart Array P999i Controller\nBoard ID: 0x1234103c\n", "/proc/driver/cciss"),
    ],
)
def test_what_is_not_read_is_named_and_good_for_nothing(line, word):
    found = read(line)
    assert [(each.outcome, word in each.reason) for each in found.reads] == [("left out", True)]
    assert not found.good


def test_a_list_without_the_tools_first_line_may_be_a_part_of_it():
    assert any("more may have been printed" in what for what in read(SLOTS.format(slot=1) + "Exit Code: 0x00\n").not_looked_at)
