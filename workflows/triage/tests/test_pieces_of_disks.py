"""Pieces of what tools say of disks, and words of programs that watch them: each read for what it says, none taken for good."""

from __future__ import annotations

import pytest

from workflows.pasted import READERS
from workflows.triage import json_answer, torn_json, triage
from workflows.triage.cut_off import Whole


def answered(text: str) -> dict:
    return json_answer.answer(triage([("paste.txt", text)]))


def found(answer: dict) -> list[tuple[str, str]]:
    return [(one["severity"], one["slug"]) for one in answer["situations"]]


def outcomes(answer: dict) -> list[tuple[str, str]]:
    return [(one["source"], one["outcome"]) for one in answer["texts"]]


CHECKS = {
    "CRITICAL: Drive  ACME DC480 S/N 7QX0001122:  ATA Error Count: 3, Current_Pending_Sector is non-zero (24), |Current_Pending_Sector=24;;;;": [
        ("watch", "disk-failing")
    ],
    "WARNING: [/dev/sdk] - 120 current pending sectors (threshold 0) --- [/dev/sdl] - Device is clean": [("act", "disk-failing")],
    "CRITICAL ZPOOL ost_4 : DEGRADED {Size:90T Used:40T} <sdk:FAULTED>": [("act", "vdev-degraded")],
    "ZFS CRITICAL: ost_4 SUSPENDED, ost_5 ONLINE": [("act", "pool-suspended")],
    "WARNING: pool ost_4 usage 92%, health ONLINE|ost_4=92%;80;90": [("watch", "pool-filling")],
    "WARNING: UDMA_CRC_Error_Count is non-zero (4739)|UDMA_CRC_Error_Count=4739": [("watch", "link-crc")],
    "WARNING: ZFS ost_4 looks queer today": [("watch", "unexplained")],
    "ALL ZPOOLS OK : [ost_4 OK] [ost_5 OK]": [],
    "OK: Drive  ACME DC480 S/N 7QX0001122: no SMART errors detected. |Reallocated_Sector_Ct=0;;;; Current_Pending_Sector=0;;;;": [],
}


@pytest.mark.parametrize(("line", "reported"), CHECKS.items())
def test_a_line_of_a_monitoring_plugin_is_judged_by_what_it_names(line, reported):
    answer = answered(line + "\n")
    assert (outcomes(answer), found(answer)) == ([("checks", "read")], reported)
    assert answer["good"] is False  # OK is by the plugin's own thresholds


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: the disk of my neighbour is loud",
        "OK, so I tried zpool clear on it",
        "[  90.100000] WARNING: CPU: 1 PID: 2 at block/blk-mq.c:1 x",
    ],
)
def test_words_that_only_begin_like_a_plugins_are_none(line):
    assert ("checks", "read") not in outcomes(answered(line + "\n"))


@pytest.mark.parametrize(
    ("lines", "reported"),
    [
        (
            "        2.10T scanned out of 9.00T at 300M/s, 6h42m to go\n        400G resilvered, 23.33% done\n",
            [("watch", "resilver-running")],
        ),
        ("  2.10T / 9.00T scanned at 300M/s, 1.90T / 9.00T issued at 280M/s\n  0B repaired, 21.11% done, 07:20:00 to go\n", []),
    ],
)
def test_how_far_a_scan_is_can_stand_alone(lines, reported):
    answer = answered(lines)
    assert (outcomes(answer), found(answer), answer["good"]) == ([("scan_progress", "read")], reported, False)


def test_rows_of_spares_without_their_pool_are_told():
    answer = answered(
        "        spares\n          sdq       AVAIL\n          sdr       UNAVAIL\n          sds       INUSE     currently in use\n"
    )
    assert found(answer) == [("watch", "spare-unavailable"), ("watch", "spare-in-use")]


IOSTAT = (
    "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util\n"
)
ROW = "{}{}              {}   160.00     0.00   0.00 {}    16.00   10.00    160.00     0.00   0.00    5.00    16.00    0.10   9.00\n"


@pytest.mark.parametrize("clock", ["", "07:31:02 ", "07:31:02 PM ", "2031-04-02T07:31:02 "])
def test_a_clock_before_each_row_of_iostat_is_no_part_of_it(clock):
    rows = [ROW.format(clock, name, "10.00", wait) for name, wait in (("sda", 4.00), ("sdb", 4.50), ("sdc", 5.00), ("sdd", 910.00))]
    answer = answered(clock + IOSTAT + "".join(rows))
    assert (outcomes(answer), found(answer)) == ([("iostat_text", "read")], [("watch", "slow-disk")])


def test_rows_of_iostat_whose_columns_are_not_named_are_known_for_what_they_are():
    answer = answered("07:31:02 sda 0.00 0.00 1.00 10.00 8.00 160.00 30.55 0.10 9.00 4.00 9.50 0.90 1.00\n" * 3)
    assert outcomes(answer)[0][1] == "refused"
    assert "iostat -x" in answer["texts"][0]["reason"]


@pytest.mark.parametrize(
    "lines", ["E: ID_MODEL=ACME8T\nE: ID_SERIAL_SHORT=7QX1\nE: ID_WWN=0x5000c500a0000001\n", "ID_ATA=1\nID_SERIAL=ACME8T_7QX1\n"]
)
def test_properties_that_udev_keeps_of_a_disk_may_lack_its_name(lines):
    answer = answered(lines)
    assert (outcomes(answer), found(answer), answer["good"]) == ([("udevadm", "read")], [], False)


BACKGROUND = "  {}  41234:17  00000000a1b2c3d4  [{},11,0]   {}\n"


def test_rows_of_a_background_scan_tell_of_what_nobody_mended():
    assert found(answered(BACKGROUND.format(1, 1, "Recovered via rewrite in-place") * 3)) == []
    assert found(answered(BACKGROUND.format(1, 3, "Require Write or Reassign Blocks command") * 2)) == [("watch", "disk-failing")]


def test_a_report_that_breaks_off_within_the_disks_capabilities_is_not_good():
    head = "SMART overall-health self-assessment test result: PASSED\n\nGeneral SMART Values:\nOffline data collection status:  (0x82) Offline data collection activity\n"
    table = "ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE\n  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0\n"
    whole = head + "SCT capabilities:              (0x003d) SCT Status supported.\n" + table
    assert answered(head)["good"] is False
    assert answered(whole)["good"] is True


def test_a_report_that_breaks_off_within_a_line_is_not_good():
    head = "SMART Health Status: OK\n\nCurrent Drive Temperature:     31 C\nElements in grown defect list: 0\n"
    assert answered(head)["good"] is True
    assert answered(head + "  Blocks sent to initiator =\n")["good"] is False


def test_paths_that_nobody_asked_are_not_good():
    tree = "mpathk (35000c500a0000001) dm-4 ACME,DISK\nsize=7.3T features='0' hwhandler='0' wp=rw\n`-+- policy='service-time 0' prio=0 status=active\n  |- 1:0:0:0 sda 8:0  active {0} running\n  `- 2:0:0:0 sdb 8:16 active {0} running\n"
    assert answered(tree.format("ready"))["good"] is True
    assert answered(tree.format("undef"))["good"] is False


STATUS = '{"output_version": {"command": "zpool status", "vers_major": 0, "vers_minor": 1},\n"pools": {"ost_4": {"name": "ost_4", "state": "DEGRADED", "pool_guid": "77", "txg": "9",\n"spa_version": "5000", "zpl_version": "5",\n"vdevs": {"ost_4": {"name": "ost_4", "vdev_type": "root", "guid": "77", "state": "DEGRADED",\n"vdevs": {"sdq": {"name": "sdq", "vdev_type": "disk", "guid": "78", "state": "FAULTED", "read_errors": "4",'


@pytest.mark.parametrize("cut", range(150, len(STATUS), 7))
def test_json_is_read_up_to_where_it_was_cut(cut):
    answer = answered(STATUS[:cut] + "\n")
    assert answer["good"] is False
    assert outcomes(answer)[0] in [("zpool_status_json", "partly"), ("zpool_status_json", "refused")]
    assert cut < 250 or [pool["state"] for pool in answer["pools"]] == ["DEGRADED"]


def test_json_that_is_whole_or_none_stays_as_it_is():
    for lines in (['{"a": [1, 2]}'], ["{", "  no json", "}"], ["words"], ["}{"]):
        assert torn_json.head(lines) == Whole(lines, "")


def test_a_listing_with_its_vdevs_says_more_than_one_without():
    head = "NAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\nost_4  9.0T   3.0T   6.0T        -         -     9%    30%  1.00x  DEGRADED  -\n"
    (one,) = answered(
        f"# zpool list\n{head}# zpool list -v\n{head}  mirror-1  16G   1M  16G        -         -     0%     0%      -  DEGRADED\n"
    )["situations"]
    assert "mirror-1" in one["title"]


def test_the_new_readers_are_listed():
    assert {"checks", "scan_progress"} <= READERS.keys()


SELF_TEST = "# {}  {} offline    {}       {}     {}         {}\n"


def test_rows_of_self_tests_alone_are_read_and_an_outdated_failure_counts_no_more():
    failed = SELF_TEST.format(2, "Extended", "Completed: read failure", "90%", 5940, 9321057)
    assert found(answered(failed)) == [("act", "disk-failing")]
    answer = answered(failed + "1 of 1 failed self-tests are outdated by newer successful extended offline self-test # 1\n")
    assert (outcomes(answer), found(answer), answer["good"]) == ([("smart", "read")], [], False)
    assert found(answered(SELF_TEST.format(3, "Short", "Completed without error", "00%", 4696, "-"))) == []


LOADS = (
    "1700000001   spa_misc.c:408:spa_load_note(): spa_load(ost_4, config trusted): LOADING\n"
    "1700000002   spa_misc.c:393:spa_load_failed(): spa_load(ost_4, config trusted): FAILED: some log devices are missing\n"
)


def test_a_load_that_failed_is_told_where_nothing_else_shows_the_pool():
    assert found(answered(LOADS)) == [("act", "import-blocked")]
    assert found(answered(LOADS + "1700000009   spa_misc.c:408:spa_load_note(): spa_load(ost_4, config trusted): LOADED\n")) == []


def test_a_status_whose_rows_were_cut_off_is_told_by_its_reason():
    text = (
        "  pool: ost_4\n state: ONLINE\nstatus: One or more devices has experienced an unrecoverable error.  An\n        attempt was made to correct the error.  Applications are unaffected.\n"
        "action: Determine if the device needs to be replaced, and clear the errors\n        using 'zpool clear' or replace the device with 'zpool replace'.\n"
        "  scan: scrub in progress since Thu Apr 28 14:24:03 2016\n    17.1T scanned out of 17.3T at 55.1M/s, 0h54m to go\n    488K repaired, 99.01% done\nconfig:\n\n    NAME\n"
    )
    answer = answered(text)
    assert found(answer) == [("watch", "disk-errors")]
    assert answer["unexplained"] == []


def test_a_decimal_number_at_the_beginning_of_a_line_is_no_number_of_that_line():
    text = "  pool: ost_4\n state: ONLINE\n  scan: resilver in progress since Wed May 18 11:11:32 2016\n    130M scanned out of 29.2T at 9.30M/s, (scan is slow, no estimated time)\n    5.69M resilvered, 0.01% done\n"
    answer = answered(text)
    assert [pool["scan"]["percent"] for pool in answer["pools"]] == [0.01]
    assert found(answer) == [("watch", "resilver-running")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("/dev/sdq1:\n           Version : 1.2\n     Creation Time : Tue Jan  3 07:41:02 2023\n        Raid Level : raid1\n", "mdadm"),
        ("hostname\n|--host3\n|  |--4x--expander-3:0\n|  |      |--1x--end_device-3:0:12\n", "sas_discover"),
        (
            "DEVICE   OFFSET      TYPE       UUID                 LABEL\nsdq1     0x1fff84000 zfs_member 14567474344228015773 ost_4\n",
            "wipefs",
        ),
        ("uuid dev dm_st hcil dev_st chk_st serial vend/prod/rev multipath\n", "multipathd show paths"),
        (
            "Attached devices:\nHost: scsi7 Channel: 00 Id: 07 Lun: 00\n  Vendor: ATA      Model: MTFD7            Rev: 0007\n",
            "/proc/scsi/scsi",
        ),
    ],
)
def test_what_is_known_and_not_read_is_named_with_what_to_run_instead(text, what):
    answer = answered(text)
    assert answer["good"] is False
    assert any(what in (one["reason"] or "") for one in answer["texts"])


UNIT = "● {0} - Import ZFS pools by cache file\n   Loaded: loaded (/lib/systemd/system/{0}; enabled)\n   Active: {1} since Tue 2031-02-04 13:27:12 CET; 4min ago\n     Docs: man:zpool(8)\n"


def test_a_unit_that_failed_keeps_a_paste_from_being_good():
    pools = "# zpool status\n  pool: ost_4\n state: ONLINE\nconfig:\n\n\tNAME   STATE  READ WRITE CKSUM\n\tost_4  ONLINE     0     0     0\n\t  sdq  ONLINE     0     0     0\n\nerrors: No known data errors\n\n"
    failed = answered(
        f"{pools}# systemctl status zfs-import-cache.service\n" + UNIT.format("zfs-import-cache.service", "failed (Result: exit-code)")
    )
    assert (found(failed), failed["good"]) == ([("watch", "import-blocked")], False)
    runs = answered(f"{pools}# systemctl status zfs-import-cache.service\n" + UNIT.format("zfs-import-cache.service", "active (exited)"))
    assert (found(runs), runs["good"]) == ([], True)


def test_an_errors_line_that_is_cut_within_says_nothing():
    text = "  pool: ost_4\n state: ONLINE\n  scan: scrub repaired 0B in 01:00:00 with 0 errors on Sun Mar  8 05:36:45 2026\nconfig:\n\n\tNAME   STATE  READ WRITE CKSUM\n\tost_4  ONLINE     0     0     0\n\t  sdq  ONLINE     0     0     0\n\nerrors: No known dat\n"
    answer = answered(text)
    assert (outcomes(answer), answer["unexplained"], answer["good"]) == ([("zpool_status", "partly")], [], False)
