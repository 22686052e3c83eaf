"""Drives behind a PERC as Dell's tools list them: what is failed, away or predicted is raised by its serial, and no state is not a good one."""

from __future__ import annotations

import pytest

from workflows.triage import triage

DRIVE = "Disk.Bay.{0}:Enclosure.Internal.0-1:RAID.Slot.3-1\n   Status                           = {1}\n   State                            = {2}\n   FailurePredicted                 = {3}\n   SerialNumber                     = Q0{0}\n"
OF_OMREPORT = "ID                              : 0:1:{0}\nStatus                          : {1}\nState                           : {2}\nFailure Predicted               : {3}\nSerial No.                      : Q0{0}\n"


@pytest.mark.parametrize("form", [DRIVE, "racadm storage get pdisks -o\n" + DRIVE, OF_OMREPORT])
@pytest.mark.parametrize(
    ("status", "state", "predicted", "slug"),
    [
        ("Critical", "Failed", "NO", "disk-failing"),
        ("Ok", "Online", "YES", "disk-failing"),
        ("Critical", "Offline", "NO", "disk-missing"),
        ("Non-Critical", "Rebuilding", "NO", "resilver-running"),
        ("Ok", "Turned", "NO", "unexplained"),
        ("Critical", "Online", "NO", "disk-errors"),
    ],
)
def test_each_state_that_is_not_good_is_raised(form, status, state, predicted, slug):
    found = triage([("pasted", form.format(5, status, state, predicted) + form.partition("-o\n")[2].format(6, "Ok", "Online", "NO"))])
    assert [(one.slug, one.subject["serial"]) for one in found.situations] == [(slug, "Q05")]


def test_a_drive_whose_state_stands_nowhere_is_not_well():
    assert not triage([("pasted", "Disk.Bay.5:Enclosure.Internal.0-1:RAID.Slot.3-1\n   SerialNumber                     = Q05\n")]).good
