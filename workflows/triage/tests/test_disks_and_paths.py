"""Texts about disks and the ways to them, in shapes that people paste: each was once misread as its kind, and is written here in our own words."""

from __future__ import annotations

import pytest

from workflows.triage import json_answer, triage


def found(text: str) -> dict[str, str]:
    """Slug and severity of what is said of it."""
    return {one.slug: one.severity for one in triage([("paste.txt", text)]).situations}


def outcomes(text: str) -> list[str]:
    return [one["outcome"] for one in json_answer.answer(triage([("paste.txt", text)]))["texts"]]


def test_a_link_that_is_down_while_the_kernel_starts_is_no_trouble():
    assert (
        found(
            "[    3.100001] ata4: SATA link down (SStatus 0 SControl 300)\n[    3.200001] ata5: SATA link up 6.0 Gbps (SStatus 133 SControl 300)\n"
        )
        == {}
    )


CALLER = """[Tue Mar  3 04:05:06 2026] [    T811] ata9.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen
[Tue Mar  3 04:05:06 2026] [    T811] ata9.00: failed command: FLUSH CACHE EXT
[Tue Mar  3 04:06:07 2026] [    T811] ata9.00: disable device
[Tue Mar  3 04:06:07 2026] [     C3] I/O error, dev sdk, sector 4096 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2
"""


def test_the_thread_that_printed_a_line_is_no_part_of_it():
    assert found(CALLER) == {"kernel-errors": "act"}


@pytest.mark.parametrize(
    ("line", "slugs"),
    [
        ("ata6.00: READ LOG DMA EXT failed, trying PIO", set()),
        ("ata6.00: Read log page 0x08 failed, Emask 0x1", set()),
        ("ata6: failed to read log page 10h (errno=-5)", {"kernel-errors"}),
        ("ata6.00: both IDENTIFYs aborted, assuming NODEV", {"kernel-errors"}),
        ("ata6.00: VERIFY failed (err_mask=0x4)", {"kernel-errors"}),
        ("nvme nvme2: new error during reset", {"kernel-errors"}),
        ("mpt3sas_cm0: High IOPs queues : disabled", set()),
    ],
)
def test_lines_of_drivers(line, slugs):
    assert set(found(f"[ 8000.000001] {line}\n[ 8000.000002] usb 1-1: new device\n")) == slugs


def test_two_devices_behind_a_port_multiplier_are_two():
    text = "[ 8000.000001] ata11.00: VERIFY failed (err_mask=0x4)\n[ 8001.000001] ata11.01: revalidation failed (errno=-5)\n"
    empty = "".join(f"[ 8002.000001] ata11.0{port}: SATA link down (SStatus 0 SControl 330)\n" for port in range(2, 6))
    titles = {one.title for one in triage([("p", text + empty)]).situations}
    assert titles == {"ata11.01 was given up by the kernel", "ata11.00 failed commands"}


JOURNAL = """-- Logs begin at Mon 2026-02-02 10:00:00 UTC, end at Tue 2026-03-03 10:00:00 UTC. --
-- Reboot --
Mar 01 01:02:03 elm kernel: ata3.00: exception Emask 0x0 SAct 0x10 SErr 0x0 action 0x0
-- Reboot --
Mar 02 01:02:03 elm kernel: ata3.00: error: { UNC }
"""


def test_marks_of_the_journal_are_no_part_of_a_line():
    assert outcomes(JOURNAL) == ["read"]
    assert found(JOURNAL) == {"kernel-errors": "act"}


SMARTD = """Feb  4 03:02:01 storage-a smartd[702]: Device: /dev/sdm [SAT], FAILED
SMART self-check. BACK UP DATA NOW!
Feb  4 03:02:01 storage-a smartd[702]: Device: /dev/sdn [SAT], 41
Currently unreadable (pending) sectors
"""


def test_what_mail_wrapped_of_smartd_is_read_whole():
    found = triage([("p", SMARTD)]).situations
    assert sorted((one.slug, one.subject["disk"]) for one in found) == [("disk-failing", "sdm"), ("disk-failing", "sdn")]


def test_counters_that_somebody_wrote_down_by_their_names_count():
    text = "SMART overall-health self-assessment test result: PASSED\n\nCurrent_Pending_Sector   val=100 worst=99 thresh=000  raw=344\n"
    assert found(text)["disk-failing"] == "act"
    assert "disk-failing" not in found(text.replace("344", "0"))


ERRORS = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux] (local build)

=== START OF READ SMART DATA SECTION ===
SMART Error Log Version: 1
ATA Error Count: {count}

Error {count} occurred at disk power-on lifetime: 812 hours (33 days + 20 hours)
  When the command that caused the error occurred, the device was active or idle.

  After command completion occurred, registers were:
  ER ST SC SN CL CH DH
  -- -- -- -- -- -- --
  40 51 08 10 20 30 40  Error: UNC at LBA = 0x00302010 = 3153936
"""


def test_the_error_log_alone_is_judged_under_its_own_heading_too():
    assert found(ERRORS.format(count=9)) == {"disk-failing": "watch"}


NO_PATH = """mpathk (3600c0ff000ab12340000000000000011) dm-7 ##,##
size=12T features='1 queue_if_no_path' hwhandler='0' wp=rw
$
"""


def test_a_map_without_a_path_and_without_a_product_has_none_left():
    assert found(NO_PATH) == {"path-lost": "act"}
    assert outcomes(NO_PATH) == ["read"]


def test_a_map_that_was_cut_off_has_not_lost_its_paths():
    assert found(NO_PATH.replace("##,##", "SEAGATE,ST12000NM002G").replace("$\n", "")) == {}


IOSTAT = """Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s
avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda               0.00     0.00   60.00   60.00     4.00     4.00
128.00     0.80    4.10    4.00    4.20   0.80  40.00
sdb               0.00     0.00   60.00   60.00     4.00     4.00
128.00     0.80    4.20    4.10    4.30   0.80  41.00
sdc               0.00     0.00   60.00   60.00     4.00     4.00
128.00     9.80  190.10  180.00  200.20   0.80  98.00
sdd               0.00     0.00   60.00   60.00     4.00     4.00
128.00     0.80    4.30    4.20    4.40   0.80  42.00
"""


def test_rows_of_iostat_that_mail_wrapped_are_read_whole():
    assert outcomes(IOSTAT) == ["read"]
    assert "slow-disk" in found(IOSTAT)


def test_a_table_of_iostat_may_stand_deeper():
    text = "".join(
        f"    {line}\n"
        for line in ("Device             tps    MB_read/s    MB_wrtn/s    MB_dscd/s", "sda     12.00     1.00     2.00     0.00")
    )
    assert outcomes("So it was then:\n\n" + text) == ["read"]


def test_one_row_of_lsscsi_that_was_changed_hides_no_other():
    text = "[0:0:0:0] disk ACME A1000NM01 N004 /dev/sda\n[0:0:1:0] disk ACME A1000NM01 N004 /dev/sdb\n[0:0:9:0] enclosu ACMEShelf12x 12-\n"
    assert outcomes(text) == ["partly"]


def test_a_tree_of_lsblk_in_another_encoding_is_read():
    text = "NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT\nsda      8:0    0  100G  0 disk\nââsda1   8:1    0    4M  0 part\nââsda2   8:2    0   99G  0 part /\n"
    assert outcomes(text) == ["read"]


def test_namespaces_below_a_path_of_nvme_list_subsys():
    text = "nvme-subsys2 - NQN=nqn.2014.08.org.nvmexpress:1b4b1b4bAB12  ACME\n\\\n  +- nvme2 pcie 0000:09:00.0 live\n  \\\n   +- nvme2n1\n"
    assert outcomes(text) == ["read"]


REFUSED_TRIM = """[ 9000.000001] sd 2:0:7:0: [sdh] tag#40 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=0s
[ 9000.000002] sd 2:0:7:0: [sdh] tag#40 Sense Key : Illegal Request [current]
[ 9000.000003] sd 2:0:7:0: [sdh] tag#40 Add. Sense: Invalid field in cdb
[ 9000.000004] sd 2:0:7:0: [sdh] tag#40 CDB: Unmap/Read sub-channel 42 00 00 00 00 00 00 00 18 00
[ 9000.000005] critical target error, dev sdh, sector 4096 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2
"""


def test_a_disk_that_does_not_take_trim_is_no_sick_disk():
    (found,) = triage([("p", REFUSED_TRIM)]).situations
    assert (found.slug, found.severity, found.cures[0].kind) == ("kernel-errors", "info", "wait")


def test_beside_an_error_of_reading_it_is_not_what_counts():
    assert found(
        REFUSED_TRIM + "[ 9001.000001] critical medium error, dev sdh, sector 8192 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n"
    ) == {"kernel-errors": "act"}


@pytest.mark.parametrize("stamp", ["2026 Mar  3 04:05:06", "2026/03/03 04:05:06", "2026-03-03 04:05:06.125"])
def test_a_stamp_may_begin_with_the_year(stamp):
    line = "nas2 kernel: blk_update_request: critical medium error, dev sdq, sector 123456 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0"
    answer = triage([("p", f"{stamp} {line}\n")])
    assert [(one.slug, one.severity) for one in answer.situations] == [("kernel-errors", "act")]
    assert "sector 123456" in answer.situations[0].title
