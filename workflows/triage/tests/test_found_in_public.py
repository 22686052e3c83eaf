"""Kinds of texts that people paste and that were misread once: each by an input of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflows.triage import triage

CASES = Path(__file__).parent / "cases" / "cut"


def read(text: str):
    return triage([("p", text)])


def test_paths_that_grep_left_of_a_multipath_list_are_read_and_more_may_stand_beside_them():
    found = read(
        "# multipath -ll | grep fault\n  |- 6:0:4:13  sdaq 66:160  failed faulty running\n  `- 6:0:2:13  sdaa 65:160  failed faulty running\n"
    )
    assert [(each.outcome, bool(each.cut)) for each in found.reads if each.source] == [("read", True)]
    assert [(each.slug, each.severity) for each in found.situations] == [("path-lost", "act")]
    assert "Replace no disk" in found.situations[0].meaning


def test_a_map_without_paths_among_others_has_lost_them():
    whole = "{name} ({wwid}) dm-{n} EXAMPLE,DISK12T\nsize=10.9T features='0' hwhandler='0' wp=rw\n"
    path = "`-+- policy='service-time 0' prio=1 status=active\n  `- 1:0:0:0 sdb 8:16 active ready running\n"
    found = read(
        whole.format(name="mpatha", wwid="35000c500a7000001", n=5) + whole.format(name="mpathb", wwid="35000c500a7000002", n=6) + path
    )
    assert [each.title for each in found.situations] == ["1 multipath disk has no path"]


@pytest.mark.parametrize("shift", ["", " ", "    "])
def test_a_table_of_counters_is_read_however_deep_it_stands(shift):
    rows = (
        "Vendor Specific SMART Attributes with Thresholds:",
        "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE",
        "  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       41",
        "197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       8",
    )
    found = read("".join(f"{shift}{row}\n" for row in rows))
    assert [each.slug for each in found.situations] == ["disk-failing"]


def test_a_counter_in_somebodys_own_form_keeps_a_disk_from_being_good():
    found = read("SMART overall-health self-assessment test result: PASSED\n\nCurrent_Pending_Sector   went to 40\n")
    assert not found.good
    assert "Current_Pending_Sector" in found.not_good_because[0]


@pytest.mark.parametrize("name", ["[EXAMPLE-12T]", "<removed>", "ata-EXAMPLE_DISK12T_xxxxxxxx", "wwn-0x0000000000000000"])
def test_members_whose_names_were_hidden_are_not_one_disk_twice(name):
    rows = "".join(f"\t    {name}  ONLINE       0     0     0\n" for _ in range(3))
    tree = f"\tNAME  STATE     READ WRITE CKSUM\n\toak  ONLINE       0     0     0\n\t  raidz1-0  ONLINE       0     0     0\n{rows}"
    found = read(f"  pool: oak\n state: ONLINE\n  scan: none requested\nconfig:\n\n{tree}\nerrors: No known data errors\n")
    assert "device-used-twice" not in [each.slug for each in found.situations]


def test_a_last_row_that_was_cut_behind_its_name_is_a_part_and_no_situation():
    tree = "\tNAME  STATE     READ WRITE CKSUM\n\toak  ONLINE       0     0     0\n\t  mirror-0  ONLINE       0     0     0\n\t    sdq  ONLINE  0  0  0\n\t    sdr\n"
    found = read(f"  pool: oak\n state: ONLINE\n  scan: none requested\nconfig:\n\n{tree}")
    assert [each.outcome for each in found.reads] == ["partly"]
    assert not found.good
    assert (10, "rows were left out of the text here") in found.reads[0].unread
    assert not [each for each in found.situations if each.slug == "unexplained"]


def test_a_histogram_that_ends_within_a_row_is_a_part():
    head = "oak           total_wait     disk_wait    syncq_wait    asyncq_wait\nlatency      read  write   read  write   read  write   read  write  scrub\n"
    rows = "".join(f"{2**n - 1}ns          0      0      0      0      0      0      0      0      0\n" for n in range(1, 5))
    found = read(f"# zpool iostat -w oak\n{head}{rows}31ns          0      0\n")
    assert [(each.outcome, each.source) for each in found.reads if each.source] == [("partly", "zpool_iostat_w")]


@pytest.mark.parametrize(
    "line",
    [
        "Jan 05 10:00:01 oss07 multipathd[811]: mpathq: sdk - tur checker reports path is down\n",
        "Jan 05 10:00:01 oss07 multipathd[811]: sdk: mark as failed\n",
        "Jan 05 10:00:01 oss07 multipathd[811]: mpathq: sdk - path offline\n",
    ],
)
def test_a_path_that_multipathd_gives_up_is_reported(line):
    (found,) = read(line).situations
    assert found.title == "sdk loses its link"


def test_a_configuration_is_of_the_pool_that_it_names_whatever_stands_above_it():
    body = (CASES / "config.txt").read_text().split("\n")
    found = read("# zdb -C\n" + "\n".join(["oldname:", *body[1:]]) + "\n")
    assert [(each.outcome, each.source) for each in found.reads if each.source] == [("read", "zdb_config")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Device Statistics (GP Log 0x04)\nPage  Offset Size        Value Flags Description\n", "statistics"),
        (" 119    2026-01-05 11:43    41  **********************\n", "temperatures"),
    ],
)
def test_a_part_of_a_disks_report_that_says_nothing_of_health_is_named(text, what):
    (one,) = read(text).reads
    assert (one.outcome, what in one.reason) == ("left out", True)
    assert not read(text).good


def test_the_head_of_an_error_log_alone_shows_nothing_and_is_not_good():
    found = read("Error 12 occurred at disk power-on lifetime: 8000 hours (333 days + 8 hours)\n")
    assert [(one.outcome, one.source) for one in found.reads] == [("read", "ata_errors")]
    assert (found.situations, found.good) == ((), False)


def test_a_refused_command_in_a_quoted_mail_is_known():
    found = read("> [root@oss07 ~]# zpool offline oak sdq\n> cannot offline sdq: pool I/O is currently suspended\n> [root@oss07 ~]# date\n")
    assert [each.slug for each in found.situations] == ["refused-command"]


def test_paths_of_nvme_that_lost_their_indentation_are_no_lost_paths():
    found = read(
        "nvme-subsys1 - NQN=nqn.2026-01.com.example:array7\n\\\n+- nvme1 tcp traddr=192.0.2.1,trsvcid=4420 live\n+- nvme2 tcp traddr=192.0.2.2,trsvcid=4420 live\n"
    )
    assert found.situations == ()
    assert [each.outcome for each in found.reads if each.source] == ["read"]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("[CRITICAL] Pool oak reports health DEGRADED", "oak: an array or a pool is degraded"),
        ("[CRITICAL] pool 'oak' is DEGRADED now", "oak: an array or a pool is degraded"),
        ("[CRITICAL] the pool health is DEGRADED", "An array or a pool is degraded"),
        ("[CRITICAL] pool on vault2 is DEGRADED", "An array or a pool is degraded"),
    ],
)
def test_a_pool_that_a_notice_names_stands_in_its_title(line, title):
    (found,) = read(f"{line}\n").situations
    assert found.title == title
