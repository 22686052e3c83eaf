"""A text that ends within its last row: of that row counts what is beyond doubt, and nothing is raised for its being cut."""

from __future__ import annotations

import pytest

from workflows.triage import triage
from workflows.triage.pool_text import cut_row

HEAD = "  pool: oak\n state: {state}\n  scan: none requested\nconfig:\n\n\tNAME          STATE     READ WRITE CKSUM\n\toak           {state}  0     0     0\n"
TOP = "\t  raidz1-0    ONLINE    0     0     0\n\t    ata-A1    ONLINE    0     0     0\n\t    ata-A2    ONLINE    0     0     0\n"


def read(text: str):
    return triage([("p", text)])


def states(found):
    (pool,) = found.fleet.nodes["pasted"].pools_read
    return {vdev.name: vdev.state for _, top in pool.tops_read for vdev in top.leaves()}


@pytest.mark.parametrize("end", ["\t    ata-A", "\t    ata-A3", "\t    ata-A3    ONLINE    0     0", "\t    ata-A3    ONLI"])
def test_a_last_row_that_is_cut_raises_nothing_and_keeps_the_pool_from_being_good(end):
    found = read(HEAD.format(state="ONLINE") + TOP + end + "\n")
    assert [each.slug for each in found.situations if each.slug != "scrub-overdue"] == []
    assert not found.good
    assert [each.outcome for each in found.reads] == ["partly"]
    assert found.reads[0].unread[0] == (11, "rows were left out of the text here")


@pytest.mark.parametrize("end", ["\t    ata-A3    FAULTED    12     3", "\t    ata-A3    FAULTED", "\t    ata-A3    FAULT"])
def test_its_state_counts_where_it_is_sure(end):
    found = read(HEAD.format(state="DEGRADED") + TOP.replace("raidz1-0    ONLINE", "raidz1-0    DEGRADED") + end + "\n")
    assert states(found)["ata-A3"] == "FAULTED"
    assert "disk-missing" in [each.slug for each in found.situations]


def test_a_cache_device_is_not_lost_because_its_row_is_cut():
    found = read(HEAD.format(state="ONLINE") + TOP + "\tcache\n\t  nvme-B1     ONLINE    0     0     0\n\t  nvme-B\n")
    assert "cache-device-lost" not in [each.slug for each in found.situations]
    assert not found.good


def test_a_degraded_pool_whose_lost_member_was_cut_off_says_so():
    found = read(HEAD.format(state="DEGRADED") + TOP + "\t    ata-A\n")
    assert [each.title for each in found.situations if each.severity == "act"] == ["oak is DEGRADED, and the row that says why is not here"]


def test_a_row_in_the_middle_without_a_state_is_still_raised():
    found = read(
        HEAD.format(state="ONLINE") + TOP + "\t    ata-A3\n\t    ata-A4    ONLINE    0     0     0\n\nerrors: No known data errors\n"
    )
    assert "unexplained" in [each.slug for each in found.situations]


@pytest.mark.parametrize(
    ("row", "counted", "section", "whole"),
    [
        ("    sda  ONLINE  0  0  0", True, "", "    sda  ONLINE  0  0  0"),
        ("    sda  ONLINE  0  0  0  too many er", True, "", "    sda  ONLINE  0  0  0  too many er"),
        ("    sda  ONLINE  0", True, "", "    sda  ONLINE"),
        ("    sda  UNAV", True, "", "    sda  UNAVAIL"),
        ("    sda  SUS", True, "", "    sda  SUSPENDED"),
        ("    sda  O", True, "", ""),
        ("    sda  STRANGE", True, "", "    sda  STRANGE"),
        ("    sda", True, "", ""),
        ("    sda", True, "cache", ""),
        ("    sda", False, "cache", "    sda"),
        ("  cache", True, "", "  cache"),
    ],
)
def test_what_counts_of_a_cut_row(row, counted, section, whole):
    assert cut_row(row, counted, section) == whole


@pytest.mark.parametrize("scan", ["", "  scan: scrub repaired 0B in 00:10:00 with 0 errors on Sun Mar  3 00:34:00 2024\n"])
def test_rows_that_are_filled_say_that_a_resilver_runs_where_no_scan_is_printed(scan):
    rows = "\t  mirror-0    ONLINE    0     0     0\n\t    ata-A1    ONLINE    0     0     0\n\t    ata-A2    ONLINE    0     0     0  (resilvering)\n"
    found = read(HEAD.format(state="ONLINE").replace("  scan: none requested\n", scan) + rows + "\nerrors: No known data errors\n")
    titles = [each.title for each in found.situations if each.slug == "resilver-running"]
    assert titles == ([] if scan else ["oak resilvers, and how far it is is not here"])
    assert not found.good


SAS = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)\n\n=== START OF READ SMART DATA SECTION ===\n{verdict}Current Drive Temperature:     31 C\nDrive Trip Temperature:        65 C\n\nElements in grown defect list: 0\n"


@pytest.mark.parametrize(("verdict", "good"), [("SMART Health Status: OK\n", True), ("", False)])
def test_a_sas_disk_whose_verdict_was_not_asked_for_is_not_good(verdict, good):
    found = read(SAS.format(verdict=verdict))
    assert found.good is good
    assert good or "verdict" in found.not_good_because[0]


def test_a_tree_without_its_config_line_above_prose_is_one_text():
    text = (
        "  pool: oak\n state: DEGRADED\nstatus: One or more devices could not be used because the label is missing or\n        invalid.\n"
        "action: Replace the device using 'zpool replace'.\n  scan: scrub repaired 0B in 00:10:00 with 0 errors on Sun Mar  3 00:34:00 2024\n\n"
        "        NAME        STATE     READ WRITE CKSUM\n        oak         DEGRADED     0     0     0\n          raidz1-0  DEGRADED     0     0     0\n"
        "            sda     ONLINE       0     0     0\n            sdb     UNAVAIL      0     0     0\n            sdc     ONLINE       0     0     0\n\n"
        "It was well in spring, and now it is not.\n"
    )
    found = read(text)
    assert [each.outcome for each in found.reads if each.source] == ["partly"]
    assert [each.slug for each in found.situations if each.severity == "act"] == ["disk-missing"]


def kernel(day: str, disk: str) -> str:
    return f"Mar {day} 02:00:00 oss07 kernel: blk_update_request: I/O error, dev {disk}, sector 1115951896 op 0x0:(READ) flags 0x0 phys_seg 1\n"


def test_an_older_error_of_another_disk_is_not_lost_behind_a_newer_one():
    found = read(kernel("03", "sdk") + "...\n" + kernel("07", "sdq") + kernel("07", "sdk").replace("Mar 07", "Mar 01"))
    assert [(each.severity, each.title) for each in found.situations] == [("act", "sdq failed commands"), ("watch", "sdk failed commands")]
    assert "more than a day older" in found.situations[1].meaning


def test_an_older_error_of_a_disk_that_failed_again_is_raised_once():
    found = read(kernel("03", "sdk") + kernel("07", "sdk"))
    assert [(each.severity, each.title) for each in found.situations] == [("act", "sdk failed commands")]


def test_words_behind_a_multipath_list_are_no_part_of_it():
    rows = "mpatha (35000c500a7000001) dm-3 EXAMPLE,DISK12T\nsize=10.9T features='0' hwhandler='0' wp=rw\n`-+- policy='service-time 0' prio=1 status=active\n  `- 2:0:0:1 sdb 8:16 active ready running\n"
    found = read(f"# multipath -ll\n{rows}\nI have added the path twice, and the second time it\nwas there.\n")
    assert [each.outcome for each in found.reads if each.source] == ["read"]


@pytest.mark.parametrize("end", ["\t    ata-A3    ON", "\t    7    ONL"])
def test_a_row_that_ends_within_its_state_is_no_part_of_the_row_above(end):
    found = read(HEAD.format(state="ONLINE") + TOP + end + "\n")
    assert [each.slug for each in found.situations if each.slug != "scrub-overdue"] == []
    assert (states(found)["ata-A1"], states(found)["ata-A2"]) == ("ONLINE", "ONLINE")


def test_rows_that_grep_kept_of_a_configuration_are_refused_in_words():
    found = read("[root@oss07 ~]# zdb -C oak | grep hostid\n        hostid: 8323328\n        hostid: 8323328\n")
    assert [each.outcome for each in found.reads if each.source] == ["not read"]
