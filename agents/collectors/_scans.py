"""What a `scan:` entry says beside its words: when it began and ended, how long it still takes, what it repaired.

The forms are those of print_scan_status() and its kin in cmd/zpool/zpool_main.c: OpenSolaris and illumos, OpenZFS 0.6 to 2.4, FreeBSD.
"""

from __future__ import annotations

import re

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_STAMP = r"[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>[0-9]{1,2}) (?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2}) (?P<year>[0-9]{4})"
_ENDED = re.compile(rf"(?:errors on|canceled on|error blocks? in .{{1,40}} on) {_STAMP}")
_BEGAN = re.compile(rf"(?:in progress since|started on) {{1,3}}{_STAMP}")
_PAUSED = re.compile(rf"paused since {_STAMP}")
_REPAIRED = re.compile(r"repaired (?P<after>[0-9][0-9.,]*[BKMGTPE]?) in |\s(?P<before>[0-9][0-9.,]*[BKMGTPE]?) repaired")
_DAYS = re.compile(r"(?:([0-9]{1,6}) days? )?([0-9]{1,3}):([0-9]{2}):([0-9]{2})")
_HOURS = re.compile(r"(?:([0-9]{1,6})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,2})m)?(?:([0-9]{1,2})s)?")


def ended(text: str) -> str | None:
    """When it ended or was cancelled, "2024-01-14T03:35:24" by the node's own clock and time zone; None where that is not printed."""
    return _iso(_ENDED.search(text))


def began(text: str) -> str | None:
    """When it began, in the same form; None where that is not printed."""
    return _iso(_BEGAN.search(text))


def paused(text: str) -> str | None:
    """Since when it is paused, in the same form; None where that is not printed."""
    return _iso(_PAUSED.search(text))


def repaired(text: str) -> str | None:
    """How much it repaired, rounded as it is printed: "0B", "1.2M"; None for a resilver, and where that is not printed."""
    found = _REPAIRED.search(text)
    return (found["after"] or found["before"]) if found else None


def seconds_left(eta: str | None) -> int | None:
    """Seconds of "3 days 02:11:22", "02:11:22", "13h14m" or "0h12m"; None for "no estimated completion time"."""
    if not eta:
        return None
    if (found := _DAYS.fullmatch(eta)) or ((found := _HOURS.fullmatch(eta)) and any(found.groups())):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    else:
        return None
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _iso(found: re.Match[str] | None) -> str | None:
    if found is None or found["month"] not in _MONTHS:
        return None
    return f"{found['year']}-{_MONTHS.index(found['month']) + 1:02}-{int(found['day']):02}T{found['time']}"
