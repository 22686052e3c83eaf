"""What the kernel says of disks on USB: which port is a disk's, by the log itself; a keyboard is none; and a command of FreeBSD's alone is not good."""

from __future__ import annotations

import pytest

from workflows.triage import triage

RESET = "[ 9000.100000] usb 3-1.2: reset SuperSpeed USB device number 7 using xhci_hcd\n"
GONE = "[ 9000.200000] usb 3-1.2: USB disconnect, device number 7\n"
DISK = "[  900.100000] usb-storage 3-1.2:1.0: USB Mass Storage device detected\n[  900.200000] scsi host8: usb-storage 3-1.2:1.0\n[  901.000000] sd 8:0:0:0: [sdk] Attached SCSI disk\n"
KEYBOARD = "[  900.100000] usb 3-1.2: New USB device found, idVendor=1111, idProduct=2222, bcdDevice= 1.00\n[  900.200000] input: Some Keyboard as /devices/pci0000:00/0000:00:14.0/usb3/3-1/3-1.2/3-1.2:1.0/0003:1111:2222.0001/input/input9\n"


def titles(text: str) -> list[tuple[str, str]]:
    return [(found.severity, found.title) for found in triage([("pasted", text)]).situations]


@pytest.mark.parametrize("fault", [RESET, GONE])
def test_a_port_with_a_disk_is_called_by_the_disk(fault):
    assert titles(DISK + fault) == [("act", "sdk loses its USB link")]


@pytest.mark.parametrize("fault", [RESET, GONE])
def test_a_port_of_which_the_log_says_nothing_may_have_a_disk(fault):
    assert titles(fault) == [("watch", "usb 3-1.2 loses its USB link")]


def test_a_keyboard_is_no_disk():
    assert titles(KEYBOARD + GONE) == []


def test_lines_without_a_time_are_read_too():
    found = triage([("pasted", "\n".join(line.partition("] ")[2] for line in (DISK + GONE).splitlines()) + "\n")])
    assert [one.title for one in found.situations] == ["sdk loses its USB link"]


def test_an_abort_under_uas_is_the_disks_own_line():
    assert titles("[ 9000.100000] sd 8:0:0:0: [sdk] tag#3 uas_eh_abort_handler 0 uas-tag 4 inflight: CMD OUT\n") == [
        ("act", "sdk loses its USB link")
    ]


def test_three_disks_on_usb_that_go_together_have_one_cause():
    text = "".join(f"[ 9000.{n}00000] usb 3-1.{n}: USB disconnect, device number {n}\n" for n in (1, 2, 3))
    assert [title for _, title in titles(text)] == ["3 disks have errors in the kernel log at once"]


def test_a_port_and_its_disk_are_one():
    text = "usb 1-1: reset high-speed USB device number 7 using xhci_hcd\nsd 8:0:0:0: Device offlined - not ready after error recovery\nscsi 8:0:0:0: [sdk] killing request\nend_request: I/O error, dev sdk, sector 1024\n"
    assert titles(text) == [("act", "sdk was given up by the kernel")]


def test_a_command_of_freebsd_alone_failed_for_a_reason_that_is_not_here():
    assert titles("(ada5:ahcich5:0:0:0): READ_FPDMA_QUEUED. ACB: 60 08 10 11 12 40 00 00 00 00 00 00\n") == [
        ("watch", "ada5 failed commands")
    ]


def test_what_became_of_a_command_of_freebsd_counts_and_not_the_command():
    text = "(da5:mps0:0:9:0): READ(10). CDB: 28 00 40 00 00 00 00 00 40 00\n(da5:mps0:0:9:0): SCSI sense: MEDIUM ERROR asc:11,0 (Unrecovered read error)\n"
    assert titles(text) == [("act", "da5 reports sectors it cannot read")]


def test_a_line_that_linux_3_cut_in_two_is_one():
    text = "[80.000001] x\n[9000.214023] sd 8:0:0:0: [sdk]\n[9000.214027] Add. Sense: Unrecovered read error\n[9000.214051] end_request: I/O error, dev sdk, sector 4711\n"
    assert [title for _, title in titles(text)] == ["sdk reports sectors it cannot read"]


def test_a_stamp_without_a_fraction_is_no_part_of_the_line():
    assert [
        title for _, title in titles("Mar  3 10:11:12 vault kernel: [77] blk_update_request: critical medium error, dev sdk, sector 4711\n")
    ] == ["sdk reports sectors it cannot read, sector 4711"]
