"""A text that says nothing of the health of any disk or pool is read and not good, and a line without a time is not lost among those that have one."""

from __future__ import annotations

import pytest

from workflows.triage import triage

QUIET = {
    "the boot of a driver": "[    2.100000] ahci 0000:00:1f.2: AHCI 0001.0300 32 slots 6 ports 6 Gbps 0x3f impl SATA mode\n[    2.200000] megaraid_sas 0000:02:00.0: FW now in Ready state\n",
    "disks found": "[    3.100000] scsi 2:0:9:0: SATA: handle(0x001f), sas_addr(0x500304800023919c), phy(28), device_name(0x5000c500aaaa0001)\n[    3.200000] sd 2:0:9:0: [sdk] Attached SCSI disk\n",
    "a reset while a hub starts": "[    8.300000] usb 5-1: device not accepting address 2, error -71\n[    8.900000] usb-storage 5-1.1:1.0: USB Mass Storage device detected\n",
    "a drive without its state": "Drive /c0/e8/s9 - Detailed Information :\n=======================================\n\nDrive /c0/e8/s9 State :\n======================\nMedia Error Count = 0\nPredictive Failure Count = 0\n\n\nDrive /c0/e8/s9 Device attributes :\n==================================\nSN =         Q0009\n",
}


@pytest.mark.parametrize("name", QUIET)
def test_what_says_nothing_of_health_is_read_and_is_not_good(name):
    found = triage([("pasted", QUIET[name])])
    assert found.understood
    assert not found.situations
    assert not found.good


def titles(text: str) -> list[tuple[str, str]]:
    return [(found.slug, found.title) for found in triage([("pasted", text)]).situations]


def test_a_line_of_the_kernel_without_a_time_counts_beside_those_with_one():
    text = "nvme nvme9: I/O 416 QID 1 timeout, aborting\n\n[ 2659.051304] Call Trace:\n[ 2659.051311]  __schedule+0x291/0x8a0\n"
    assert ("kernel-errors", "nvme9 did not answer in time") in titles(text)


def test_a_transfer_that_failed_on_the_bus_is_the_link_and_not_the_disk():
    text = "[  900.100000] ata9.00: exception Emask 0x10 SAct 0x3 SErr 0x0 action 0x6 frozen\n[  900.200000] ata9.00: irq_stat 0x08000000, interface fatal error\n"
    assert titles(text) == [("kernel-errors", "ata9.00 loses its link")]


def test_errors_of_data_name_their_pool_where_no_member_is_named():
    text = "Mar 28 10:20:25 vault zed[71]: eid=182 class=data pool='backup9' priority=3 err=6 flags=0xc801 bookmark=0:61:0:0\n"
    assert [title.partition(" reports ")[2] for _, title in titles(text)] == ["1 error of the pool backup9"]


def test_a_member_that_macos_cannot_open_is_away():
    text = "Sep  7 18:56:31 mac kernel[0]: ZFS: vdev_disk_open('/private/var/run/disk/by-id/media-BB32') failed error 2\n"
    assert titles(text) == [("kernel-errors", "media-BB32 was given up by the kernel")]


def test_an_enclosure_of_a_smart_array_that_is_not_well_is_told():
    text = "Smart Array P999 in Slot 3\n\n\n   Apollo 9999  at Port 1I, Box 1, {0}\n\n   Array A (SAS, Unused Space: 0  MB)\n\n      physicaldrive 3I:1:9 (port 3I:box 1:bay 9, SAS, 1 TB, OK)\n"
    assert titles(text.format("OK")) == []
    assert [slug for slug, _ in titles(text.format("Failed"))] == ["hba-fault"]


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        ("CRITICAL: mdstat:[md0(9.99 MiB raid1):UU]; sas2ircu:[ctrl #0: SAS2IRCU Unknown exit]", "unexplained"),
        ('RAID WARNING: 1 array not ok - Array "VAULT:1" is in state "clean, degraded, recovering" (raid1)', "vdev-degraded"),
        ("CRITICAL: megacli:[Volumes(1): DISK0.0:Degraded; Devices(2): 11,10=Online]", "hba-fault"),
    ],
)
def test_a_check_of_raid_is_judged_by_what_it_names(line, slug):
    assert [found for found, _ in titles(line + "\n")] == [slug]


def test_a_disk_that_is_not_ready_is_told_beside_a_pool_that_is_well():
    assert titles("[ 1359.601665] sd 1:0:0:0: [sdk] Device not ready\n") == [("kernel-errors", "sdk answers that it is not ready")]


@pytest.mark.parametrize("at", ["    3.499123", " 9003.499123"])
def test_errors_of_a_pcie_link_are_told_of_the_first_minute_too_where_the_log_has_no_later_line(at):
    text = f"[{at}] pcieport 0000:00:1d.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, id=00e8(Receiver ID)\n"
    assert [title for _, title in titles(text)] == ["PCIe links of pasted report errors"]


def test_a_link_of_pcie_that_did_not_recover_is_graver_than_one_that_did():
    text = "[ 9003.499123] ahci 0000:01:00.0: AER: can't recover (no error_detected callback)\n"
    assert [found.severity for found in triage([("pasted", text)]).situations] == ["act"]


def test_lines_of_a_log_in_a_frame_are_read():
    row = "Nov 8 00:26:1{0} kernel: [306450.05634{0}] blk_update_request: critical medium error, dev nvme9n1, sector 1725 op 0x0:(READ) flags 0x0"
    text = "".join(f"{left}{row.format(n)}      │\n" for n, left in enumerate("┌│└"))
    assert titles(text) == [("kernel-errors", "nvme9n1 reports sectors it cannot read, sector 1725")]


def test_a_drive_with_errors_that_nobody_judges_is_not_good():
    text = "Adapter #0\n\nEnclosure Device ID: 32\nSlot Number: 9\nMedia Error Count: 0\nOther Error Count: {0}\nPredictive Failure Count: 0\nFirmware state: Online, Spun Up\n\nExit Code: 0x00\n"
    assert triage([("pasted", text.format(0))]).good
    assert not triage([("pasted", text.format(4711))]).good


def test_a_drive_of_a_volume_with_spans_is_read():
    text = "-- Disk information --\n-- ID    | Type | Drive Model | Size     | Status           | Speed    | Temp | Slot ID  | LSI Device ID\nc0u1s0p1 | HDD  | MAKER Q09 | 278.8 Gb | Failed | 6.0Gb/s  | 29C  | [32:3]   | 3\n"
    assert [slug for slug, _ in titles(text)] == ["disk-failing"]


@pytest.mark.parametrize("length", range(len("errors: "), len("errors: No known data errors")))
def test_the_line_of_damage_that_is_cut_within_tells_of_none(length):
    text = (
        "\t    sdq                   ONLINE       0     0     0\n\t    sdr                   ONLINE       3     0     0\n\n"
        + "errors: No known data errors"[:length]
        + "\n"
    )
    assert [slug for slug, _ in titles(text)] == ["disk-errors"]


def test_a_line_of_the_kernel_behind_the_name_of_its_host_alone_is_read():
    rows = ("IOC Fault 0x40000d04, Resetting", "Reinitializing controller", "IOCCapabilities: 5a85c")
    text = "".join(f"   vault kernel: [238{n}] mps9: {row}\n" for n, row in enumerate(rows))
    assert [slug for slug, _ in titles(text)] == ["hba-fault"]
