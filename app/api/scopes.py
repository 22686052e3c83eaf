"""What a token may be used for, and for how long one may be made. A token never has more than its person has now."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import NamedTuple

READ, OPERATE, APPROVE, METRICS = "read", "operate", "approve", "metrics"
SCOPES: Mapping[str, str] = {
    READ: "Look at everything that pages show.",
    OPERATE: "Begin runs and act in them, as far as you may.",
    APPROVE: "Approve and reject what others ask for, as far as you may.",
    METRICS: "Read /metrics, and nothing else.",
}
ACTING = frozenset({OPERATE, APPROVE})


class Life(NamedTuple):
    words: str
    lasts: timedelta


# What acts is short-lived: a token lies in files and shells, and whoever finds it acts in its person's name.
LIVES: Mapping[str, Life] = {
    "1h": Life("1 hour", timedelta(hours=1)),
    "12h": Life("12 hours, one long shift", timedelta(hours=12)),
    "30d": Life("30 days, to look only", timedelta(days=30)),
    "365d": Life("365 days, to look only", timedelta(days=365)),
}
ACTING_LASTS_MAX = LIVES["12h"].lasts


def why_not(scopes: Iterable[str], lasts: timedelta) -> str:
    """Why no token is made with these scopes for so long; "" when one may be."""
    asked = set(scopes)
    if not asked:
        return "Say what the token is for: a token with no scope opens nothing."
    if unknown := asked - set(SCOPES):
        return f"There is no scope {', '.join(sorted(unknown))}. There are: {', '.join(SCOPES)}."
    if asked & ACTING and lasts > ACTING_LASTS_MAX:
        return "A token that acts lasts 12 hours at most. Take a shorter life, or make one that only reads."
    return ""
