"""`iostat -En` of illumos and Solaris: what each disk is, and which errors the kernel has counted on it since boot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted.base import NOT_PROSE, Reader, Where, plural, refused

_COUNTS = re.compile(r"([A-Z][A-Za-z]{2,20}(?: [A-Z][A-Za-z]{1,20}){0,3}): ([0-9]{1,12})\b")
_DISK = re.compile(r"(\S+) +Soft Errors: ")
_WORDS = re.compile(
    r"(Vendor|Product|Revision|Serial No): (\S(?:.{0,40}?\S)?) *(?=Vendor:|Product:|Revision:|Serial No:|Device Id:|Size:|$)"
)


@dataclass
class Disk:
    """One disk. Counts by their names in lower case: "hard errors", "media error", "predictive failure analysis"."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Disks:
    disks: tuple[Disk, ...]


def parse(lines: Sequence[str]) -> Disks | Unparsed:
    found: list[Disk] = []
    for line in filter(str.strip, lines):
        heading = _DISK.match(line)
        if heading:
            found.append(Disk(heading.group(1)))
        if found:
            found[-1].counts |= {name.lower(): int(count) for name, count in _COUNTS.findall(line[:400])}
            found[-1].words |= dict(_WORDS.findall(line[:400]))
            found[-1].lines.append(line.strip())
    return Disks(tuple(found)) if found else refused("iostat -En", lines[0] if lines else "")


def situations(value: Disks, where: Where) -> tuple[Situation, ...]:
    return tuple(_judged(value, where))


def _judged(value: Disks, where: Where) -> Iterator[Situation]:
    for disk in value.disks:
        predicted, media = disk.counts.get("predictive failure analysis", 0), disk.counts.get("media error", 0)
        hard, transport = disk.counts.get("hard errors", 0), disk.counts.get("transport errors", 0)
        gone = disk.counts.get("no device", 0)
        reasons = [f"it predicted its failure {plural(predicted, 'time')}"] if predicted else []
        reasons += [f"{plural(media, 'media error')}: sectors that it could not read"] if media else []
        reasons += [f"{plural(hard, 'hard error')}"] if hard and not media else []
        reasons += [f"{plural(transport, 'transport error')}, of the cable, slot or HBA"] if transport else []
        reasons += [f"it did not answer at all {plural(gone, 'time')}"] if gone else []
        if reasons and (predicted or media or transport or hard > HARD_OF_EMPTY):
            yield _situation(disk, reasons, "act" if predicted else "watch", bool(predicted or media or not transport), where)


HARD_OF_EMPTY = 8  # drives for discs and card readers count a few hard errors at each boot


def _situation(disk: Disk, reasons: Sequence[str], severity: Severity, is_disk: bool, where: Where) -> Situation:
    serial = disk.words.get("Serial No")
    member = where.member(disk.name, serial)
    counted = [line for line in disk.lines if "Errors:" in line or "Media Error" in line or "Predictive" in line]
    return Situation(
        "disk-failing" if is_disk else "path-lost", f"disk-failing:{where.node}:{disk.name}", where.node, severity,
        f"{disk.name}: {reasons[0]}",
        f"The kernel has counted on {disk.name}{f' (serial {serial})' if serial else ''} since boot: {'; '.join(reasons)}. "
        f"{member.sentence + ' ' if member else ''}See whether the numbers grow (`iostat -en`), and what `fmdump -e` says. A disk that predicts "
        "its failure is replaced in place, with the old one left in until the new one is filled; for transport errors look at the cable first.",
        where.evidence(*counted[:4]),
        subject={"node": where.node, "disk": disk.name} | ({"serial": serial} if serial else {}) | (member.subject if member else {}),
        sure=bool(severity == "act"),
    )  # fmt: skip


READER = Reader(
    name="iostat_errors",
    first=r"\S+ +Soft Errors: [0-9]+ +Hard Errors: [0-9]+",
    tools=("iostat",),
    asks=lambda tool, rest: any(re.fullmatch(r"-(?=\w*E)\w+", word) for word in rest),
    open_ended=True,
    goes_on=NOT_PROSE,
    parse=parse,
    situations=situations,
    notes=lambda value: (f"{plural(len(value.disks), 'disk')} with counters since boot.",),
    again="iostat -En",
)
