"""What md says in the kernel's log: each disk and each array once, and several disks at once as one matter."""

from __future__ import annotations

import pytest

from workflows.triage import triage

GIVEN_UP = "[ 9120.11000{i}] md/raid:md7: Disk failure on {disk}, disabling device.\n[ 9120.11001{i}] md/raid:md7: Operation continuing on {left} devices.\n"


def found(text):
    read = triage([("p", text)])
    assert not read.good
    return [(each.slug, each.severity) for each in read.situations]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("md/raid1:md7: active with 1 out of 2 mirrors", [("disk-missing", "watch")]),
        ("md/raid1:md7: active with 2 out of 2 mirrors", []),
        ("md: kicking non-fresh sdq1 from array!", [("disk-missing", "watch")]),
        ("md/raid:md7: read error not correctable (sector 81920 on sdq1).", [("disk-errors", "watch")]),
        ("md/raid:md7: read error corrected (8 sectors at 81920 on sdq1)", [("disk-errors", "watch")]),
        ("md/raid:md7: not enough operational devices (2/4 failed)", [("disk-missing", "act")]),
    ],
)
def test_a_line_of_md_is_judged(line, expected):
    assert found(f"[ 4711.220000] {line}\n[ 4711.230000] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n") == expected


def test_a_disk_that_md_gave_up_is_named_once_and_its_array_too():
    assert found(GIVEN_UP.format(i=1, disk="sdq1", left=5) * 2) == [("disk-failing", "act"), ("disk-missing", "watch")]


def test_several_disks_at_once_are_one_matter_and_none_is_to_be_replaced():
    text = "".join(GIVEN_UP.format(i=i, disk=f"sd{letter}1", left=5 - i) for i, letter in enumerate("qrs"))
    read = triage([("p", text)])
    assert [each.slug for each in read.situations] == ["many-disks-offline", "disk-missing"]
    assert "Replace none of them" in read.situations[0].meaning


def test_what_the_log_and_mdstat_both_say_counts_once():
    stat = "Personalities : [raid1]\nmd7 : active raid1 sdb1[1]\n      1047552 blocks super 1.2 [2/1] [_U]\n\nunused devices: <none>\n"
    assert [slug for slug, _ in found(f"[ 4711.220000] md/raid1:md7: active with 1 out of 2 mirrors\n\n{stat}")] == ["disk-missing"]
