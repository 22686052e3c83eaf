"""JSON of an array with controllers by Dot Hill (HPE MSA, Dell ME4 and ME5, Seagate Exos X, Lenovo DS): each part with the health that the array gives it.

By their CLI reference guides every object of `show` has `health`: OK, Degraded, Fault, Unknown or N/A, and `health-reason`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Severity, Situation
from workflows.pasted.base import Reader, Where, document, plural, refused

LOOKED_AT = 40  # lines in which one of its objects names itself
DEEPEST = 16
WELL = ("OK", "N/A")
_SEVERITIES: Mapping[str, Severity] = {"Fault": "act", "Degraded": "watch", "Unknown": "watch"}
_OF_DISKS = ("drive", "drives", "disk", "disks")
_OF_VOLUMES = ("disk-group", "pool", "volume", "virtual-disk", "vdisk", "controller", "spare")


@dataclass(frozen=True)
class Part:
    kind: str  # "drive", "fan", as the object calls itself
    key: str  # its durable identity
    name: str
    serial: str
    health: str
    reason: str
    line: str


@dataclass(frozen=True)
class Array:
    parts: tuple[Part, ...]


def parse(lines: Sequence[str]) -> Array | Unparsed:
    """Every object that has a health, at any depth; Unparsed where none has, or the JSON is torn."""
    try:
        found = tuple(_parts(document("\n".join(lines)), _named(lines), DEEPEST))
    except (ValueError, RecursionError):
        return Unparsed("the JSON of the array is torn", next(iter(lines), "")[:80])
    return Array(found) if found else refused("an array's `show disks` or `show enclosures`", next(iter(lines), ""))


_QUOTED = re.compile(r'"([^"]{1,120})"')


def _named(lines: Sequence[str]) -> Mapping[str, str]:
    """Each string of the text, and the first line that holds it."""
    found: dict[str, str] = {}
    for line in lines:
        for text in _QUOTED.findall(line[:2000]):
            found.setdefault(text, line.strip()[:300])
    return found


def _parts(value: Any, lines: Mapping[str, str], depth: int) -> Iterator[Part]:
    if not depth:
        return
    if isinstance(value, list):
        for each in value:
            yield from _parts(each, lines, depth - 1)
    elif isinstance(value, dict):
        if isinstance(value.get("health"), str):
            yield _part(value, lines)
        for each in value.values():
            yield from _parts(each, lines, depth - 1)


def _part(value: Mapping[str, Any], lines: Mapping[str, str]) -> Part:
    key, kind, place, name, serial = (_text(value.get(key)) for key in ("durable-id", "object-name", "location", "name", "serial-number"))
    return Part(
        kind or key.rpartition("_")[0],
        key,
        " ".join(filter(None, (kind, name or key, f"at {place}" if place else ""))) or "a part without a name",
        serial if serial != "N/A" else "",
        value["health"],
        _text(value.get("health-reason")),
        next((lines[called] for called in (key, serial, name, value["health"]) if called in lines), value["health"]),
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def situations(value: Array, where: Where) -> tuple[Situation, ...]:
    return tuple(_of(part, where) for part in value.parts if part.health not in WELL)


def _of(part: Part, where: Where) -> Situation:
    slug = "disk-failing" if part.kind in _OF_DISKS else "hba-fault" if part.kind.rstrip("s") in _OF_VOLUMES else "enclosure-fault"
    member = where.member(part.serial) if part.serial else None
    which = f"{part.name}{f' (serial {part.serial})' if part.serial else ''}"
    return Situation(
        slug if part.health in _SEVERITIES else "unexplained", f"{slug}:{where.node}:dot-hill:{part.key or part.serial or part.name}",
        where.node, _SEVERITIES.get(part.health, "watch"),
        f"{which}: the array says {part.health[:40]}",
        f"The array says of its {which}: {part.health[:40]}. {f'Its reason: {part.reason[:300]} ' if part.reason else ''}{member.sentence + ' ' if member else ''}"
        "ZFS sees the volumes of an array and not the disks behind them: the array itself rebuilds what it can. A part that holds another one that is ill is called so as well.",
        where.evidence(part.line[:300]),
        subject={"node": where.node, "name": part.name} | ({"serial": part.serial} if part.serial else {}) | (member.subject if member else {}),
        sure=bool(part.serial),
        cures=(
            Cure("look", "See in the array's own tool what became of it since: `show disks`, `show disk-groups`, `show events`, and on the node `zpool status -P -p`."),
            Cure("reseat", "Find the part by its serial number before it is taken out, and take out none while its disk group is without redundancy or is being rebuilt."),
        ),
    )  # fmt: skip


def notes(value: Array) -> tuple[str, ...]:
    return (
        f"{plural(len(value.parts), 'part')} of an array with a health; what it calls OK says nothing of errors that ZFS counts, and the pools on it are shown by `zpool status -P -p`.",
    )


READER = Reader(
    name="dot_hill",
    first=r"\{",
    confirm=lambda lines, i: any('"response-type"' in line or '"durable-id"' in line for line in lines[i : i + LOOKED_AT]),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="show disks",
)
