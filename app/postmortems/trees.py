"""How a pool stood before and after: the very lines of `zpool status`, and what differs between the two."""

import difflib
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from app.fleet.models import Node
from app.postmortems import captures
from app.postmortems.captures import NewCapture
from app.postmortems.models import Postmortem
from app.runs.models import Run

PLACE = "zpool_status"
LINES_MAX = 2000
POOL = re.compile(r"(?m)^ {0,4}pool: (\S+)$")


def before_and_after(node: str, runs: list[Run], postmortem: Postmortem, until: datetime) -> Iterator[dict[str, Any]]:
    """One for each pool that the runs are about, or that the situation is about, or that there is."""
    if not Node.objects.filter(name=node).exists():
        return
    mine = [run for run in runs if run.node == node]
    began = min((run.created_at for run in mine), default=postmortem.since)
    first, last = captures.last_before(node, PLACE, began), captures.last_before(node, PLACE, until)
    old, new = _pools(first), _pools(last)
    wanted = {run.params.get("pool", "") for run in mine} | {_of_situation(postmortem)}
    for pool in sorted({*old, *new} & wanted or {*old, *new}):
        yield {
            "node": node,
            "pool": pool,
            "before": _state(first, old.get(pool)),
            "after": _state(last, new.get(pool)),
            "difference": list(_difference(old.get(pool, []), new.get(pool, []))),
        }


def _of_situation(postmortem: Postmortem) -> str:
    return str(postmortem.situation.data.get("subject", {}).get("pool", "")) if postmortem.situation else ""


def _pools(new: NewCapture | None) -> dict[str, list[str]]:
    """The lines of each pool. A node that shows none says so in the text, and has none here."""
    capture = captures.read(new.digest) if new else None
    if capture is None or capture.outcome != "data":
        return {}
    found = list(POOL.finditer(capture.text))
    bounds = [*(pool.start() for pool in found), len(capture.text)]
    return {pool.group(1): capture.text[pool.start() : end].rstrip().split("\n") for pool, end in zip(found, bounds[1:], strict=True)}


def _state(capture: NewCapture | None, lines: list[str] | None) -> dict[str, Any]:
    at, digest, event = (capture.at, capture.digest, str(capture.event)) if capture else ("", "", "")
    return {"at": at, "digest": digest, "event": event, "lines": (lines or [])[:LINES_MAX], "known": "yes" if lines is not None else "no"}


def _difference(old: list[str], new: list[str]) -> Iterator[str]:
    if old and new:
        yield from list(difflib.unified_diff(old[:LINES_MAX], new[:LINES_MAX], n=1, lineterm=""))[2:]
