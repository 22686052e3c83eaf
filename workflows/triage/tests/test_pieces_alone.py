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


TREE = "config:\n\n\tNAME        STATE     READ WRITE CKSUM\n\toak         {0}     0     0     0\n\t  sda       {1}     3     0     0\n\nerrors: {2}\n"


def test_prose_between_two_texts_of_a_pool_tells_not_which_is_the_newer():
    ill = f"# zpool status\n  pool: oak\n state: UNAVAIL\n{TREE.format('UNAVAIL', 'FAULTED', '51 data errors, use -v')}"
    well = f"# zpool status\n  pool: oak\n state: ONLINE\n{TREE.format('ONLINE', 'ONLINE', 'No known data errors').replace('     3     0', '     0     0')}"
    found = read(f"{ill}---\n\nIn normal state it shows this instead:\n---\n{well}")
    assert [(each.slug, each.severity) for each in found.situations if each.gate] == [("pool-down", "act")]
    assert not found.good
    assert "pool-down" not in [each.slug for each in read(f"{ill}\n{well}").situations]


def test_damaged_data_is_told_of_where_the_text_ends_behind_its_status():
    status = "status: One or more devices has experienced an error resulting in data\n\tcorruption.  Applications may be affected.\n"
    for text in (f"  pool: oak\n state: DEGRADED\n{status}", status):
        found = read(text)
        assert ("data-errors", "act") in [(each.slug, each.severity) for each in found.situations]
        assert "unexplained" not in [each.slug for each in found.situations]
        assert not found.good


def test_an_unavailable_pool_is_not_called_suspended():
    found = read("# zpool detach oak sdk\ncannot open 'oak': pool is unavailable\n")
    assert "suspended" not in found.reads[0].reason
    assert [(each.slug, each.severity) for each in found.situations] == [("refused-command", "act")]


def test_a_mail_of_zed_with_its_counters_keeps_the_name_of_the_pool():
    mail = "ZFS has detected an io error:\n\n   eid: 12\n class: io\n  host: oss01\n  time: 2026-03-14 07:09:42+0200\n vpath: /dev/sdk1\n cksum: 0\n  read: 0\n write: 0\n  pool: oak\n"
    found = read(mail)
    assert [(each.outcome, each.source) for each in found.reads] == [("read", "zed_mail")]
    assert "oak" in found.situations[0].title


def test_a_refusal_that_the_initramfs_repeats_is_explained():
    found = read(
        "Command: zpool import -N oak\nMessage: cannot import 'oak': pool may be in use from other system\nuse '-f' to import anyway\nError: 1\n"
    )
    assert [each.slug for each in found.situations] == ["refused-command"]


def test_a_result_that_an_old_kernel_could_not_name_is_no_riddle():
    found = read(
        "[81414.117223] sd 0:0:57:0: [sdk]  Result: hostbyte=invalid driverbyte=DRIVER_SENSE\n[81414.117276] sd 0:0:57:0: [sdk]  Sense Key : Medium Error [current]\n"
    )
    assert [each.title for each in found.situations] == ["sdk reports sectors it cannot read"]


def test_one_row_below_its_heading_tells_of_its_errors():
    found = read("NAME        STATE     READ WRITE CKSUM\n    c0t4d0  ONLINE      12     0    14  458K repaired\n")
    assert [(each.slug, each.severity) for each in found.situations] == [("disk-errors", "watch")]
    assert not found.good


def test_a_disk_that_fills_the_place_of_the_lost_one_is_not_taken_for_another():
    found = read(
        "          replacing-0               DEGRADED     0     0     0\n"
        "            123456789012            UNAVAIL      0     0     0  was /dev/mapper/slot-10\n"
        "            slot-10                 ONLINE       0     0     0  (resilvering)\n"
        "          slot-19                   FAULTED    257     0     0  too many errors\n"
    )
    assert [(each.slug, each.subject["vdev_guid"]) for each in found.situations] == [("disk-faulted", "slot-19")]


@pytest.mark.parametrize("above", ["mirror-0", "raidz2-0", "replacing-1"])
def test_a_member_that_is_being_filled_and_has_the_lost_ones_name_is_another_disk(above):
    """Below a replacing vdev too, where it is not the new half of this one: whoever trusts the name replaces a healthy disk."""
    between = "            slot-11                 ONLINE       0     0     0\n"
    found = read(
        f"          {above}                  DEGRADED     0     0     0\n"
        "            123456789012            UNAVAIL      0     0     0  was /dev/mapper/slot-10\n"
        f"{between if above.startswith('replacing') else ''}"
        "            slot-10                 ONLINE       0     0     0  (resilvering)\n"
    )
    assert [(each.slug, each.severity) for each in found.situations] == [("wwid-mismatch", "act")]


@pytest.mark.parametrize(
    ("why", "slug"),
    [("UNC 16 sectors", "disk-failing"), ("ICRC, ABRT 8 sectors", "link-crc"), ("WP", "disk-errors"), ("ABRT", "disk-errors")],
)
def test_the_error_log_of_a_disk_alone_is_read(why, slug):
    log = (
        "Error 12 occurred at disk power-on lifetime: 4281 hours (178 days + 9 hours)\n"
        "  When the command that caused the error occurred, the device was active or idle.\n\n"
        "  After command completion occurred, registers were:\n  ER ST SC SN CL CH DH\n  -- -- -- -- -- -- --\n"
        f"  40 51 10 f8 9e 19 00  Error: {why} at LBA = 0x00199ef8 = 1679096\n\n"
    )
    found = read(log)
    assert [(each.outcome, each.source) for each in found.reads] == [("read", "ata_errors")]
    assert [(each.slug, each.severity) for each in found.situations] == [(slug, "watch")]
    assert not found.good


def test_an_error_log_that_does_not_say_which_errors_it_holds_is_not_called_good():
    assert not read("ATA Error Count: 3\n").good


def test_a_warning_of_the_kernel_about_disks_is_not_passed_over():
    found = read(
        "    [ 1030.547034] WARNING: CPU: 0 PID: 697 at drivers/scsi/scsi_lib.c:214 scsi_execute_cmd+0x42/0x2c0 [scsi_mod]\n"
        "    [ 1030.547205] CPU: 0 PID: 697 Comm: smartctl Not tainted 6.1.85\n"
    )
    assert [each.slug for each in found.situations] == ["unexplained"]
    assert not found.good


def test_a_program_that_waits_within_zfs_is_a_hung_thread():
    head = "[69059.096365] INFO: task rsync:62710 blocked for more than 122 seconds.\n[69059.096366] Call Trace:\n[69059.096368]  __schedule+0x2d1/0x6c0\n"
    found = read(f"{head}[69059.096393]  ? dmu_tx_destroy+0x10a/0x130 [zfs]\n")
    assert [(each.slug, each.severity) for each in found.situations] == [("kernel-errors", "act")]
    (other,) = read(f"{head}[69059.096393]  ? ext4_sync_file+0x10a/0x130 [ext4]\n").situations
    assert (other.slug, other.severity, other.subject["why"]) == ("kernel-errors", "watch", "blocked")
