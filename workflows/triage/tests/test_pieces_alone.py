"""Pieces that people paste without what stood around them: rows of `zpool list -v`, one field of `zpool status`, quoted and cut logs."""

from __future__ import annotations

import pytest

from workflows.triage import triage

ROWS = (
    "  mirror-0       3.62T  1.52T  2.10T        -         -    11%  41.9%      -  ONLINE\n"
    "    sda              -      -      -        -         -      -      -      -  ONLINE\n"
    "    sdb              -      -      -        -         -      -      -      -  {state}\n"
)
STATUS = (
    "  pool: oak\n state: DEGRADED\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\toak         DEGRADED     0     0     0\n"
    "\t  mirror-0  DEGRADED     0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     UNAVAIL      0     0     0  cannot open\n"
    "\nerrors: No known data errors\n"
)
LOG = (
    "ata2.00: exception Emask 0x0 SAct 0x7 SErr 0x0 action 0x6 frozen\n"
    "ata2.00: failed command: READ FPDMA QUEUED\n"
    "ata2: hard resetting link\n"
)


def read(text: str):
    return triage([("p", text)])


def slugs(text: str) -> list[tuple[str, str]]:
    return [(each.slug, each.severity) for each in read(text).situations]


def prefixed(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def test_rows_of_zpool_list_without_their_heading_tell_of_a_lost_member():
    found = read(ROWS.format(state="UNAVAIL"))
    assert [(each.outcome, each.source) for each in found.reads] == [("read", "zpool_list_text")]
    assert [each.title for each in found.situations] == ["a pool that is not named: sdb is UNAVAIL"]


def test_such_rows_without_their_pool_are_not_called_good():
    found = read(ROWS.format(state="ONLINE"))
    assert not found.situations
    assert not found.good


def test_zpool_list_names_the_member_that_is_down_and_not_the_vdev_that_lost_it():
    pool = "oak  10.9T  4.52T  6.39T        -         -    21%    41%  1.00x    DEGRADED  -\n"
    rows = ROWS.format(state="FAULTED").replace("41.9%      -  ONLINE", "41.9%      -  DEGRADED")
    assert [each.title for each in read(pool + rows).situations] == ["oak: sdb is FAULTED"]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (
            "  scan: resilver in progress since Sat Mar  7 21:02:11 2026\n\t3.11T / 8.51T scanned at 412M/s, 1.20T / 8.51T issued at 160M/s\n"
            "\t301G resilvered, 14.10% done, 13:21:12 to go\n",
            "resilver-running",
        ),
        ("scan: scrub repaired 12K in 05:12:44 with 3 errors on Sun Mar  8 05:36:45 2026\n", "scrub-errors"),
        (
            "expand: expansion of raidz2-0 in progress since Thu Mar  5 10:11:12 2026\n"
            "\t1.20T / 8.51T copied at 88.1M/s, 14.10% done, 1 days 00:21:12 to go\n",
            "expansion-running",
        ),
        (
            "remove: Evacuation of mirror-1 in progress since Thu Mar  5 10:11:12 2026\n\t112G copied out of 1.20T at 88.1M/s, 9.10% done, 3h12m to go\n",
            "device-removal",
        ),
    ],
)
def test_one_field_of_zpool_status_alone_is_read(text, slug):
    found = read(text)
    assert [each.outcome for each in found.reads] == ["partly"]
    assert slug in [each.slug for each in found.situations]
    assert not found.good


def test_a_scrub_that_ended_well_is_not_called_good_without_its_pool():
    found = read("scan: scrub repaired 0B in 05:12:44 with 0 errors on Sun Mar  8 05:36:45 2026\n")
    assert [each.outcome for each in found.reads] == ["partly"]
    assert not found.situations
    assert not found.good


def test_words_that_only_begin_like_such_a_field_are_no_output():
    found = read("remove: the old disk, and scan: everything\nexpand: later\n")
    assert [each.outcome for each in found.reads] == ["left out"]


@pytest.mark.parametrize("mark", ["Kim> ", "KM>> ", "> KM> ", "Kim Example> ", ">> Kim> "])
def test_a_mail_whose_quotes_bear_a_name_is_read(mark):
    assert slugs(prefixed(mark, STATUS) + "\nYes, that one is gone.\n") == slugs(STATUS)


@pytest.mark.parametrize("mark", ["l: ", "> l: ", "messages.1:", "messages.1:204:", ">      "])
def test_lines_of_the_kernel_behind_a_mark_are_read(mark):
    assert [slug for slug, _ in slugs(prefixed(mark, LOG))] == ["kernel-errors"]


def test_a_quoted_log_whose_long_lines_were_wrapped_is_read():
    stamped = prefixed(">    [ 8114.427991] ", LOG).replace("0x7 SErr", "0x7\n> SErr")
    found = read(stamped)
    assert [slug for slug, _ in slugs(stamped)] == ["kernel-errors"]
    assert {each.source for each in found.reads if each.outcome == "read"} == {"kernel_log"}


@pytest.mark.parametrize(
    "line",
    [
        "ata1: SATA link up 3.0 Gbps (SStatus 123 SControl 300)",
        "ata1.00: configured for UDMA/133",
        "ata1.00: ATA-9: EXAMPLE DISK4000, SC60, max UDMA/133",
        "ata1.00: 7814037168 sectors, multi 16: LBA48 NCQ (depth 31/32), AA",
        "ata1: SATA max UDMA/133 abar m2048@0xf7d16000 port 0xf7d16100 irq 28",
    ],
)
def test_what_the_kernel_says_when_a_link_comes_up_is_read_and_is_no_trouble(line):
    found = read(f"{line}\n")
    assert [(each.outcome, each.source) for each in found.reads] == [("read", "kernel_log")]
    assert not found.situations


def test_rows_of_smart_attributes_in_the_brief_form_are_read_without_their_heading():
    rows = "  5 Reallocated_Sector_Ct   PO--CK   098   098   010    -    1288\n197 Current_Pending_Sector  -O--CK   100   100   000    -    24\n"
    assert slugs(rows) == [("disk-failing", "act")]
