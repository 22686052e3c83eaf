"""JSON of a machine's management controller by Redfish: drives, volumes and storage controllers with the health that it gives them (iDRAC, iLO, XCC, OpenBMC).

Resources by DMTF's schemas Drive, Volume and StorageController: `Status.Health` is OK, Warning or Critical, and a drive has `FailurePredicted`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted._notice_kinds import of_sentence
from workflows.pasted.base import Reader, Where, document, plural, refused

LOOKED_AT = 30  # lines in which a resource names its type
DEEPEST = 12
_WELL = ("OK", "", None)
_THERE = ("Enabled", "StandbySpare", "Updating", "Quiesced", "Starting", "", None)


@dataclass(frozen=True)
class Part:
    """One resource that has a health. `kind` is of its type: "Drive", "Volume", "StorageController"."""

    kind: str
    name: str
    serial: str
    health: str
    state: str
    predicted: bool
    line: str  # the first of the text that names it


@dataclass(frozen=True)
class Parts:
    parts: tuple[Part, ...]
    torn: bool = False  # whether the text holds only a part of it


def parse(lines: Sequence[str]) -> Parts | Unparsed:
    """Every resource that has a health, at any depth; Unparsed where there is none, or the JSON is torn."""
    text = "\n".join(lines)
    try:
        found = tuple(_parts(_value(text), lines, DEEPEST))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        found = tuple(_entries(lines))
        return Parts(found, torn=True) if found else Unparsed("the JSON of Redfish is torn", text[:80])
    return Parts(found) if found else refused("Redfish", next(iter(lines), ""))


def _value(text: str) -> Any:
    """The first value of the text, as JSON or as Python writes it; raises where it is neither. `literal_eval` takes literals alone and runs nothing."""
    try:
        return document(text)
    except ValueError:
        if not text.lstrip().startswith("{'") or len(text) > TEXT_MAX:
            raise
        return ast.literal_eval(text[: text.rindex("}") + 1])


TEXT_MAX = 200_000  # characters of what Python wrote
_MESSAGE = re.compile(r"\s{0,40}[\"']Message[\"']: ?[\"']([^\"']{1,400})[\"']")
_SEVERITY = re.compile(r"\s{0,40}[\"']Severity[\"']: ?[\"'](\w{1,20})[\"']")


def _entries(lines: Sequence[str]) -> Iterator[Part]:
    """The entries of a log of which the text holds a part: each message with the severity below it."""
    message, line = "", ""
    for each in lines:
        if found := _MESSAGE.match(each[:600]):
            message, line = found.group(1), each.strip()
        elif message and (found := _SEVERITY.match(each[:600])):
            yield Part("LogEntry", message, "", found.group(1), "", False, line)
            message = ""


def _parts(value: Any, lines: Sequence[str], depth: int) -> Iterator[Part]:
    if depth and isinstance(value, list):
        for each in value:
            yield from _parts(each, lines, depth - 1)
    elif depth and isinstance(value, dict):
        status = value.get("Status")
        if isinstance(status, dict):
            yield _part(value, status, lines)
        elif isinstance(value.get("Message"), str) and isinstance(value.get("Severity"), str):
            line = next((each.strip() for each in lines if value["Message"] in each), next(iter(lines), ""))
            yield Part("LogEntry", value["Message"], "", value["Severity"], "", False, line)
        for name, each in value.items():
            if name != "Status":
                yield from _parts(each, lines, depth - 1)


def _part(value: Mapping[str, Any], status: Mapping[str, Any], lines: Sequence[str]) -> Part:
    of_type, name, serial = (_text(value.get(key)) for key in ("@odata.type", "Name", "SerialNumber"))
    called = serial or name
    return Part(
        of_type.removeprefix("#").partition(".")[0] or ("Drive" if "FailurePredicted" in value else ""),
        name or _text(value.get("Id")) or "a part without a name",
        serial,
        _text(status.get("Health")),
        _text(status.get("State")),
        value.get("FailurePredicted") is True,
        next((line.strip() for line in lines if called and called in line), next(iter(lines), "")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def situations(value: Parts, where: Where) -> tuple[Situation, ...]:
    return tuple(found for part in value.parts if (found := _of(part, where)) is not None)


def _of(part: Part, where: Where) -> Situation | None:
    if part.predicted:
        return _situation("disk-failing", "act", part, "predicts its failure", where)
    if part.health in _WELL and part.state in _THERE:
        return None
    if part.kind == "LogEntry":
        kind = of_sentence(part.name)
        return _situation(kind[1] if kind else "unexplained", kind[2] if kind else "watch", part, part.health, where)
    grave: Severity = "act" if part.health == "Critical" else "watch"
    words = f"{part.health or 'no health'}, {part.state or 'no state'}"
    if part.kind == "Drive":
        return _situation("disk-missing" if part.state == "Absent" else "disk-failing", grave, part, words, where)
    if part.kind in ("Volume", "Storage", "StorageController", "Battery"):
        return _situation("hba-fault", grave, part, words, where)
    return _situation("enclosure-fault", grave, part, words, where)


def _situation(slug: str, severity: Severity, part: Part, words: str, where: Where) -> Situation:
    member = where.member(part.serial or None) if part.serial else None
    which = f"{part.name}{f' (serial {part.serial})' if part.serial else ''}"
    return Situation(
        slug, f"{slug}:{where.node}:redfish:{part.serial or part.name}", where.node, severity,
        f"{which}: {words}",
        f"The machine's management controller says of {which}: {words}. {member.sentence + ' ' if member else ''}It is its judgement and of its moment; ask the disk itself (smartctl -x) and "
        "the pool (`zpool status -P -p`), and find the disk by its serial number before anything is taken out.",
        where.evidence(part.line[:300]),
        subject={"node": where.node, "name": part.name} | ({"serial": part.serial} if part.serial else {}) | (member.subject if member else {}),
        sure=bool(part.serial),
    )  # fmt: skip


def notes(value: Parts) -> tuple[str, ...]:
    return (
        f"{plural(len(value.parts), 'resource')} of Redfish with a health; what it calls OK says nothing of errors that ZFS or the disk counts.",
    )


READER = Reader(
    name="redfish",
    first=r"\{",
    confirm=lambda lines, i: any('"@odata.' in line or "'@odata." in line for line in lines[i : i + LOOKED_AT]),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="smartctl -x DEVICE",
)
