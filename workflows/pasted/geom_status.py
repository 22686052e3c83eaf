"""`gmultipath status`, `gmirror status`, `glabel status` of FreeBSD: one table, "Name  Status  Components"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, refused, unread

GOOD = ("OPTIMAL", "N/A", "COMPLETE")
ATTACHED = "ACTIVE"  # of a provider of geli, which has no other word but SUSPENDED (lib/geom/eli and sys/geom/eli/g_eli.c of FreeBSD)
BAD_PARTS = ("FAIL", "FAILED", "BROKEN", "STALE")
WORKING = ("SYNCHRONIZING", "REBUILDING", "NEW")


@dataclass(frozen=True)
class Geom:
    """One provider. `parts` are (kernel name, state in parentheses or ""), `lines` the rows it was read from."""

    name: str
    status: str
    parts: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]

    @property
    def is_multipath(self) -> bool:
        return self.name.startswith("multipath/")


@dataclass(frozen=True)
class Geoms:
    geoms: tuple[Geom, ...]
    unread: tuple[str, ...] = ()


_ROW = re.compile(r"(\S+) +([A-Z][A-Z/]*) +(\S+)(?: \(([^)]*)\))?$")
_PART = re.compile(r"(\S+)(?: \(([^)]*)\))?$")


def parse(lines: Sequence[str]) -> Geoms | Unparsed:
    found: list[Geom] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        text = line.strip()
        row, part = _ROW.match(text), _PART.match(text)
        if text.split()[:2] == ["Name", "Status"]:
            continue
        if row:
            name, status, disk, state = row.groups()
            found.append(Geom(name, status, ((disk, state or ""),), (line,)))
        elif part and found and line.startswith(" "):
            last = found[-1]
            found[-1] = Geom(last.name, last.status, (*last.parts, (part.group(1), part.group(2) or "")), (*last.lines, line))
        else:
            stray.append(line)
    return Geoms(tuple(found), tuple(stray)) if found else refused("gmultipath status", lines[0] if lines else "")


def situations(value: Geoms, where: Where) -> tuple[Situation, ...]:
    return tuple(_judged(value, where))


def _judged(value: Geoms, where: Where) -> Iterator[Situation]:
    for geom in value.geoms:
        bad = [name for name, state in geom.parts if state.split(",")[0].upper() in BAD_PARTS]
        if (geom.status in GOOD or (geom.status == ATTACHED and geom.name.endswith(".eli"))) and not bad:
            continue
        if geom.is_multipath:
            yield _of_paths(geom, bad, where)
        elif geom.status not in GOOD:
            yield _of_others(geom, bad, where)


def _of_paths(geom: Geom, bad: Sequence[str], where: Where) -> Situation:
    left = [name for name, _ in geom.parts if name not in bad]
    member = where.member(geom.name, *[name for name, _ in geom.parts])
    lost = f"The path {', '.join(bad)} has failed. " if bad else "A path is not there. "
    rest = f"{', '.join(left)} still {'serves' if len(left) == 1 else 'serve'} it. " if left else "No path is left. "
    return Situation(
        "path-lost", f"path-lost:{where.node}:{geom.name}", where.node, "act" if len(left) <= 1 else "watch",
        f"{geom.name} is {geom.status}",
        f"{geom.name}: {lost}{rest}{member.sentence + ' ' if member else ''}If the last path fails the disk is gone for ZFS. Look at the cable, "
        "HBA port and I/O module of the lost path, then `gmultipath restore`. The disk is not to be replaced while it answers by another path.",
        where.evidence(*geom.lines),
        subject={"node": where.node, "disk": geom.name} | (member.subject if member else {}),
    )  # fmt: skip


def _of_others(geom: Geom, bad: Sequence[str], where: Where) -> Situation:
    known = geom.status in ("DEGRADED", *WORKING)
    parts = f" ({', '.join(bad)} at fault)" if bad else ""
    return Situation(
        "vdev-degraded" if known else "unexplained", f"geom:{where.node}:{geom.name}", where.node, "watch",
        f"{geom.name} is {geom.status}{parts}",
        f"GEOM says that {geom.name} is {geom.status}{parts}. It is below ZFS or beside it: a mirror for swap or for booting. See `gmirror list`.",
        where.evidence(*geom.lines),
        subject={"node": where.node, "disk": geom.name},
    )  # fmt: skip


def notes(value: Geoms) -> tuple[str, ...]:
    paths = [geom for geom in value.geoms if geom.is_multipath]
    text = f"{len(paths)} multipath disks, {sum(geom.status == 'OPTIMAL' for geom in paths)} of them with all paths." if paths else ""
    return (*unread(value.unread), text or f"{len(value.geoms)} names of disks; they say nothing of their health.")


READER = Reader(
    name="geom_status",
    first=r" *Name +Status +Components$",
    tools=("gmultipath", "glabel", "gmirror", "geom", "graid", "geli"),
    asks=lambda tool, rest: "status" in rest,
    goes_on=r" +\S|\S+/\S+ +[A-Z]",
    parse=parse,
    situations=situations,
    notes=notes,
    again="gmultipath status",
)
