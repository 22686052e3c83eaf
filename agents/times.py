"""Moments as text: UTC, ISO 8601, with microseconds and a Z."""

from __future__ import annotations

from datetime import datetime, timezone


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_of(text: str) -> float:
    """Unix time of an ISO 8601 moment. Raises ValueError, also when no time zone is given."""
    # Python 3.9 and 3.10 do not read "Z".
    moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.timestamp()
