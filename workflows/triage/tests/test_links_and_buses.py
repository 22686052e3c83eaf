"""Where the way to a disk is ill, and not the disk: links, buses and adapters, and what a text that ends early does not say of them."""

from __future__ import annotations

import pytest

from workflows.triage import triage


def advised(text: str) -> set[str]:
    return {cure.kind for found in triage([("p", text)]).situations for cure in found.cures}


PORT = (
    "[ 700.000001] ata4.00: exception Emask 0x10 SAct 0x0 SErr 0x280100 action 0x6 frozen\n{serror}"
    "[ 700.000003] ata4.00: failed command: READ DMA EXT\n[ 700.000004] ata4: hard resetting link\n[ 730.000001] ata4.00: disabled\n"
)


@pytest.mark.parametrize(("codes", "replaced"), [("UnrecovData 10B8B BadCRC", False), ("PHYRdyChg", True)])
def test_a_port_that_counts_damaged_transfers_needs_no_new_disk(codes, replaced):
    text = PORT.format(serror=f"[ 700.000002] ata4: SError: {{ {codes} }}\n")
    assert ("replace" in advised(text)) is replaced
    assert {"reseat", "online"} <= advised(text)


def test_an_nvme_disk_that_fell_off_its_bus_is_not_replaced_for_it():
    text = "[ 900.000001] nvme nvme4: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff\n"
    (found,) = triage([("p", text)]).situations
    assert "dropped off its bus" in found.title
    assert found.severity == "act"
    assert "replace" not in advised(text)


def test_a_loop_that_went_down_is_a_link_and_no_reset_of_the_adapter():
    (found,) = triage([("p", "[ 900.000001] qla2xxx [0000:41:00.0]-500b:3: LOOP DOWN detected (2 7 0 0).\n")]).situations
    assert (found.slug, found.title) == ("hba-fault", "qla2xxx lost its link")
    assert "is reset" not in found.meaning


def test_freebsd_calls_a_fault_of_the_disk_itself_a_hardware_failure():
    (found,) = triage([("p", "(da9:mpr1:0:9:0): SCSI sense: HARDWARE FAILURE asc:44,0 (Internal target failure)\n")]).situations
    assert found.title == "da9 reports a fault of its own hardware"


def test_lines_of_freebsd_that_stand_on_one_line_are_read_one_by_one():
    line = "(ada5:ahcich5:0:0:0): READ_FPDMA_QUEUED. ACB: 60 08 00 00 00 40 00 00 00 00 00 00 (ada5:ahcich5:0:0:0): CAM status: ATA Status Error "
    line += "(ada5:ahcich5:0:0:0): ATA status: 41 (DRDY ERR), error: 40 (UNC ) (ada5:ahcich5:0:0:0): Retrying command\n"
    (found,) = triage([("p", f"my disk says\n{line}")]).situations
    assert found.title == "ada5 reports sectors it cannot read"


def test_an_optical_drive_is_known_by_the_command_that_only_such_drives_get():
    line = "[ 700.000001] ata7.00: cmd a0/00:00:00:00:fe/00:00:00:00:00/a0 tag 3 pio 2048 in\n"
    (found,) = triage([("p", line)]).situations
    assert "optical drive" in found.title
    assert found.severity == "info"


def test_a_floppy_drive_is_no_disk():
    disk = "[ 700.000001] ata7.00: configured for UDMA/133\n"
    floppy = "[ 700.000002] blk_update_request: I/O error, dev fd0, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0\n"
    assert not triage([("p", disk + floppy)]).situations


def test_a_map_with_one_path_says_not_whether_one_is_missing():
    path = "`- 7:0:0:1 sdab 65:176 active ready running\n"
    head = "mpathb (35000c500a65b207b) dm-4 MAKER,MODEL\nsize=1.0T features='0' hwhandler='0' wp=rw\n"
    found = triage([("p", f"{head}`-+- policy='service-time 0' prio=1 status=active\n  {path}")])
    assert [read.outcome for read in found.reads if read.source] == ["read"]
    assert not found.situations
    assert not found.good


SAS = """smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)
=== START OF INFORMATION SECTION ===
Vendor:               MAKER
Product:              MODEL9
Logical Unit id:      0x5000c500a65b207b
Serial number:        ZX990001
=== START OF READ SMART DATA SECTION ===
SMART Health Status: OK
Current Drive Temperature:     31 C
Elements in grown defect list: 0
"""
COUNTERS = "Error counter log:\nread:   0  0  0  0  0  900.000  0\nwrite:  0  0  0  0  0  900.000  0\n\nNon-medium error count:  0\n"


@pytest.mark.parametrize(("text", "good"), [(SAS, False), (SAS + COUNTERS, True)])
def test_a_report_of_a_sas_disk_without_its_error_counters_is_not_good(text, good):
    assert triage([("p", text)]).good is good


def test_lines_of_smartd_below_an_error_log_are_its_own():
    log = "ATA Error Count: 12\nError 12 occurred at disk power-on lifetime: 999 hours (41 days + 15 hours)\n"
    line = "Jun  3 17:00:01 oss07 smartd[900]: Device: /dev/sdq [SAT], 40\nCurrently unreadable (pending) sectors\n"
    found = triage([("p", f"{log}and in the log\n{line}")])
    assert [(each.slug, each.subject["disk"]) for each in found.situations] == [("disk-failing", "sdq")]


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        ("`CRITICAL: [/dev/sdq] - Current_Pending_Sector is non-zero (3)|`", "disk-failing"),
        ("SmartCheck CRITICAL: #<Disk:0x00000000000a0b0c> critical 197 Current_Pending_Sector: 3", "disk-failing"),
        ("SmartCheck CRITICAL: #<Disk:0x00000000000a0b0c> critical 199 UDMA_CRC_Error_Count: 310", "link-crc"),
    ],
)
def test_a_check_is_read_in_back_quotes_and_with_its_counters_behind_a_colon(line, slug):
    assert [found.slug for found in triage([("p", f"it says\n{line}\n")]).situations] == [slug]


@pytest.mark.parametrize(
    "line",
    [
        "CRITICAL - physical drive 0:5 is failed, logical drive 0:1 is recovering",
        "[CRITICAL]: Physical Drive Disk 1:4 (MODEL9 / SSD / SATA) status: Critical",
    ],
)
def test_a_check_of_a_machine_names_its_drives(line):
    found = triage([("p", f"it says\n\n{line}\n")])
    assert [(each.slug, each.severity) for each in found.situations] == [("hba-fault", "act")]


def test_many_disks_that_md_gave_up_at_once_have_one_cause():
    stat = "md4 : active raid6 sdt1[4](F) sds1[3](F) sdr1[2](F) sdq1[1] sdp1[0]\n      900 blocks level 6, 64k chunk, algorithm 2 [5/2] [UU___]\n"
    found = triage([("p", f"Personalities : [raid6]\n{stat}")])
    assert "many-disks-offline" in [each.slug for each in found.situations]
    assert "replace" not in advised(f"Personalities : [raid6]\n{stat}")


def test_a_log_without_a_word_of_trouble_is_not_good():
    log = "[    3.000001] sd 0:0:0:0: Power-on or device reset occurred\n[    3.000002] ata4: SATA link down (SStatus 0 SControl 300)\n"
    found = triage([("p", log)])
    assert not found.situations
    assert not found.good
