"""The scans in a pool's own history: what was begun when, how it ended, and how long it took."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from agents.collectors.zpool_history import Entry, History
from workflows.analysis.eta import hours, moment

FUNCTIONS = {"1": "scrub", "2": "resilver"}


@dataclass(frozen=True)
class PastScan:
    """One scan. `ended` is None while it runs, or where the history does not say how it ended."""

    function: str
    began: datetime | None
    ended: datetime | None
    outcome: str
    errors: int | None = None

    @property
    def took(self) -> str:
        if self.began is None or self.ended is None or self.ended < self.began:
            return ""
        return hours((self.ended - self.began).total_seconds())

    @property
    def tone(self) -> str:
        return "bad" if self.errors else "good" if self.outcome == "finished" and self.errors == 0 else "idle"


def past(history: History) -> tuple[PastScan, ...]:
    """Newest first."""
    return tuple(reversed(tuple(_past(history))))


def _past(history: History) -> Iterator[PastScan]:
    open_one: PastScan | None = None
    for entry in history.entries:
        if entry.kind == "internal" and entry.text.startswith("scan setup"):
            if open_one is not None:
                yield _left_open(open_one)
            open_one = PastScan(_function(entry), moment(entry), None, "runs, or its end is not in the history")
        elif entry.kind == "internal" and (end := _end(entry)) and open_one is not None:
            yield PastScan(open_one.function, open_one.began, moment(entry), *end)
            open_one = None
    if open_one is not None:
        yield open_one


def _left_open(scan: PastScan) -> PastScan:
    return PastScan(scan.function, scan.began, None, "another one began before its end was written")


def _function(entry: Entry) -> str:
    found = re.search(r"\bfunc=([0-9]+)", entry.text)
    return FUNCTIONS.get(found.group(1), f"scan of the kind {found.group(1)}") if found else "scan"


def _end(entry: Entry) -> tuple[str, int | None] | None:
    found = re.match(r"scan (done|cancelled|aborted, restarting)\b", entry.text)
    if found is None:
        return None
    errors = re.search(r"\berrors=([0-9]{1,18})\b", entry.text)
    if "complete=0" in entry.text.split():  # until 0.6 one that was cancelled is "done" too
        return "cancelled", None
    words = {"done": "finished", "cancelled": "cancelled", "aborted, restarting": "broken off to begin anew"}[found.group(1)]
    return words, int(errors.group(1)) if errors else None
