"""Hours of the week in which something may run: "22:00-06:00" of each day, or "Mon-Fri 20:00-06:00", "Sat 00:00-24:00".

A span that ends at or before its begin goes on into the next day: "Fri 22:00-06:00" ends on Saturday. Moments are minutes of the week, 0
on Monday at 00:00, in whatever zone the caller counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY, WEEK = 24 * 60, 7 * 24 * 60
FORM = '"22:00-06:00", "Mon-Fri 20:00-06:00" or "Sat 00:00-24:00"'
_SPAN = re.compile(r"(?:(?P<first>[A-Z][a-z]{2})(?:-(?P<last>[A-Z][a-z]{2}))? )?(?P<begin>\d\d:\d\d)-(?P<end>\d\d:\d\d)", re.ASCII)

Spans = tuple[tuple[int, int], ...]  # (begin, end) in minutes of the week; the end may lie beyond the week's


def spans_of(lines: Iterable[str]) -> Spans:
    """Raises ValueError, with the line that is not understood."""
    return tuple(span for line in lines for span in _spans(line))


def is_open(spans: Spans, minute: int) -> bool:
    return any(begin <= at < end for begin, end in spans for at in (minute, minute + WEEK))


def next_change(spans: Spans, minute: int) -> int:
    """Minutes until it opens or closes; the whole week where it never does."""
    now = is_open(spans, minute)
    changes = (later - minute for edge in {edge % WEEK for span in spans for edge in span} for later in (edge, edge + WEEK))
    return min((wait for wait in changes if 0 < wait < WEEK and is_open(spans, (minute + wait) % WEEK) != now), default=WEEK)


def minute_of_week(at: float, utc_offset_minutes: int) -> int:
    """Of this Unix time, in a zone so many minutes east of UTC."""
    there = _there(at, utc_offset_minutes)
    return there.weekday() * DAY + there.hour * 60 + there.minute


def words(at: float, utc_offset_minutes: int) -> str:
    """The moment in that zone: "Sat 06:00 (UTC+02:00)"."""
    there = _there(at, utc_offset_minutes)
    return f"{DAYS[there.weekday()]} {there:%H:%M} ({there.tzname()})"


def _there(at: float, utc_offset_minutes: int) -> datetime:
    return datetime.fromtimestamp(at, timezone(timedelta(minutes=utc_offset_minutes)))


def _spans(line: str) -> Spans:
    found = _SPAN.fullmatch(line)
    if found is None:
        raise ValueError(line)
    begin, end = _minutes(found["begin"], line), _minutes(found["end"], line)
    if begin == DAY:
        raise ValueError(line)
    end = end if end > begin else end + DAY
    return tuple((day * DAY + begin, day * DAY + end) for day in _days(found["first"], found["last"], line))


def _minutes(clock: str, line: str) -> int:
    hour, minute = int(clock[:2]), int(clock[3:])
    if minute > 59 or hour * 60 + minute > DAY:
        raise ValueError(line)
    return hour * 60 + minute


def _days(first: str | None, last: str | None, line: str) -> tuple[int, ...]:
    """From the first to the last, over the end of the week where the last comes before it: Sat-Mon."""
    if first is None:
        return tuple(range(7))
    if first not in DAYS or (last or first) not in DAYS:
        raise ValueError(line)
    begin, end = DAYS.index(first), DAYS.index(last or first)
    return tuple((begin + more) % 7 for more in range((end - begin) % 7 + 1))
