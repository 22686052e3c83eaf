"""What RAID controllers, mdadm and other programs of storage write into a system's log: judged as what it is, and other programs are left alone."""

from __future__ import annotations

import pytest

from workflows.triage import triage

KERNEL = "Feb  3 04:05:06 vault2 kernel: [ 711.000000] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n"
CARDS = {
    "9000": "3w-9xxx: scsi7: AEN: ERROR (0x04:0x0002): Degraded unit:unit=7, port=9.",
    "7000": "3w-xxxx: scsi7: AEN: ERROR: Drive error: Port #9.",
    "sas": "3w-sas: scsi7: AEN: WARNING (0x04:0x0042): Primary DCB read error occurred:port=9.",
    "megaraid": "megaraid_sas 0000:7f:00.0: 9911 (699999999s/0x0001/CRIT) - VD 07/7 is now DEGRADED",
    "adaptec, a command": "aacraid:ID(0:07:0) Timeout detected on cmd[0x2a]",
    "adaptec, a drive": "aacraid:Drive 0:7:0 returning error",
    "adaptec, a bus": "aacraid:SCSI Channel[3]: Timeout Detected On 9 Command(s)",
    "adaptec, what became of it": "aacraid:ID(0:07:0); Error Event [command:0x2a]",
}


def found(text: str) -> list[tuple[str, str]]:
    read = triage([("p", text)])
    assert not read.good
    return [(each.slug, each.severity) for each in read.situations]


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("stamp", ["", "[ 711.220000] ", "Feb  3 04:05:06 vault2 kernel: "])
def test_what_a_raid_controller_reports_by_itself_is_raised_whatever_stamp_it_has(card, stamp):
    read = triage([("p", f"{stamp}{CARDS[card]}\n")])
    (one,) = read.situations
    assert (one.slug, one.severity) == ("kernel-errors", "watch")
    assert CARDS[card] in one.meaning
    assert "replace" not in {cure.kind for cure in one.cures}


def test_what_it_reports_of_its_own_work_is_no_trouble():
    assert found("[ 711.220000] 3w-9xxx: scsi7: AEN: INFO (0x04:0x0029): Verify started:unit=7.\n" + KERNEL) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mdadm[4321]: Fail event detected on md device /dev/md7, component device /dev/sdq1", [("disk-missing", "watch")]),
        ("mdadm[4321]: RebuildFinished event detected on md device /dev/md7", []),
        ("mdadm[4321]: RebuildFinished event detected on md device /dev/md7, component device  mismatches found: 512 (on raid level 1)", [("unexplained", "watch")]),
        ("qulogd[99]: event log: Users: admin, Source IP: 192.0.2.7, Content: [Storage & Snapshots] Disk 7 was removed.", [("disk-missing", "watch")]),
        ("raidmon[99]: Array 7 on vault2 is degraded", [("vdev-degraded", "act")]),
        ("raidmon[99]: Array 7 on vault2 is optimal again", []),
        ("NetworkManager[99]: device (eth7): state change: activated -> unavailable (reason 'carrier-changed')", []),
        ("sshd[99]: Connection to disk-host 7 failed", []),
    ],
)  # fmt: skip
def test_a_line_of_another_program_counts_where_the_program_is_one_of_storage(line, expected):
    assert found(f"{KERNEL}Feb  3 04:05:07 vault2 {line}\n") == expected


def test_the_disk_whose_command_a_card_gave_up_is_named():
    text = "[ 711.220000] sd 7:0:9:0: WARNING: (0x06:0x002C): Command (0x28) timed out, resetting card.\n"
    read = triage([("p", text * 3)])
    assert not [each for each in read.situations if each.slug == "unexplained"]


def test_of_a_disk_with_several_paths_the_path_is_lost():
    text = (
        "Feb  3 04:05:06 vault2 multipathd[99]: mpathq: sdq - tur checker reports path is down\n"
        "Feb  3 04:05:06 vault2 kernel: sd 7:0:9:0: [sdq] rejecting I/O to offline device\n"
        "Feb  3 04:05:06 vault2 multipathd[99]: mpathq: remaining active paths: 1\n"
    )
    (one,) = triage([("p", text)]).situations
    assert "loses its link" in one.title
    assert "replace" not in {cure.kind for cure in one.cures}


def test_two_disks_that_md_gave_up_within_a_minute_have_one_cause():
    line = "[ {at}.110000] md/raid:md7: Disk failure on {disk}, disabling device.\n"
    at_once = triage([("p", line.format(at=9120, disk="sdq1") + line.format(at=9121, disk="sdr1"))])
    apart = triage([("p", line.format(at=9120, disk="sdq1") + line.format(at=99121, disk="sdr1"))])
    assert [each.slug for each in at_once.situations] == ["many-disks-offline"]
    assert [each.slug for each in apart.situations] == ["disk-failing", "disk-failing"]


def test_a_log_of_firmware_is_read_with_a_date_in_front():
    text = "02/03/24  4:05:06: EVT#12345-02/03/24  4:05:06: 113=Unexpected sense: PD 07(e0x20/s7) Path 50000c0f02db0000, CDB: 2f 00 00 00, Sense: 3/11/00\n"
    (one,) = triage([("p", text)]).situations
    assert (one.slug, one.subject["disk"]) == ("disk-errors", "PD 07(e0x20/s7)")


def test_old_kernels_named_the_disk_alone_before_its_sense():
    read = triage([("p", "Feb  3 04:05:06 vault2 kernel: sdq: Current: sense key: Medium Error\n")])
    assert [each.subject["why"] for each in read.situations] == ["medium"]


def test_each_array_of_an_event_log_is_named_once():
    text = "".join(
        f"Event Description: State change on VD 0{i}/{i} from OPTIMAL(3) to DEGRADED(2)\nEvent Description: VD 0{i}/{i} is now DEGRADED\n"
        for i in (7, 8)
    )
    assert [each.title.partition(":")[0] for each in triage([("p", text)]).situations] == ["VD 07/7", "VD 08/8"]


def test_spares_that_mdadm_misses_are_raised_though_the_array_is_whole():
    text = (
        "This is an automatically generated mail message from mdadm\nrunning on vault2\n\nA SparesMissing event had been detected on md device /dev/md7.\n\n"
        "P.S. The /proc/mdstat file currently contains the following:\n\nPersonalities : [raid1]\nmd7 : active raid1 sdq1[0] sdr1[1]\n      9000 blocks [2/2] [UU]\n"
    )
    assert found(text) == [("spare-unavailable", "watch")]
