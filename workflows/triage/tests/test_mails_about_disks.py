"""Outputs about disks as mail programs and collectors of logs leave them: broken lines, stamps of their own, commands that nothing here reads."""

from __future__ import annotations

import pytest

from agents.collectors.kernel_log import parse
from workflows.triage import triage

REPORT = """smartctl 7.0 2018-12-30 r4883 [x86_64-linux-5.4.0] (local build)

=== START OF INFORMATION SECTION ===
Device Model:     ACME A4000
Serial Number:    Z1Z0AAA1

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
   1 Raw_Read_Error_Rate     PO-R--   100   100   016    -    0
   3 Spin_Up_Time            POS---   160   160   024    -    152
(Average 135)
   4 Start_Stop_Count        -O--C-   100   100   000    -    22
   5 Reallocated_Sector_Ct   PO--CK   100   100   005    -    0
  10 Spin_Retry_Count        PO--C-   100   100   060    -    0
194 Temperature_Celsius     -O----   200   200   000    -    30 (Min/Max
24/38)
197 Current_Pending_Sector  -O---K   100   100   000    -    24
198 Offline_Uncorrectable   ---R--   100   100   000    -    0
"""


def test_a_table_that_a_mail_program_broke_stays_the_table_of_its_disk():
    found = triage([("p", REPORT)])
    assert [each.outcome for each in found.reads] == ["read"]
    assert [(each.slug, each.subject.get("serial")) for each in found.situations] == [("disk-failing", "Z1Z0AAA1")]


MDSTAT = """Personalities : [raid1] [linear] [raid6] [raid5]
[raid4] [raid10]
md0 : active raid6 sdb1[0] sdf1[5] sde1[4]
sdg1[3] sdd1[2]
      5860543744 blocks super 1.2 level 6, 4k chunk,
algorithm 2 [6/5] [U_UUUU]
      [==>..................]  recovery = 12.6% (37043392/292945152)
finish=127.5min speed=33440K/sec

unused devices: <none>
"""


def test_lines_of_md_that_a_mail_program_broke_are_joined():
    found = triage([("p", MDSTAT)])
    assert [each.outcome for each in found.reads] == ["read"]
    assert [each.title for each in found.situations] == ["the md array md0 lacks 1 of 6 disks"]


@pytest.mark.parametrize(
    "line",
    [
        "hpsa 0000:06:00.0: Controller lockup detected during reset wait",
        "hpsa 0000:06:00.0: failed 15 commands in fail_all",
        "hpsa 0000:06:00.0: scsi 0:1:0:0: reset logical  failed Direct-Access     ACME     LOGICAL VOLUME",
        "aacraid: Host adapter reset request. SCSI hang ?",
        "aacraid 0000:01:00.0: outstanding cmd: error handler-0",
    ],
)
@pytest.mark.parametrize("before", ["[679648.876650] ", "2020-06-16T14:59:36.6272 warning kern kernel  [679648.876650] "])
def test_a_raid_controller_that_hangs_is_a_fault_of_the_controller(before, line):
    found = triage([("p", before + line + "\n")])
    assert [each.slug for each in found.situations] == ["hba-fault"]
    assert found.situations[0].gate


def test_an_nvme_controller_that_completes_what_nobody_asked_is_named():
    (event,) = parse("[ 12.000000] nvme nvme0: invalid id 8224 completed on queue 32\n").events
    assert (event.kind, event.field("disk")) == ("nvme-timeout", "nvme0")


LIST = """root@nas1:~# for x in c d; do mdadm --examine-badblocks /dev/sd$x; done
Bad-blocks on /dev/sdc:
      87960997351424 for 8 sectors
"""


def test_what_a_command_printed_and_nothing_here_reads_is_not_good_where_it_names_trouble():
    whole = REPORT.replace("-    24", "-    0")
    assert triage([("p", whole)]).good
    assert triage([("p", whole + "\nroot@nas1:~# uname -r\n5.4.0\n")]).good
    assert not triage([("p", whole + "\n" + LIST)]).good
    assert not triage(
        [("p", whole + "\nroot@nas1:~# dd if=/dev/sdc of=/dev/null\ndd: error reading '/dev/sdc': Input/output error\n")]
    ).good


def test_the_verdict_of_a_disk_alone_is_not_good():
    alone = REPORT.partition("ID# ATTR")[0]
    found = triage([("p", alone)])
    assert [each.outcome for each in found.reads] == ["read"]
    assert not found.situations
    assert not found.good


@pytest.mark.parametrize(
    "line",
    [
        "BTRFS error (device sdb1): parent transid verify failed on logical 54114557984768 mirror 2 wanted 1250553 found 1250557",
        "BTRFS info (device sdb1): bdev /dev/sdb1 errs: wr 0, rd 0, flush 0, corrupt 122994, gen 0",
        "EXT4-fs error (device dm-0): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0",
        "XFS (sdb1): Metadata corruption detected at xfs_agf_read_verify, xfs_agf block 0x1",
        "md/raid:md1: Disk failure on nvme2n1p4, disabling device.",
    ],
)
def test_a_log_in_which_another_file_system_reports_trouble_is_not_good(line):
    whole = REPORT.replace("-    24", "-    0")
    assert not triage([("p", f"[  101.630706] {line}\n\n{whole}")]).good


CAM = """({disk}:mps0:0:12:0): {command}. CDB: 35 00 00 00 00 00 00 00 00 00
({disk}:mps0:0:12:0): CAM status: SCSI Status Error
({disk}:mps0:0:12:0): SCSI status: Check Condition
({disk}:mps0:0:12:0): SCSI sense: ILLEGAL REQUEST asc:{asc}
({disk}:mps0:0:12:0): Error 22, Unretryable error
"""


@pytest.mark.parametrize(
    ("command", "asc", "severity"),
    [
        ("SYNCHRONIZE CACHE(10)", "20,0 (Invalid command operation code)", "info"),
        ("UNMAP", "24,0 (Invalid field in CDB)", "info"),
        ("WRITE(10)", "21,0 (Logical block address out of range)", "act"),
        ("READ(10)", "24,0 (Invalid field in CDB)", "watch"),
    ],
)
def test_what_a_disk_may_refuse_is_no_fault_of_it_on_freebsd_either(command, asc, severity):
    found = triage([("p", CAM.format(disk="da3", command=command, asc=asc))])
    assert [(each.severity, each.title.partition(" ")[0]) for each in found.situations] == [(severity, "da3")]


NO_KERNEL = """Dec 10 19:21:39 nas1 ahcich1: Timeout on slot 2 port 0
Dec 10 19:21:39 nas1 (aprobe1:ahcich1:0:0:0): ATA_IDENTIFY. ACB: ec 00 00 00 00 40 00 00 00 00 00 00
Dec 10 19:21:39 nas1 (aprobe1:ahcich1:0:0:0): CAM status: Command timeout
Dec 10 19:21:39 nas1 (aprobe1:ahcich1:0:0:0): Error 5, Retry was blocked
Dec 10 19:21:39 nas1 ada1 at ahcich1 bus 0 scbus1 target 0 lun 0
Dec 10 19:21:39 nas1 ada1: <ACME A4000 FS1M> s/n Z9B3K1OAAAAA detached
"""


def test_lines_of_freebsd_are_of_the_kernel_where_nothing_says_so():
    found = triage([("p", NO_KERNEL)])
    assert [each.outcome for each in found.reads] == ["read"]
    assert "ada1 was given up by the kernel" in [each.title for each in found.situations]


TWO_ON_USB = """[123456.100000] usb 2-1: USB disconnect, device number 3
[123456.110000] sd 6:0:0:0: [sdc] tag#0 FAILED Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK cmd_age=0s
[123456.110100] blk_update_request: I/O error, dev sdc, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0
[123456.120000] usb 2-2: USB disconnect, device number 4
[123456.130000] sd 7:0:0:0: [sdd] tag#0 FAILED Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK cmd_age=0s
[123456.130100] blk_update_request: I/O error, dev sdd, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0
"""


def test_two_disks_that_leave_usb_at_once_are_not_to_be_replaced():
    found = triage([("p", TWO_ON_USB)])
    assert [each.title for each in found.situations] == ["sdc loses its USB link", "sdd loses its USB link"]
    assert not {cure.kind for each in found.situations for cure in each.cures} & {"replace"}


BEHEADED = """  "smart_status": {
    "passed": true
  },
  "ata_smart_attributes": {
    "revision": 16,
    "table": [
      {
        "id": 197,
        "name": "Current_Pending_Sector",
        "value": 100,
        "worst": 100,
        "thresh": 0,
        "raw": {
          "value": 24,
          "string": "24"
        }
      }
    ]
  },
  "temperature": {
    "current": 33
  }
}
"""


@pytest.mark.parametrize("text", [BEHEADED, BEHEADED.partition('  "temperature"')[0]])
def test_a_report_in_json_without_its_beginning_is_read(text):
    found = triage([("p", text)])
    assert [each.outcome for each in found.reads] == ["partly"]
    assert [each.slug for each in found.situations] == ["disk-failing"]
    assert not found.good


WOKEN = """[ 1697.221248] ACPI: PM: Waking up from system sleep state S3
[ 1697.548260] ata5: SATA link down (SStatus 0 SControl 300)
[ 1697.549400] ata2: SATA link down (SStatus 0 SControl 300)
[ 1702.593051] ata4: link is slow to respond, please be patient (ready=0)
[ 1703.059049] ata3: link is slow to respond, please be patient (ready=0)
[ 1705.544059] ata3: SATA link up 3.0 Gbps (SStatus 123 SControl 300)
[ 1706.373048] ata4: SATA link up 3.0 Gbps (SStatus 123 SControl 300)
"""
LOST = """[ 1701.100000] ata4.00: exception Emask 0x10 SAct 0x0 SErr 0x4090000 action 0xe frozen
[ 1701.200000] ata4: SATA link down (SStatus 0 SControl 300)
"""


def test_ports_of_a_machine_that_wakes_up_are_no_disks_with_errors():
    assert not triage([("p", WOKEN)]).situations
    assert [each.slug for each in triage([("p", WOKEN + LOST)]).situations] == ["kernel-errors"]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("arcmsr9: executing hw bus reset .....", "arcmsr9 failed and was reset"),
        ("arcmsr9: wait 'abort all outstanding command' timeout", "arcmsr9 failed and was reset"),
        (
            "mpt3sas_cm1: SMP command sent to the expander (handle:0x0009, sas_address:0x5003048029c4e13f, physical_port:0x00) has timed out",
            "mpt3sas_cm1 does not reach an expander",
        ),
        (
            "mpt3sas_cm1: mpt3sas_transport_port_remove: removed: sas_addr(0x5003048029c4e100)",
            "mpt3sas_cm1 does not reach an expander",
        ),
    ],
)
def test_what_stands_between_is_named_and_no_disk_is_to_be_replaced(line, title):
    (found,) = triage([("p", f"[650030.299238] {line}\n")]).situations
    assert (found.slug, found.title, found.gate) == ("hba-fault", title, True)


def test_a_controller_of_nvme_that_is_taken_away_on_purpose_is_no_trouble():
    found = triage([("p", '[ 1108.100000] nvme nvme0: Removing ctrl: NQN "nqn.2014-08.org.example:shelf-1"\n')])
    assert not found.situations
    without = triage([("p", "[ 1108.100000] block nvme0n1: no available path - failing I/O\n")])
    assert [each.slug for each in without.situations] == ["kernel-errors"]


FMDUMP = """TIME                 UUID                                 SUNW-MSG-ID EVENT
Mar 03 {year}04:12:55.112233445 7c1b0c1e-2a1f-4a0d-b2b1-8fd0a2f2a7c0 FMD-8000-58 Diagnosed
  100%  fault.io.disk.predictive-failure

        Problem in: hc://:chassis-id=500304801f1e2d3f:serial=YVG0ABCD/ses-enclosure=0/bay=7/disk=0
           Affects: dev:///:devid=id1,sd@n5000cca05c1a2b3c//pci@0,0/disk@w5000cca05c1a2b3d,0
"""


@pytest.mark.parametrize("year", ["", "2025 "])
def test_a_log_of_the_fault_manager_names_its_fault_by_its_class(year):
    found = triage([("p", FMDUMP.format(year=year))])
    assert [(each.slug, each.severity) for each in found.situations] == [("disk-failing", "watch")]


def test_a_transfer_that_was_refused_on_freebsd_is_one_of_the_link():
    line = "(da7:mpr0:0:17:0): SCSI sense: ABORTED COMMAND asc:4b,4 (NAK received)"
    assert [each.title for each in triage([("p", line + "\n")]).situations] == ["da7 loses its link"]
