"""`cfgadm -al` and `cfgadm -lav` of Solaris and illumos: each attachment point with its receptacle, its occupant and its condition (cfgadm(8)).

Ap_Id                          Type         Receptacle   Occupant     Condition
c1::w5000c500a1b2c3d5,0        disk-path    connected    configured   unknown
sata1/3::dsk/c2t3d0            disk         connected    configured   failing

Most drivers report every condition as unknown, and ok is by the driver's own view: neither is ever good. What is disconnected or empty is no trouble by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, plural, refused

_WORDS = r"(?P<receptacle>connected|disconnected|empty) {1,12}(?P<occupant>configured|unconfigured) {1,12}(?P<condition>\w{2,12})"
_SHORT = re.compile(rf"\s{{0,8}}(?P<point>\S{{2,120}}) {{1,40}}(?P<type>[A-Za-z][\w/-]{{1,30}}) {{1,20}}{_WORDS}\s*$")
_LONG = re.compile(rf"\s{{0,8}}(?P<point>\S{{2,120}}) {{1,40}}{_WORDS}(?: {{1,8}}(?P<what>\S.{{0,160}}))?\s*$")
_HEADING = r"\s{0,8}Ap_Id {1,40}(?:Type|Receptacle|Condition|Information)\b"
_SECOND = r"\s{0,8}(?:When {1,12}Type|unavailable {1,12}\S|[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9:]{5,8} {1,12}\S)"
_BAD = ("failing", "failed", "unusable")
_FINE = ("ok", "unknown")


@dataclass(frozen=True)
class Point:
    """An attachment point. `what` is what stands there, as far as the row says."""

    name: str
    receptacle: str
    occupant: str
    condition: str
    what: str
    line: str


@dataclass(frozen=True)
class Points:
    points: tuple[Point, ...]


def parse(lines: Sequence[str]) -> Points | Unparsed:
    rows = ((line, _SHORT.match(line[:400]) or _LONG.match(line[:400])) for line in lines)
    found = tuple(_point(line, row) for line, row in rows if row is not None)
    return Points(found) if found else refused("cfgadm", next(iter(lines), ""))


def _point(line: str, row: re.Match[str]) -> Point:
    parts = row.groupdict()
    what = parts.get("what") or parts.get("type") or ""
    return Point(row["point"], row["receptacle"], row["occupant"], row["condition"], what.strip(), line.strip())


def situations(value: Points, where: Where) -> tuple[Situation, ...]:
    return tuple(found for point in value.points for found in _of(point, where))


_DISK = re.compile(r"\b(c[0-9]{1,5}t[0-9A-Fa-f]{1,32}d[0-9]{1,5})")
_SERIAL = re.compile(r"\bSN: (\S{4,40})")


def _of(point: Point, where: Where) -> Iterator[Situation]:
    if point.condition in _FINE:
        return
    disk, serial = _DISK.search(f"{point.name} {point.what}"), _SERIAL.search(point.what)
    named = ", ".join(found.group(1) for found in (disk, serial) if found)
    member = where.member(disk.group(1) if disk else None, serial.group(1) if serial else None)
    subject = {"node": where.node, "disk": disk.group(1) if disk else point.name} | (member.subject if member else {})
    title = f"{point.name}{f' ({named})' if named else ''}: its condition is {point.condition}"
    if point.condition not in _BAD:
        yield Situation(
            "unexplained", f"unexplained:{where.node}:cfgadm:{point.name}", where.node, "watch", title,
            f"cfgadm gives {point.name} a condition that is not known here: {point.condition}.", where.evidence(point.line), subject=subject, sure=False,
        )  # fmt: skip
        return
    yield Situation(
        "disk-failing", f"disk-failing:{where.node}:cfgadm:{point.name}", where.node, "watch" if point.condition == "unusable" else "act", title,
        f"cfgadm says of the attachment point {point.name}: {point.receptacle}, {point.occupant}, {point.condition}. {member.sentence + ' ' if member else ''}"
        "That is the driver's view of the bay and what is in it. `fmadm faulty`, `iostat -En` and `zpool status -P -p` show which disk it is and what it counts; ask them before anything is unconfigured or taken out.",
        where.evidence(point.line), subject=subject, sure=False,
    )  # fmt: skip


def notes(value: Points) -> tuple[str, ...]:
    return (
        f"{plural(len(value.points), 'attachment point')} {'was' if len(value.points) == 1 else 'were'} read. ok and unknown say nothing of how a disk is; `iostat -En` and `zpool status -P -p` do.",
    )


READER = Reader(
    name="cfgadm",
    first=_HEADING,
    tools=("cfgadm",),
    goes_on=rf"{_HEADING}|{_SECOND}|{re.sub(r'[?]P<[a-z]+>', '?:', _SHORT.pattern)}|{re.sub(r'[?]P<[a-z]+>', '?:', _LONG.pattern)}",
    strict=True,
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="cfgadm -al",
)
