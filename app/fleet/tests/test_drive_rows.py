"""The words of a disk's page about the drive, and how explained situations are listed."""

from dataclasses import replace

import pytest

from app.fleet import drive_rows
from app.fleet.models import Situation
from app.fleet.views import under_causes
from workflows.facts import BayWitness, FabricFacts, Growth, LinkFacts, ModeFacts, PhyFacts, SelfTestFacts, Switch, Unknown
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
        ({"pending_defects": 3}, "Defects not yet replaced", "3", "bad"),
        ({"temperature": 61}, "Temperature", "61 °C", "bad"),
    ],
)
def test_a_sick_disk_looks_sick(changes, name, words, tone):
    said, how = row(drive_rows.condition_rows(replace(BLANK, condition=replace(WELL, **changes))), name)
    assert words in said
    assert how == tone


def test_it_shows_both_ends_of_the_link_and_what_grows():
    link = LinkFacts("host6", "0000:b3:00.0", ("expander-6:0",), "end_device-6:0:70")
    phy = PhyFacts(
        "phy-6:0:70",
        "expander-6:0",
        "port-6:0:70",
        1,
        link.end,
        BLANK_WWID,
        "",
        (9, 0, 0, 0),
        "12.0 Gbit",
        12.0,
        Growth((9, 0, 0, 0), 3600.0),
    )
    node = replace(NODE, fabric=FabricFacts((phy,), {"host6": "mpt3sas", "expander-6:0": "SEAGATE EXOS-E 5U84 6020"}, {}))
    rows = list(drive_rows.link_rows(node, replace(BLANK, paths=(replace(BLANK.paths[0], link=link),))))
    assert row(rows, "Way to sdcx")[0] == "host6 (mpt3sas) → expander-6:0 (SEAGATE EXOS-E 5U84 6020)"
    assert row(rows, "Our end, phy-6:0:70") == ("12.0 Gbit; 9 errors since its reset, 9 invalid dwords in 60 minutes added", "watch")
    assert row(rows, "Its end, port 0 phy 0") == ("phy enabled; 12 Gbps", "good")


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
