"""Texts of senders that nobody knows: what states that a part of storage is in trouble is raised, and people's words are not."""

from __future__ import annotations

import pytest

from workflows.triage import triage

ALERTS = {
    "subject": ("Disk A7 on vault2: pool gamma is DEGRADED\n", ["vdev-degraded"]),
    "row of an event log": ("2024-02-03 04:05:06   Enc#7 SLOT 09      Device Failed\n", ["disk-failing"]),
    "disk of an array": ("Drive (/dev/nvme7n1) in RAID (media9) is offline now\n", ["disk-missing"]),
    "array": ("RAID (media9) is degraded now\n", ["vdev-degraded"]),
    "message of a webhook": ('{"event_type": "new", "message": "Pool gamma state is DEGRADED.", "status": "warning"}\n', ["vdev-degraded"]),
    "monit": (
        "Status failed Service zpool_gamma\n\n\tHost:        oss7\n\tDescription: status failed (1) -- pool 'gamma' is DEGRADED\n\nYour faithful employee,\nMonit\n",
        ["vdev-degraded"],
    ),
    "power": ("EVENT (03 May 04:05): Power Supply #7 Status has changed to: Failed.\nThe unit should be replaced.\n", ["enclosure-fault"]),
    "which disks": ("CRITICAL! PDs in FAILED status:  9 (7:9:0), WARNING! PDs in DEGRADED status: 6 (0:6:0),\n", ["disk-failing"]),
    "suspended": ("Pool gamma is suspended on oss7\n", ["pool-suspended"]),
    "damaged data": ("Pool gamma has permanent data errors\n", ["data-errors"]),
    "damaged data, counted": ("2 permanent data errors were found on pool gamma\n", ["data-errors"]),
    "damaged data, of a plugin": ("CRITICAL: Pool gamma: 3 permanent data errors detected\n", ["data-errors"]),
    "errors of a disk": ("Disk 7 has 3 uncorrectable errors\n", ["disk-errors"]),
    "the word first": ("Failed drive in bay 7 of shelf 2\n", ["disk-failing"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ALERTS)
def test_what_is_stated_of_a_part_of_storage_is_raised(name):
    text, slugs = ALERTS[name]
    read = triage([("p", text)])
    assert [found.slug for found in read.situations] == slugs
    assert not read.good


@pytest.mark.parametrize(
    "text",
    [
        "Hello,\n\npool gamma is degraded since this morning.\nWhat is to be done?\n",
        "The pool was degraded after the power cut. One drive had failed, so it was changed on Monday.\n",
        "If a disk fails in a RAID-Z2 vdev, the pool is degraded and keeps working.\n",
        "A degraded pool means that a device has failed. Usually the faulted disk is changed.\n",
        "Disk 7 is not failed, and pool gamma is healthy again.\n",
        "Redundancy is critical for large arrays. The controller battery matters as well.\n",
        "Pool gamma: 0 permanent data errors\n",
        "Pool gamma: no data errors were found\n",
        "Pool gamma, errors: No known data errors\n",
        "Maintenance on Friday: disk 7 in shelf 2 will be removed and pool gamma will be degraded.\n",
        "Action items: replace failed disk in node 7, order spare drives, check the fan of shelf 2.\n",
        "Chapter 7. Failed drives and degraded arrays\n7.1 Replacing a failed drive\n",
    ],
)
def test_prose_is_no_alert(text):
    read = triage([("p", text)])
    assert not read.situations
    assert not read.understood


def test_what_may_be_an_alert_is_named_with_what_to_run_instead():
    (read,) = triage([("p", "WARNING: -\nOAK HSG80 12000000000 HSG80 disks(disk70700:2)\n")]).reads
    assert "zpool status -P -p" in read.reason


def test_words_beside_an_output_that_is_read_raise_nothing():
    text = "The array on oss7 is degraded.\n\n$ zpool list -H -p\ngamma\t1000\t10\t990\t-\t-\t0\t1\t1.00\tONLINE\t-\n"
    assert not [found for found in triage([("p", text)]).situations if found.slug == "vdev-degraded"]


def test_a_check_below_its_heading_is_a_part_of_the_mail():
    text = "***** Nagios *****\nNotification Type: PROBLEM\nService: Volumes\nState: CRITICAL\nAdditional Info:\n\nCRITICAL - Volume Gamma is DEGRADED\n"
    assert [found.slug for found in triage([("p", text)]).situations] == ["vdev-degraded"]


def test_log_pages_without_their_command_count_for_a_disk_that_nobody_names():
    found = triage([("p", "Read error counter page  [0x3]\n  Total errors corrected = 3\n  Total uncorrected errors = 9\n")])
    assert [(each.outcome, each.source) for each in found.reads] == [("read", "sg_logs")]
    assert [(each.slug, each.title[:35]) for each in found.situations] == [("disk-failing", "A disk that the text does not name:")]


def test_an_alert_that_is_quoted_among_somebodys_own_words_is_read_and_the_words_are_not():
    text = "I have this since Monday, and I don't know why.\n\nSMART Failure Predicted on Hard Disk 7: ACME900\n\nWhat shall I do with my array? It failed once before.\n"
    read = triage([("p", text)])
    assert [(found.slug, found.evidence[0].line) for found in read.situations] == [
        ("disk-failing", "SMART Failure Predicted on Hard Disk 7: ACME900")
    ]


def test_a_check_that_is_red_keeps_what_stands_beside_it_from_being_good():
    text = (
        "$ cmk -vn vault2\nHP RAID Drive 0:A CRIT - 0:A:1I:1:7\n\n# ssacli ctrl all show config\n\nSmart Array P7 in Slot 0 (Embedded)   (sn: AAAA7777)\n\n"
        "   array A (Solid State SAS, Unused Space: 0  MB)\n\n\n      logicaldrive 1 (745.2 GB, RAID 1, OK)\n\n"
        "      physicaldrive 1I:1:7 (port 1I:box 1:bay 7, Solid State SAS, 800 GB, OK)\n"
    )
    assert not triage([("p", text)]).good


@pytest.mark.parametrize("word", ["CRIT", "CRITICAL", "WARN", "WARNING"])
def test_a_check_is_read_by_the_short_words_too(word):
    read = triage([("p", f"{word} - [/dev/sdq] - 9 pending sectors\n")])
    assert [found.slug for found in read.situations] == ["disk-failing"]


def test_the_gravest_of_a_check_comes_first():
    (one,) = triage(
        [("p", "CRITICAL: Drive  ACME900 S/N Z1Z0AAA1:  Health status: FAILED!, Reallocated_Event_Count is non-zero (1), |x=1\n")]
    ).situations
    assert "its own test says that it fails" in one.title
