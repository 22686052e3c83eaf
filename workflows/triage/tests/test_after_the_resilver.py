"""What is claimed of a text that does not hold it: a resilver's source, whose fault damage is, an empty list, a status without an answer."""

from __future__ import annotations

import pytest

from workflows.triage import triage

RESILVER = """  pool: brook
 state: DEGRADED
status: One or more devices is currently being resilvered.  The pool will
        continue to function, possibly in a degraded state.
action: Wait for the resilver to complete.
  scan: resilver in progress since Sat May 18 19:45:12 2024
        6.18T scanned at 644M/s, 4.26T issued at 444M/s, 6.42T total
        123G resilvered, 66.46% done, 0 days 01:24:38 to go
config:

        NAME               STATE     READ WRITE CKSUM
        brook              DEGRADED     0     0     0
          mirror-0         DEGRADED     0     0     0
            replacing-0    DEGRADED     0     0     0
              wwn-0x5001a  OFFLINE      0     0     0
              wwn-0x5001b  ONLINE       0     0     0  (resilvering)
            wwn-0x5001c    {row}
          mirror-1         ONLINE       0     0     0
            wwn-0x5001d    ONLINE       0     0     0
            wwn-0x5001e    ONLINE       0     0     0

errors: No known data errors
"""
DAMAGED = """  pool: brook
 state: DEGRADED
status: One or more devices has experienced an error resulting in data
        corruption.  Applications may be affected.
action: Restore the file in question if possible.  Otherwise restore the
        entire pool from backup.
  scan: resilvered 9.56T in 57h5m with 1 errors on Wed Feb  7 21:00:50 2024
config:

        NAME             STATE     READ WRITE CKSUM
        brook            DEGRADED     0     0     5
          raidz2-0       DEGRADED     0     0    10
            wwn-0x5001a  {state}     0     0     0{note}
            wwn-0x5001b  {state}     0     0     0{note}
            wwn-0x5001c  ONLINE       0     0     0

errors: 1 data errors, use '-v' for a list
"""


def read(text: str):
    return triage([("p", text)])


def of(text: str, slug: str):
    return next(one for one in read(text).situations if one.slug == slug)


@pytest.mark.parametrize(
    ("row", "slug"),
    [("DEGRADED     0     0     0  too many errors", "disk-faulted"), ("ONLINE       2     0     7", "disk-errors")],
)
def test_the_only_source_of_a_resilver_is_left_as_it_is(row: str, slug: str) -> None:
    cures = of(RESILVER.format(row=row), slug).cures
    assert (cures[0].kind, "until the resilver has ended" in cures[0].text) == ("wait", True)


def test_once_it_has_ended_the_way_to_the_disk_comes_first() -> None:
    lines = RESILVER.format(row="ONLINE       2     0     7").splitlines(keepends=True)
    text = "".join(line for line in lines if " scanned at " not in line and " resilvered, " not in line)
    began = "resilver in progress since Sat May 18 19:45:12 2024"
    text = text.replace(began, "resilvered 123G in 02:10:11 with 0 errors on Sat May 18 21:55:23 2024")
    assert of(text, "disk-errors").cures[0].kind == "reseat"


def test_marks_without_counts_are_not_called_no_errors() -> None:
    meaning = of(DAMAGED.format(state="DEGRADED", note="  too many errors"), "data-errors").meaning
    assert "ZFS half gave up wwn-0x5001a, wwn-0x5001b after too many of them" in meaning
    assert "none counts" not in meaning


def test_a_vdev_that_counts_without_its_disks_names_no_disk() -> None:
    meaning = of(DAMAGED.format(state="ONLINE  ", note=""), "data-errors").meaning
    assert "raidz2-0 counted errors of its own, and none of its disks did: no disk can be named." in meaning


def test_where_nothing_counts_the_damage_is_in_the_data() -> None:
    text = DAMAGED.format(state="ONLINE  ", note="").replace("0    10", "0     0")
    assert "Every member serves and none counts an error now" in of(text, "data-errors").meaning


# A text without the line that the claim is about

BARE_TREE = """NAME             STATE     READ WRITE CKSUM
brook            DEGRADED     0     0     0
  mirror-0       DEGRADED    26     0     0
    wwn-0x5001a  DEGRADED    28     0     2  too many errors
    wwn-0x5001b  FAULTED     17     0     1  too many errors
"""
SUSPENDED = """  pool: brook
 state: SUSPENDED
status: One or more devices are faulted in response to IO failures.
action: Make sure the affected devices are connected, then run 'zpool clear'.
config:

        NAME           STATE     READ WRITE CKSUM
        brook          UNAVAIL      0     0     0  insufficient replicas
          ...
          wwn-0x5001a  ONLINE       0     0     0
          wwn-0x5001b  FAULTED      6   134     0  too many errors

errors: List of errors unavailable: pool I/O is currently suspended
"""


def test_a_list_that_was_not_read_is_not_called_empty() -> None:
    meaning = of(BARE_TREE, "data-errors").meaning
    assert ("errors: line is not in this text" in meaning, "empty now" in meaning) == (True, False)


def test_a_status_that_was_read_in_part_is_not_called_without_answer() -> None:
    meaning = of(SUSPENDED, "pool-suspended").meaning
    assert ("Not every line of its `zpool status`" in meaning, "gives no answer" in meaning) == (True, False)


def test_events_that_were_dropped_are_no_fault_of_the_text() -> None:
    text = """root@heron:~# zpool events
TIME                           CLASS
dropped 285 events
Feb 21 2024 20:18:22.900000000 sysevent.fs.zfs.scrub_finish
Feb 21 2024 20:18:22.924000000 sysevent.fs.zfs.scrub_start
"""
    assert [each.outcome for each in read(text).reads] == ["read"]
