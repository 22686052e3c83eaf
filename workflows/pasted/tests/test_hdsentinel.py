"""Reports of Hard Disk Sentinel: what it counts of a disk is raised, by its serial number, and no percentage is a good one."""

from __future__ import annotations

import pytest

from workflows.triage import triage

WINDOW = """  -- Physical Disk Information - Disk: #3: ACME A4000 --

    Hard Disk Summary
   -------------------
    Hard Disk Number  . . . . . . . . . . . . . . . . : 3
    Hard Disk Device  . . . . . . . . . . . . . . . . : /dev/sdd
    Hard Disk Model ID  . . . . . . . . . . . . . . . : ACME A4000
    Hard Disk Serial Number . . . . . . . . . . . . . : Z1Z0AAA1
    Current Temperature . . . . . . . . . . . . . . . : 34 C
    Health  . . . . . . . . . . . . . . . . . . . . . : ##------------------ {health} %

    {printed}
"""
CONSOLE = """HDD Device  0: /dev/sdd
HDD Model ID : ACME A4000
HDD Serial No: Z1Z0AAA1
HDD Size     : 3815447 MB
Temperature  : 34 C
Health       : {health} %
Performance  : 100 %
  {printed}
"""
WELL = "The hard disk status is PERFECT. Problematic or weak sectors were not found."


@pytest.mark.parametrize("form", [WINDOW, CONSOLE])
@pytest.mark.parametrize(
    ("health", "printed", "found"),
    [
        (100, WELL, []),
        (9, WELL, [("disk-failing", "act")]),
        (48, WELL, [("disk-failing", "watch")]),
        (88, "There are 812 bad sectors on the disk surface.", [("disk-failing", "watch")]),
        (12, "There are 44 weak sectors found on the disk surface.", [("disk-failing", "act")]),
        (97, "Failure Predicted - Attribute: 5 Reallocated Sectors Count", [("disk-failing", "act")]),
        (97, "16 errors occured during data transfer.", [("link-crc", "watch")]),
    ],
)
def test_what_it_counts_is_raised(form, health, printed, found):
    read = triage([("p", form.format(health=health, printed=printed))])
    assert [each.outcome for each in read.reads] == ["read"]
    assert [(each.slug, each.severity) for each in read.situations] == found
    assert {(each.subject["disk"], each.subject["serial"]) for each in read.situations} <= {("sdd", "Z1Z0AAA1")}
    assert not read.good
