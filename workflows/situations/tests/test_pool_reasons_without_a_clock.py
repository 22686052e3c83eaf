"""What a pasted text without a clock says of scrubs, fill and labels."""

from __future__ import annotations

from datetime import datetime

import pytest

from workflows.situations.tests.texts import CLEAN, MIRROR, found, only, status, words
from workflows.triage import triage

# Scrubs without a clock.


@pytest.mark.parametrize(
    ("scan", "title"),
    [
        ("scrub repaired 0B in 17:00:13 with 0 errors on Sun Mar 16 16:49:34 2025", "oak: the last scrub ended on 2025-03-16"),
        ("none requested", "oak: it was never scrubbed"),
    ],
)
def test_a_text_without_a_clock_gives_a_hint_and_no_alarm(scan, title):
    one = only(status(*MIRROR, scan=scan))
    assert (one.slug, one.severity, one.title, one.sure) == ("scrub-overdue", "info", title, False)


@pytest.mark.parametrize(
    ("read_at", "is_reported"),
    [(None, False), ("2026-11-23", False), ("2026-12-27", False), ("2026-12-28", True), ("2031-01-01", True)],
)
def test_the_age_of_a_scrub_counts_to_the_day_on_which_the_text_is_read(read_at, is_reported):
    at = datetime.fromisoformat(f"{read_at}T12:00:00+00:00").timestamp() if read_at else None
    situations = triage([("text", status(*MIRROR))], read_at=at).situations
    assert [s.slug for s in situations] == (["scrub-overdue"] if is_reported else [])


def test_beside_other_trouble_no_hint_of_a_scrub_is_given():
    text = status(*MIRROR, status="Errata #4 detected.", scan="none requested")
    assert [s.slug for s in found(text)] == ["pool-errata"]


def test_the_newest_stamp_of_the_text_counts():
    others = [row.replace("5b20", "5b30") for row in MIRROR]
    elm = status(*others, pool="elm", scan=CLEAN.replace("2026", "2031"))
    lines = found(status(*MIRROR) + "\n" + elm)
    assert [(s.slug, s.subject["pool"]) for s in lines] == [("scrub-overdue", "oak")]


# Fill.

ROW = "{pool}\t{size}\t{alloc}\t{free}\t-\t-\t{frag}\t{cap}\t1.00\tONLINE\t-"


def listed(percent: int) -> str:
    row = ROW.format(pool="oak", size=10**13, alloc=10**11 * percent, free=10**13 - 10**11 * percent, frag=40, cap=percent)
    return f"root@n1:~# zpool status -P -p\n{status(*MIRROR)}\nroot@n1:~# zpool list -v -p -H\n{row}\n"


@pytest.mark.parametrize(
    ("percent", "severity", "expected"),
    [
        (80, "info", "From 90 %"),
        (89, "info", "From 90 %"),
        (90, "watch", "97 %"),
        (95, "act", "No space left"),
        (99, "act", "No space left"),
    ],
)
def test_each_fill_says_what_stops_working(percent, severity, expected):
    one = only(listed(percent))
    assert (one.slug, one.severity, f"{percent} % full" in one.title) == ("pool-filling", severity, True)
    assert expected in one.meaning


def test_a_pool_with_room_raises_nothing():
    assert found(listed(79)) == []


# Labels.

LABEL = """root@n1:~# zdb -l /dev/sdb1
------------------------------------
LABEL 0
------------------------------------
    version: 5000
    name: 'oak'
    state: 0
    txg: 100
    pool_guid: 8123456789012345
    hostid: 1
    hostname: 'n1'
    top_guid: 92222222222222
    guid: 93333333333333
    vdev_children: 1
    vdev_tree:
        type: 'disk'
        id: 0
        guid: 93333333333333
        path: '/dev/sdb1'
        ashift: 12
        asize: 1000
        is_log: 0
        create_txg: 4
    labels = {labels}
{failed}"""


def test_the_two_labels_at_the_end_are_missed():
    one = only(LABEL.format(labels="0 1 ", failed="failed to unpack label 2\nfailed to unpack label 3\n"))
    assert (one.slug, one.severity, one.subject["vdev_guid"]) == ("labels-missing", "watch", "93333333333333")
    assert all(word in words(one) for word in ("HPA", "partition", "sgdisk --backup"))


@pytest.mark.parametrize(("labels", "failed"), [("0 1 2 3 ", ()), ("0 1 2 ", (3,)), ("2 3 ", (0, 1))])
def test_whole_labels_and_other_losses_are_no_end_that_moved(labels, failed):
    text = LABEL.format(labels=labels, failed="".join(f"failed to unpack label {n}\n" for n in failed))
    assert not [s for s in found(text) if s.slug == "labels-missing"]
