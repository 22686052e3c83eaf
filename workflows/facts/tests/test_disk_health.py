"""What a disk's numbers are taken for."""

from dataclasses import replace

import pytest

from agents.collectors._error_log import Unreadable, unreadable
from workflows.facts import SelfTestFacts, Unknown
from workflows.facts.read import thresholds as at
from workflows.facts.read.disk_health import findings
from workflows.tests.incident import WELL


def kinds_of(**changes):
    return replace(WELL, **changes)


def kinds(**changes):
    return [(one.kind, one.severity) for one in findings(kinds_of(**changes))]


def test_a_disk_that_is_well_has_no_finding():
    assert findings(WELL) == WELL.findings == ()


def test_a_disk_that_says_nothing_has_no_finding():
    nothing = Unknown("The disk does not say.")
    mute = kinds_of(
        temperature=nothing, temperature_trip=nothing, power_on_hours=nothing, grown_defects=nothing, pending_defects=nothing, errors=(),
        non_medium=nothing, self_tests=nothing, background=nothing, percent_used=nothing, silent="it has no SMART",
    )  # fmt: skip
    assert findings(mute) == ()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"passed": False, "verdict": "x"}, [("failing", "act")]),
        ({"passed": False, "sense": (0x5D, 0x10)}, [("failing", "act")]),
        ({"passed": False, "sense": (0x5D, 0xFF)}, [("failing", "watch")]),  # a test report
        ({"passed": False, "sense": (0x0B, 0x05)}, [("failing", "watch")]),
        ({"passed": False, "sense": (0x0B, 0x01)}, [("hot", "act")]),  # heat is no failing disk
        ({"passed": False, "critical_warning": 2}, [("hot", "act")]),
        ({"critical_warning": 1}, [("failing", "act")]),
        ({"critical_warning": 4}, [("failing", "act")]),
        ({"critical_warning": 8}, [("failing", "act")]),
        ({"critical_warning": 16}, [("failing", "act")]),
        ({"critical_warning": 32}, [("failing", "watch")]),
        ({"failing": ("Spin_Retry_Count",)}, [("failing", "act")]),
        ({"exhausted": ("Unknown_SSD_Attribute",)}, [("worn", "watch")]),
        ({"media_errors": 1}, [("failing", "watch")]),
        ({"media_errors": at.UNCORRECTED_ACT}, [("failing", "act")]),
        ({"pending_defects": 1}, [("failing", "watch")]),
        ({"pending_defects": at.PENDING_ACT}, [("failing", "act")]),
        ({"grown_defects": at.GROWN_WATCH - 1}, []),
        ({"grown_defects": at.GROWN_WATCH}, [("failing", "watch")]),
        ({"grown_defects": at.GROWN_ACT}, [("failing", "act")]),
        ({"attributes": (("reallocated", 1),)}, [("failing", "watch")]),
        ({"attributes": (("reallocated", 1),), "life_left": 90, "life_name": "SSD_Life_Left"}, []),
        ({"attributes": (("offline uncorrectable", 2),)}, [("failing", "watch")]),
        ({"attributes": (("end-to-end errors", 1),)}, [("failing", "watch")]),
        ({"attributes": (("CRC errors of the link", at.LINK_CRC_WATCH),)}, [("link", "watch")]),
        ({"attributes": (("CRC errors of the link", at.LINK_CRC_WATCH - 1),)}, []),
        ({"percent_used": at.USED_WATCH}, [("worn", "watch")]),
        ({"life_left": at.LIFE_LEFT_WATCH, "life_name": "SSD_Life_Left"}, [("worn", "watch")]),
        ({"available_spare": 12, "spare_threshold": 10}, [("worn", "watch")]),
        ({"available_spare": 100, "spare_threshold": 99}, []),  # some drives name such a threshold
        ({"available_spare": 0, "spare_threshold": 0}, []),  # an emulated drive counts neither
        ({"available_spare": 0, "spare_threshold": 5}, [("worn", "watch")]),
        ({"temperature": 60, "temperature_trip": 60}, [("hot", "act")]),
        ({"temperature": 58, "temperature_trip": 60}, [("hot", "watch")]),
        ({"temperature": 60, "temperature_trip": 255}, []),  # no valid limit
        ({"temperature": 71, "temperature_trip": Unknown("not said")}, [("hot", "watch")]),
        ({"temperature": 250, "temperature_trip": Unknown("not said")}, []),  # no number of degrees
        ({"too_hot": True}, [("hot", "watch")]),
        ({"unreadable": Unreadable(2, at.LOGGED_HOURS)}, [("failing", "watch")]),
        ({"unreadable": Unreadable(2, at.LOGGED_HOURS + 1)}, []),
        ({"unreadable": Unreadable(2, None)}, [("failing", "watch")]),  # how long ago is not known
    ],
)
def test_each_number_is_weighed(changes, expected):
    assert kinds(**changes) == expected


SHORT, LONG = "Background short", "Background long"


@pytest.mark.parametrize(
    ("tests", "fails"),
    [
        ([(LONG, 7)], ["act"]),
        ([(SHORT, 0), (LONG, 7)], ["act"]),  # a short test does not read what the long one found
        ([(LONG, 0), (LONG, 7)], []),
        ([(LONG, 0), (SHORT, 4)], []),
        ([(SHORT, 0), (SHORT, 7)], ["watch"]),  # it may not look at the place that failed
        ([(LONG, 2), (LONG, 7)], ["act"]),  # an aborted one says nothing
        ([(LONG, 15), (SHORT, 3)], ["act"]),
        ([(SHORT, 0)], []),
    ],
)
def test_a_failed_test_counts_until_a_long_one_has_passed(tests, fails):
    newest_first = tuple(SelfTestFacts(None, what, result, "words") for what, result in tests)
    assert [one.severity for one in findings(kinds_of(self_tests=newest_first))] == fails


def test_the_certain_ones_come_first():
    found = findings(kinds_of(grown_defects=5000, passed=False, verdict="FAILED!"))
    assert [one.certain for one in found] == [True, False]


@pytest.mark.parametrize(
    ("entries", "now", "expected"),
    [
        ([(100, "ICRC, ABRT")], 900, None),
        ([(100, "UNC"), (880, "UNC 8 sectors")], 900, Unreadable(2, 20)),
        ([(100, "UNC")], None, Unreadable(1, None)),
        ([(100, "UNC"), (901, "UNC")], 900, Unreadable(2, None)),  # one of the future: the log and the disk count otherwise
        ([(100, "UNC")], (1 << 16) + 300, Unreadable(1, 200)),  # the log's hours have 16 bits
    ],
)
def test_how_long_ago_a_read_failed_is_known_or_said_not_to_be(entries, now, expected):
    assert unreadable(entries, now) == expected
