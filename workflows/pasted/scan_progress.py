"""The lines of `zpool status` that say how far a scrub or a resilver is, without the `scan:` line above them and the tree below them.

Forms: print_scan_scrub_resilver_status() in cmd/zpool/zpool_main.c, from 0.6 to 2.3. Nothing of them says which pool it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, number, refused

_AMOUNT = r"[0-9]{1,20}(?:[.,][0-9]{1,3})?[KMGTPEZ]?i?B?"
_LEFT = r"(?:,? (?P<left>[0-9]{1,6}h[0-9]{1,2}m|[0-9]{1,6} days?,? [0-9:]{4,8}|(?:[0-9]{1,6} days )?[0-9]{1,4}:[0-9]{2}:[0-9]{2}) to go|,? \(?no estimated (?:completion )?time\)?|,? \(scan is slow, no estimated time\))?"
_SCANNED = rf"\s{{0,12}}{_AMOUNT}(?: / {_AMOUNT})? scanned(?: out of {_AMOUNT})?(?: at {_AMOUNT}/s)?(?:, {_AMOUNT}(?: / {_AMOUNT})? issued(?: at {_AMOUNT}/s)?)?(?:, {_AMOUNT} total)?{_LEFT}\s*$"
_DONE = rf"\s{{0,12}}{_AMOUNT} (?P<what>resilvered|repaired|rebuilt), (?P<percent>[0-9]{{1,3}}(?:[.,][0-9]{{1,3}})?)% done{_LEFT}\s*$"
_FIRST, _SECOND = re.compile(_SCANNED), re.compile(_DONE)


@dataclass(frozen=True)
class Progress:
    """`what` is "" where the line that tells a scrub from a resilver is not here."""

    what: str
    percent: float | None
    left: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Scans:
    scans: tuple[Progress, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Scans | Unparsed:
    found: list[Progress] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        first, second = _FIRST.match(line[:300]), _SECOND.match(line[:300])
        if first:
            found.append(Progress("", None, first.group("left") or "", (line,)))
        elif second:
            above = found.pop() if found and not found[-1].what else Progress("", None, "", ())
            left = second.group("left") or above.left
            found.append(Progress(second.group("what"), number(second.group("percent")), left, (*above.lines, line)))
        else:
            stray.append(line)
    return Scans(tuple(found), tuple(stray)) if found else refused("zpool status", next(iter(lines), ""))


def situations(value: Scans, where: Where) -> tuple[Situation, ...]:
    return tuple(
        Situation(
            "resilver-running", f"resilver-running:{where.node}:unnamed:{i}", where.node, "watch",
            f"a pool that is not named resilvers, {scan.percent:g} % done" if scan.percent is not None else "a pool that is not named resilvers",
            "A resilver is under way; whose, and how many more losses that pool survives meanwhile, these lines do not say. Wait for its end, and take no disk out or "
            f"offline before it. {f'By its own estimate {scan.left} are left; it is often wrong at the beginning. ' if scan.left else ''}`zpool status -P -p` shows the rest.",
            where.evidence(*scan.lines),
            subject={"node": where.node},
            sure=False,
        )
        for i, scan in enumerate(value.scans)
        if scan.what in ("resilvered", "rebuilt")
    )  # fmt: skip


def notes(value: Scans) -> tuple[str, ...]:
    far = [f"{scan.percent:g} % done{f', {scan.left} to go' if scan.left else ''}" for scan in value.scans if scan.percent is not None]
    return (*far[:4], "How far a scan is, and neither its pool nor the state of any disk. Paste the whole output of `zpool status -P -p`.")


READER = Reader(
    name="scan_progress",
    first=f"{_SCANNED}|{_DONE}".replace("?P<left>", "").replace("?P<what>", "").replace("?P<percent>", ""),
    goes_on=r"\s{0,12}[0-9.,]{1,20}[KMGTPEZ]?i?B? (?:/ |scanned|resilvered|repaired|rebuilt|issued)",
    strict=True,
    inside=frozenset(("zpool_status", "zpool_status_guid", "zpool_import", "zed_mail", "alerts")),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="zpool status -P -p",
)  # fmt: skip
