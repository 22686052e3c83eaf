"""The words of a disk's page about the drive, and how explained situations are listed."""

from dataclasses import replace

import pytest

from agents.collectors.io_counters import IoCounters
from agents.collectors.zpool_iostat_w import BUCKETS, Histogram
from app.fleet.models import Situation
from app.fleet.pages import drive_rows
from app.fleet.views import under_causes
from workflows.facts import BayWitness, ModeFacts, OnPath, SelfTestFacts, ServiceFacts, Switch, Unknown
from workflows.tests.incident import BLANK_WWID, DISKS, NODE, WELL

BLANK = next(d for d in DISKS if d.wwid == BLANK_WWID)
SHELF = BLANK.bay.enclosure_id


def row(rows, name):
    (found,) = [(words, tone) for label, words, tone in rows if label == name]
    return found


def test_each_witness_of_a_bay_says_its_level_and_a_contradiction_is_red():
    disk = replace(BLANK, bay_witnesses=(BayWitness(1, SHELF, 70), BayWitness(3, SHELF, 71)))
    assert list(drive_rows.seat_rows(disk)) == [
        ("The kernel's link", f"bay 70 of {SHELF} (level 1)", "good"),
        ("The enclosure's own page", f"bay 71 of {SHELF} (level 3)", "bad"),
    ]


def test_a_guess_looks_like_one():
    ((_, _, tone),) = drive_rows.seat_rows(replace(BLANK, bay_witnesses=(BayWitness(7, SHELF, 70),)))
    assert tone == "watch"


def test_it_says_how_a_disk_feels():
    rows = list(drive_rows.condition_rows(BLANK))
    assert row(rows, "Last self-test") == ("Background short: Completed at 22,540 hours", "good")
    assert row(rows, "Temperature") == ("31 °C, trips at 60 °C", "good")
    assert row(rows, "Errors while it reads") == ("2,170 corrected, 11 per TiB; 0 not corrected", "good")


@pytest.mark.parametrize(
    ("changes", "name", "words", "tone"),
    [
        ({"self_tests": (SelfTestFacts(7, "Background long", 7, "Failed in segment"),)}, "Last self-test", "Failed", "bad"),
        ({"self_tests": ()}, "Last self-test", "none was ever run", "idle"),
        ({"self_tests": Unknown("no log")}, "Last self-test", "not known: no log", "watch"),
        ({"pending_defects": 3}, "Defects not yet replaced", "3", "watch"),
        ({"pending_defects": 300}, "Defects not yet replaced", "300", "bad"),
        ({"attributes": (("CRC errors of the link", 3),)}, "Crc errors of the link", "3", "good"),
        ({"attributes": (("critical warning", 4),)}, "Critical warning", "4", "bad"),
        ({"temperature": 61}, "Temperature", "61 °C", "bad"),
    ],
)
def test_a_sick_disk_looks_sick(changes, name, words, tone):
    text, how = row(drive_rows.condition_rows(replace(BLANK, condition=replace(WELL, **changes))), name)
    assert words in text
    assert how == tone


def test_a_cache_that_is_never_flushed_is_red():
    modes = ModeFacts(Switch(True, False), Unknown("no such switch"), "write through")
    words, tone = row(drive_rows.mode_rows(replace(BLANK, modes=modes)), "Write cache (WCE)")
    assert (tone, "power cut loses" in words) == ("bad", True)


def test_what_was_not_collected_says_so():
    bare = replace(BLANK, condition=Unknown("timeout"), modes=Unknown("timeout"))
    assert {tone for _, _, tone in (*drive_rows.condition_rows(bare), *drive_rows.mode_rows(bare))} == {"watch"}


def test_consequences_stand_below_their_cause_and_nothing_is_lost():
    def one(key, cause=""):
        return Situation(key=key, data={"cause": cause})

    listed = [one("a"), one("cause"), one("x", "cause"), one("y", "gone"), one("z", "cause")]
    assert [(s.key, s.explained) for s in under_causes(listed)] == [
        ("a", False),
        ("cause", False),
        ("x", True),
        ("z", True),
        ("y", False),
    ]


NOT_ASKED = Unknown("it was not asked")
MEMBER = next(d for d in DISKS if d.labels and d.wwid != BLANK_WWID and drive_rows.chassis.places_of(NODE).get(d.wwid))
GUID = drive_rows.chassis.places_of(NODE)[MEMBER.wwid].leaf.guid


def service(disk, paths=NOT_ASKED, commands=NOT_ASKED, waits=NOT_ASKED):
    return list(drive_rows.service_rows(replace(NODE, service=ServiceFacts(paths, commands, waits)), disk))


@pytest.mark.parametrize(
    ("path", "words", "tone"),
    [
        (OnPath("mpatha", "active", "ready"), "a path of mpatha: active, the checker says ready", "good"),
        (OnPath("mpatha", "failed", "faulty"), "a path of mpatha: failed, the checker says faulty", "bad"),
        (OnPath("mpatha", "active", "shaky"), "a path of mpatha: active, the checker says shaky", "bad"),
        (OnPath("dm-3", None, None), "a path of dm-3: the daemon reports nothing about it", "watch"),
    ],
)
def test_each_path_of_a_map_says_how_it_is(path, words, tone):
    assert service(BLANK, paths={BLANK.names[0]: path}) == [(f"{BLANK.names[0]}, multipath", words, tone)]


def test_commands_that_timed_out_stand_out_and_what_the_kernel_does_not_count_is_not_shown():
    name = BLANK.names[0]
    counted = IoCounters(name, 90_000, 89_990, 12, 3, 0, 32)
    assert service(BLANK, commands={name: counted}) == [(f"{name}, commands", "12 of 89,990 failed, 3 timed out", "watch")]
    assert service(BLANK, commands={name: replace(counted, timed_out=0, blocked=1)})[0][2] == "bad"
    assert service(BLANK, commands={name: replace(counted, failed=None)}) == []


def test_waits_of_a_member_are_counted_by_zfs_and_a_rounded_count_is_no_count():
    reads = [0] * BUCKETS
    reads[20], reads[30], reads[31] = 1_000, 5, 2
    rows = service(MEMBER, waits={str(GUID): Histogram(str(GUID), {"disk_read": tuple(reads), "disk_write": (None, *reads[1:])})})
    assert rows == [("Reads since the import", "7 of 1,007 took longer than a second", "watch")]


def test_what_was_not_collected_is_said():
    [(_, words, tone)] = drive_rows.service_rows(replace(NODE, service=NOT_ASKED), BLANK)
    assert (words, tone) == ("not known: it was not asked", "watch")
