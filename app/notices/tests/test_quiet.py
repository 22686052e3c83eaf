from datetime import UTC, datetime, time

import pytest

from app.notices.quiet import Quiet, next_digest

NIGHT = Quiet(time(22), time(7), "Europe/Berlin")


@pytest.mark.parametrize(
    ("at", "until"),
    [
        ("2026-11-21T20:59", None),
        ("2026-11-21T21:00", "2026-11-22T06:00"),  # winter: an hour ahead of UTC
        ("2026-11-22T03:00", "2026-11-22T06:00"),
        ("2026-11-22T06:00", None),
        ("2026-07-01T20:30", "2026-07-02T05:00"),  # summer: two
        ("2026-03-28T23:00", "2026-03-29T05:00"),  # the night in which the clock is put forward
        ("2026-10-24T23:00", "2026-10-25T06:00"),  # and back
    ],
)
def test_it_ends_when_the_clock_of_the_place_says_so(at, until):
    ends = NIGHT.until(datetime.fromisoformat(at).replace(tzinfo=UTC))
    assert ends == (datetime.fromisoformat(until).replace(tzinfo=UTC) if until else None)


def test_it_may_lie_within_one_day():
    noon = Quiet(time(12), time(13), "UTC")
    assert noon.until(datetime(2026, 1, 1, 12, 30, tzinfo=UTC)) == datetime(2026, 1, 1, 13, tzinfo=UTC)
    assert noon.until(datetime(2026, 1, 1, 13, tzinfo=UTC)) is None


def test_equal_ends_are_no_quiet_hours():
    assert Quiet(time(7), time(7), "UTC").until(datetime(2026, 1, 1, 7, tzinfo=UTC)) is None


def test_the_digest_goes_out_once_a_day_by_the_clock_of_the_place():
    morning, noon = datetime(2026, 11, 21, 7, 59, tzinfo=UTC), datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    assert next_digest("Europe/Berlin", morning) == datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
    assert next_digest("Europe/Berlin", noon) == datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
