"""Alerts of storage appliances, of machines and of monitors in their own words: each is read, and says which matter it is."""

from __future__ import annotations

import pytest

from workflows.triage import triage

TEXTS = {
    "counted": ("* 12 uncorrectable errors reported for sdq (Z1Z0AAA1).\n", [("disk-failing", "watch")]),
    "self-test": ("* sdq (Z1Z0AAA1) failed a SMART selftest.\n", [("disk-failing", "act")]),
    "worn": ("* sdq (Z1Z0AAA1) has a high erase cycle count (3100) (raw (3100).\n", [("disk-worn", "watch")]),
    "hot": (
        "Disk /dev/sdq (with serial: Z1Z0AAA1) critical temperature threshold is 60 degrees celsius and the current temp is 64 degrees celsius\n",
        [("disk-hot", "act")],
    ),
    "sensor": ("* Sensor Fan3 is below critical value: 210 Assertion\n", [("enclosure-fault", "act")]),
    "power": ("* PS1 is Critical showing: Failure detected. Contact support. Incident ID: 7\n", [("enclosure-fault", "act")]),
    "slot": ("* Sensor: 'Drive Slot Drive 9' had an 'Assertion Event' (Drive Fault)\n", [("disk-failing", "act")]),
    "jbof": ('JBOF: "SHELF7" (192.0.2.1/192.0.2.2) Fans Fan1 is critical: Failed\n', [("enclosure-fault", "act")]),
    "id of Dell": ("2024-02-03 04:05:06 PDR16 Predictive failure reported for Physical Disk 0:1:7.\n", [("disk-failing", "act")]),
    "id of Dell, online": ("2024-02-03 04:05:06 PDR26 Physical Disk 0:1:7 is online.\n", []),
    "record": (
        "Record:      4\nDate/Time:   02/03/2024 04:05:06\nSource:      system\nSeverity:    Critical\nDescription: Fault detected on drive 7 in disk drive bay 1.\n",
        [("disk-failing", "act")],
    ),
    "record, ok": (
        "Record:      5\nDate/Time:   02/03/2024 05:05:06\nSource:      system\nSeverity:    Ok\nDescription: Drive 7 is operating normally.\n",
        [],
    ),
    "sentence of OpenManage": ("Drive 7 predictive failure was asserted\n", [("disk-failing", "act")]),
    "sentence of OpenManage, over": ("Drive 7 de-asserted fault state.\n", []),
    "drive array of HP": ("1244 Critical 02/03/2024 04:05 02/03/2024 04:05 1 CRITICAL: Drive Array - Drive is failed: Port 1I Box 1 Bay 7\n", [("disk-failing", "act")]),
    "ReadyNAS": ("Disk in channel 7 (Internal) changed state from ONLINE to FAILED.\n", [("disk-failing", "act")]),
    "Unraid": ("Event: Unraid Disk 7 SMART health [197]\nSubject: Warning [NAS] - current pending sector is 9\nDescription: ACME_Z1Z0AAA1 (sdq)\nImportance: warning\n", [("disk-errors", "watch")]),
    "Unraid, over": ("Event: Unraid Disk 7 message\nSubject: Notice [NAS] - Disk 7 returned to normal temperature\nDescription: ACME_Z1Z0AAA1 (sdq)\nImportance: normal\n", []),
    "Prometheus": ("alertname = SmartMediaErrors\ndevice = nvme7\nseverity = critical\ndescription = NVMe device nvme7 has 5 media errors\n", [("disk-errors", "watch")]),
    "Zabbix": ("Problem started at 04:05:06 on 2024.02.03\nProblem name: SMART [sdq sat]: Attribute Current_Pending_Sector raw value is 9\nHost: nas\nSeverity: Warning\n", [("disk-errors", "watch")]),
    "two matters": ("Dear user,\nDisk 7 on NAS has failed (or bad blocks). Please replace it.\nVolume 1 is in degraded mode.\n", [("disk-failing", "act"), ("vdev-degraded", "act")]),
    "Japanese": ("お客様各位、\nNAS 上のドライブ 7 に I/O エラーが発生しましたが、現在は正常に動作しています。\n", [("disk-errors", "watch")]),
    "Unraid, in the log": ("Mar  5 02:11:30 nas kernel: md: disk7 read error, sector=81920\n", [("disk-errors", "watch")]),
    "firmware of MegaRAID": ("C0:EVT#12044-T20: 96=Predictive failure: PD 07(e0x20/s7)\n", [("disk-failing", "act")]),
    "Netdata": ("mdstat_disks on nas is CRITICAL: md.disks md7, failed disks = 1\n", [("vdev-degraded", "act")]),
    "quoted": ('The NAS wrote "Device: /dev/sdq [SAT], 9 Currently unreadable (pending) sectors." this night.\n', [("disk-failing", "watch")]),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_an_alert_is_read_in_its_own_words(name):
    text, expected = TEXTS[name]
    read = triage([("p", text)])
    assert "read" in {each.outcome for each in read.reads}
    assert sorted((each.slug, each.severity) for each in read.situations) == expected
    assert not read.good


@pytest.mark.parametrize(
    "text",
    [
        "GPT fdisk (gdisk) version 1.0.9\n\nPartition table scan:\n  MBR: protective\n  GPT: present\n",
        "Disk /dev/sdq: 2610 cylinders, 255 heads, 63 sectors/track\n",
        "/dev/sdq: 8 bytes were erased at offset 0x00000200 (gpt): 45 46 49 20 50 41 52 54\n",
        "Device Identification VPD page:\n  Addressed logical unit:\n",
        "vg7-lv: 0 1953513472 raid raid1 2 AD 1953513472/1953513472 idle 0 0 -\n",
        "  Invalid DWord Count                                   1,204\n",
        "       tty            ada0             ada1             cpu\n tin  tout KB/t   tps  MB/s KB/t   tps  MB/s  us ni sy in id\n",
        " ? taskq_thread+0x2c0/0x4d0 [spl]\n thread_generic_wrapper+0x63/0x70 [spl]\n",
        "SATA Phy Event Counters (GP Log 0x11)\n0x0002  2          152  R_ERR response for data FIS\n",
        "slot: /dev/sg7-0  led state: NORMAL device: /dev/sdq\n",
    ],
)
def test_what_is_not_read_is_named_with_what_to_run_instead(text):
    (read,) = triage([("p", text)]).reads
    assert read.recognised
    assert "read" in read.reason


def test_a_page_of_an_article_is_no_host():
    text = "See https://wiki.example.org/Raid#Trouble\n\n[ 4711.220000] INFO: task md7_reshape:99 blocked for more than 120 seconds.\n"
    assert {each.node for each in triage([("p", text)]).reads} == {"pasted"}


def test_a_list_of_drives_in_one_line_each_is_read():
    text = "Enclosure Device ID: 7 Slot Number: {} Media Error Count: {} Predictive Failure Count: 0 PD Type: SAS Firmware state: {}\n"
    read = triage([("p", text.format(1, 22, "Failed") + text.format(2, 0, "Online, Spun Up"))])
    assert [(each.slug, "slot 1" in each.title) for each in read.situations] == [("disk-failing", True)]


def test_a_drive_that_the_topology_of_storcli_misses_is_raised():
    text = """TOPOLOGY :
========

DG Arr Row EID:Slot DID Type  State BT       Size PDC  PI SED DS3  FSpace TR
 0 -   -   -        -   RAID1 Dgrd  N    1.819 TB dflt N  N   dflt N      N
 0 0   0   7:1      1   DRIVE Onln  N    1.819 TB dflt N  N   dflt -      N
 0 0   1   -        -   DRIVE Msng  -    1.819 TB -    -  -   -    -      N
"""
    assert {each.slug for each in triage([("p", text)]).situations} == {"disk-failing", "hba-fault"}
