"""Moments as text: UTC, ISO 8601, with microseconds and a Z."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Optional

_SOON = re.compile(r"(?:(?P<days>\d{1,5}) days )?(?P<h>\d{2}):(?P<m>\d{2}):(?P<s>\d{2})")


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_of(text: str) -> float:
    """Unix time of an ISO 8601 moment. Raises ValueError, also when no time zone is given."""
    # Python 3.9 and 3.10 do not read "Z".
    moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.timestamp()


def seconds_left(eta: Optional[str]) -> float:
    """Of what ZFS says is still to go, "2 days 03:04:05"; 0 while that is not known."""
    found = _SOON.search(eta or "")
    if found is None:
        return 0.0
    return int(found["days"] or 0) * 86400.0 + int(found["h"]) * 3600 + int(found["m"]) * 60 + int(found["s"])
