"""`fmdump -e`: each kind of report is raised once, what succeeded at last is not, and no disk is named by it."""

from __future__ import annotations

import pytest

from workflows.triage import triage

HEAD = "TIME                 CLASS\n"
ROW = "Feb 03 04:05:0{i}.7777 ereport.{name}\n"


@pytest.mark.parametrize("head", ["# fmdump -e\n" + HEAD, HEAD, ""])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("io.scsi.cmd.disk.dev.rqs.merr", ["disk-errors"]),
        ("io.scsi.cmd.disk.tran", ["link-crc"]),
        ("io.scsi.cmd.disk.recovered", []),
        ("io.pciex.rc.fe-msg", ["hba-fault"]),
        ("fs.zfs.checksum", ["zfs-events"]),
        ("io.usb.qqq", ["unexplained"]),
    ],
)
def test_a_class_is_raised_once_however_often_it_was_reported(head, name, expected):
    read = triage([("p", head + ROW.format(i=1, name=name) + ROW.format(i=2, name=name))])
    assert [found.slug for found in read.situations] == expected
    assert read.reads[-1].source == "fmdump_errors"
    assert not read.good


def test_events_with_a_year_are_those_of_zpool():
    read = triage([("p", HEAD + "Feb  3 2024 04:05:06.777777777 ereport.fs.zfs.checksum\n")])
    assert [each.source for each in read.reads] == ["zpool_events"]
