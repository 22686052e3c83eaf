"""Rows of `zpool status` whose pool is not named: a part of a tree, with or without the columns of -c. Where a row stands is not known.

What they say of a member by name counts. Nothing of it is a tree: which redundancy is left is not known, and no guard reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted._rounded import about
from workflows.pasted.base import Reader, Where, median, number, refused, unread

OF_SOLARIS = re.compile(
    r"c[0-9]"
)  # `zpool create` takes no pool whose name begins so: it is a disk's (zpool_name_valid in lib/libzfs/libzfs_pool.c)
HEADING = ("NAME", "STATE", "READ", "WRITE", "CKSUM")
INTERIOR = re.compile(r"(?:mirror|raidz[123]?|draid\S*|replacing|spare|indirect)(?:-[0-9]+)?$")
GOOD = ("ONLINE", "AVAIL", "INUSE")
BAD = ("DEGRADED", "FAULTED", "UNAVAIL", "OFFLINE", "REMOVED", "SUSPENDED")
SECTIONS = ("logs", "cache", "spares", "special", "dedup")
WELL = "errors: No known data errors"
DOWN = ("FAULTED", "UNAVAIL", "SUSPENDED")
HOT, VERY_HOT = 60, 70  # degrees Celsius: what makers of disks call their limit, and beyond it


@dataclass(frozen=True)
class Row:
    """One vdev. Counters are numbers, rounded ones included. `more` is the columns of -c by their headings."""

    name: str
    state: str
    counters: tuple[float, float, float]
    more: Mapping[str, str]
    rest: str
    line: str
    is_spare: bool = False
    holds: bool = False  # whether the next row stands deeper


@dataclass(frozen=True)
class Rows:
    rows: tuple[Row, ...]
    unread: tuple[str, ...] = ()
    errors: str = ""  # the line below them; "" where it is not here


def _is_torn(line: str) -> bool:
    """Whether the line that says that no data is damaged ends within its words: then it says nothing."""
    return line != WELL and WELL.startswith(line)


def parse(lines: Sequence[str]) -> Rows | Unparsed:
    heading: list[str] = list(HEADING)
    found, stray = [], []
    section = errors = ""
    for line in filter(str.strip, lines):
        words = line.split()
        section = words[0] if len(words) == 1 and words[0] in SECTIONS else section
        if tuple(words[:5]) == HEADING:
            heading = words
        elif (row := _spare(section, words, line) or _row(heading, words, line)) is not None:
            found.append(row)
        elif words[0] == "errors:":
            errors, torn = ("", [line]) if _is_torn(line.strip()) else (line.strip(), [])
            stray += torn
        elif len(words) > 1 or words[0] not in SECTIONS:
            stray.append(line)
    rows = [replace(row, holds=_depth(after) > _depth(row) and not OF_SOLARIS.match(row.name)) for row, after in pairwise(found)]
    return Rows((*rows, found[-1]), tuple(stray), errors) if found else refused("zpool status", lines[0] if lines else "")


def _depth(row: Row) -> int:
    return len(row.line) - len(row.line.lstrip())


def _spare(section: str, words: Sequence[str], line: str) -> Row | None:
    """A row below `spares`, which has no counters."""
    if section != "spares" or len(words) < 2 or words[1] not in (*GOOD, *BAD):
        return None
    return Row(words[0], words[1], (0.0, 0.0, 0.0), {}, " ".join(words[2:]), line, is_spare=True)


def _row(heading: Sequence[str], words: Sequence[str], line: str) -> Row | None:
    if len(words) < 2 or words[1] not in (*GOOD, *BAD) or words[0].endswith(":"):  # the line state: is no row
        return None
    if len(words) == 2 or words[2][0] in "(" or words[2].isalpha():  # of `zpool import`, which counts nothing
        return Row(words[0], words[1], (0.0, 0.0, 0.0), {}, " ".join(words[2:]), line)
    counters = [about(word) for word in words[2:5]]
    if None in counters or len(counters) < 3:
        return None
    read, write, cksum = (counter or 0.0 for counter in counters)
    more = dict(zip(heading[5:], words[5:], strict=False)) if len(heading) > 5 else {}
    return Row(words[0], words[1], (read, write, cksum), more, "" if more else " ".join(words[5:]), line)


def situations(value: Rows, where: Where) -> tuple[Situation, ...]:
    rows = tuple(found for row in value.rows for found in (*_states(row, where), *_errors(row, where), *_heat(row, where)))
    return rows if not value.errors or value.errors == WELL else (*rows, _damage(value.errors, where))


def _damage(line: str, where: Where) -> Situation:
    return Situation(
        "data-errors", f"data-errors:{where.node}", where.node, "act",
        "a pool that is not named has damaged data",
        f"Below the rows stands: {line} Which files it is, the whole output of `zpool status -v` says. No new disk brings them back.",
        where.evidence(line),
        subject={"node": where.node},
        sure=False,
    )  # fmt: skip


def _states(row: Row, where: Where) -> Iterator[Situation]:
    if row.is_spare:
        yield from _of_spare(row, where)
        return
    if row.state not in BAD:
        return
    interior = bool(INTERIOR.match(row.name))
    if row.state in DOWN and (interior or row.holds):
        yield _of_vdev(row, where) if interior else _of_pool(row, where)
        return
    slug = "disk-faulted" if row.state == "FAULTED" and not interior else "vdev-degraded"
    yield Situation(
        slug, f"{slug}:{where.node}:{row.name}", where.node, "act",
        f"{row.name} is {row.state}",
        f"The row of {row.name} says {row.state}{' (' + row.rest + ')' if row.rest else ''}. Its pool and the rows around it are not here, so how "
        "many more losses that pool survives is not known. Paste the whole output of `zpool status -P -p` before anything is replaced.",
        where.evidence(row.line),
        subject={"node": where.node, "vdev_guid": row.name},
        sure=False,
    )  # fmt: skip


def _of_pool(row: Row, where: Where) -> Situation:
    """Of a row that holds others and is no vdev: the pool itself."""
    return Situation(
        "pool-down", f"pool-down:{where.node}:{row.name}", where.node, "act",
        f"{row.name} is {row.state}",
        f"The row of the pool {row.name} says {row.state}{' (' + row.rest + ')' if row.rest else ''}: it serves nothing. What stands above its tree is not here, so neither why nor "
        "whether it is imported is known. Nothing of it is destroyed, replaced, cleared or forced before the whole output of `zpool status -P -p` and `zpool import` was seen.",
        where.evidence(row.line),
        subject={"node": where.node, "pool": row.name},
        sure=False,
        gate=True,
    )  # fmt: skip


def _of_vdev(row: Row, where: Where) -> Situation:
    return Situation(
        "pool-down", f"pool-down:{where.node}:{row.name}", where.node, "act",
        f"{row.name} is {row.state}: it lacks too many of its members",
        f"The row of the vdev {row.name} says {row.state}{' (' + row.rest + ')' if row.rest else ''}: more of its members are away than it can do without, and a pool cannot "
        "do without a vdev that holds data. Its pool is not here. Find what the lost members share (HBA, cable, shelf, power) and bring them back; nothing is destroyed, replaced, "
        "cleared or forced before the whole output of `zpool status -P -p` and `zpool import` was seen.",
        where.evidence(row.line),
        subject={"node": where.node, "vdev": row.name},
        sure=False,
        gate=True,
    )  # fmt: skip


LOOK = Cure(
    "look",
    "Look at the whole tree, by path and by guid, and whether its neighbours count as well.",
    (("zpool", "status", "-v", "-P", "-p"), ("zpool", "status", "-g")),
)
WAY = Cure(
    "reseat",
    "Look at the way to the disk: the seat in the bay, the cable, the port, the shelf's module, the power; change one thing at a time.",
)


def _of_spare(row: Row, where: Where) -> Iterator[Situation]:
    if row.state == "AVAIL":
        return
    slug, what = (
        ("spare-in-use", "stands in for a member, or is held by another pool")
        if row.state == "INUSE"
        else ("spare-unavailable", "cannot stand in for a member: the next failure has no spare")
    )
    yield Situation(
        slug, f"{slug}:{where.node}:{row.name}", where.node, "watch",
        f"the spare {row.name} is {row.state}",
        f"The row of the spare {row.name} says {row.state}{' (' + row.rest + ')' if row.rest else ''}: it {what}. Its pool is not here, so which member it is about is not known. "
        "Paste the whole output of `zpool status -P -p` before anything is replaced, detached or removed.",
        where.evidence(row.line),
        subject={"node": where.node, "vdev_guid": row.name},
        sure=False,
    )  # fmt: skip


def _errors(row: Row, where: Where) -> Iterator[Situation]:
    if not any(row.counters) or row.state in BAD or INTERIOR.match(row.name):
        return
    text = ", ".join(f"{count:g} {kind}" for count, kind in zip(row.counters, ("read", "write", "checksum"), strict=True) if count)
    yield Situation(
        "disk-errors", f"disk-errors:{where.node}:{row.name}", where.node, "watch",
        f"{row.name} has counted {text} errors",
        f"{row.name} is {row.state} and has counted {text} errors. Read and write errors come from the disk, its cable or the HBA; checksum errors "
        "from anything between memory and platter. See what the kernel log and smartctl -x say of it, and whether its neighbours count as well. Its pool is not here: replace "
        "nothing before the whole tree was seen.",
        where.evidence(row.line),
        subject={"node": where.node, "vdev_guid": row.name},
        cures=(LOOK, WAY),
        sure=False,
    )  # fmt: skip


def _heat(row: Row, where: Where) -> Iterator[Situation]:
    degrees = number(row.more.get("temp", ""))
    if degrees is not None and degrees >= HOT:
        yield Situation(
            "disk-hot", f"disk-hot:{where.node}:{row.name}", where.node, "act" if degrees >= VERY_HOT else "watch",
            f"{row.name} is at {degrees:g} °C",
            f"{row.name} says that it is at {degrees:g} °C; makers allow about {HOT}. It wears faster and may switch itself off. Look at the airflow "
            "of its slot, the fans of the shelf and its neighbours.",
            where.evidence(row.line),
            subject={"node": where.node, "vdev_guid": row.name},
        )  # fmt: skip


def notes(value: Rows) -> tuple[str, ...]:
    heat = [degrees for row in value.rows if (degrees := number(row.more.get("temp", ""))) is not None]
    note = (
        (f"{len(heat)} disks at {min(heat):g} to {max(heat):g} °C, {median(heat):g} in the middle; none is hotter than the others.",)
        if heat and max(heat) - median(heat) < 10
        else ()
    )
    odd = (f"Temperatures differ: {min(heat):g} to {max(heat):g} °C, {median(heat):g} in the middle.",) if heat and not note else ()
    others = sorted({name for row in value.rows for name in row.more} - {"temp"})
    more = (f"The columns {', '.join(others)} are shown by -c and are judged by nobody.",) if others else ()
    return (*unread(value.unread), *note, *odd, *more, "What stands above the rows is not here; that the rest is well is not known.")


def _is_flat(lines: Sequence[str], i: int) -> bool:
    """Whether the rows below the heading are no tree: with one, the reader of `zpool status` tells more. A pool's own row has deeper ones below it."""
    rows = list(takewhile(str.strip, lines[i + 1 : i + 6])) or [line for line in lines[i + 1 : i + 6] if line.strip()]
    found = [row for line in rows if (row := _row(HEADING, line.split(), line)) is not None]
    return bool(found) and len(set(map(_depth, found))) == 1


READER = Reader(
    name="status_rows",
    first=r" *NAME +STATE +READ +WRITE +CKSUM(?: |$)",
    confirm=_is_flat,
    tools=(),
    inside=frozenset(("zpool_status", "zpool_status_guid", "zpool_import", "status_rows")),
    goes_on=r" *NAME +STATE| *\S+ +[A-Z]+ +[0-9]",
    open_ended=True,
    parse=parse,
    situations=situations,
    notes=notes,
    again="zpool status -P -p",
)
