"""Hours of the week: spans over midnight, over the end of the week, and when they next change."""

from __future__ import annotations

import pytest

from agents.domain.hours import DAY, WEEK, is_open, minute_of_week, next_change, spans_of, words
from agents.domain.times import seconds_of

SUN = 6 * DAY


@pytest.mark.parametrize(
    ("lines", "minute", "open_now"),
    [
        (["22:00-06:00"], 21 * 60 + 59, False),
        (["22:00-06:00"], 22 * 60, True),
        (["22:00-06:00"], 5 * 60 + 59, True),  # on Monday, from Sunday's span
        (["22:00-06:00"], 6 * 60, False),
        (["Sun 22:00-06:00"], 60, True),
        (["Mon 22:00-06:00"], 60, False),
        (["Sat-Mon 10:00-11:00"], SUN + 10 * 60, True),
        (["Sat-Mon 10:00-11:00"], DAY + 10 * 60, False),
        (["Sat 00:00-24:00"], SUN - 1, True),
        (["Sat 00:00-24:00"], SUN, False),
        (["00:00-00:00"], 17, True),
        (["12:00-13:00", "Sun 23:00-24:00"], WEEK - 1, True),
        ([], 0, False),
    ],
)
def test_a_moment_lies_within_or_without(lines, minute, open_now):
    assert is_open(spans_of(lines), minute) is open_now


@pytest.mark.parametrize(
    "lines", [["22:00-06:00"], ["Mon-Fri 20:00-06:00", "Sat-Sun 00:00-24:00"], ["Sun 23:30-00:30"], ["10:00-12:00", "11:00-13:00"]]
)
def test_the_next_change_is_the_first_minute_at_which_it_is_otherwise(lines):
    spans = spans_of(lines)
    for minute in range(0, WEEK, 53):
        wait = next_change(spans, minute)
        now = is_open(spans, minute)
        assert is_open(spans, (minute + wait) % WEEK) != now
        assert all(is_open(spans, (minute + less) % WEEK) == now for less in (0, wait // 2, wait - 1))


def test_what_is_always_open_never_changes():
    assert next_change(spans_of(["00:00-24:00"]), 5) == WEEK


def test_a_moment_is_counted_in_the_zone_that_is_given():
    at = seconds_of("2026-11-27T23:30:00Z")  # a Friday
    assert minute_of_week(at, 0) == 4 * DAY + 23 * 60 + 30
    assert minute_of_week(at, 120) == 5 * DAY + 90
    assert words(at, 120) == "Sat 01:30 (UTC+02:00)"
    assert words(at, 0) == "Fri 23:30 (UTC)"
