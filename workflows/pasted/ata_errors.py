"""The error log of an ATA disk alone, as `smartctl -l error` prints it: somebody cut it out of the report of the disk.

Forms: `ataprint.cpp` of smartmontools, PrintSmartErrorlog and PrintSmartExtErrorLog. The log keeps the last five or so of all errors, of
any age; the hours in it say when, and the report's Power_On_Hours how long ago that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agents.collectors._error_log import HEAD, UNREADABLE, WHY
from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, plural, refused

COUNT = r"\s{0,8}(?:ATA Error Count|Device Error Count): ([0-9]{1,9})\b"
_HEAD, _COUNT = re.compile(HEAD), re.compile(COUNT)
_WHY = re.compile(WHY)
_LINK = "ICRC"


# What smartctl calls the commands, in the table below an error: the first one is the one that failed
_COMMAND = re.compile(
    r"\s{0,8}(?:[0-9a-f]{2}(?: |-)){7,13}(?:[0-9a-f]{2})? +(?:[0-9]+d\+)?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} +([A-Z\[].{1,60})"
)
_OPTIONAL = re.compile(
    r"SMART |(?:READ|WRITE) LOG|IDENTIFY|SET FEATURES|CHECK POWER|SECURITY|DEVICE CONFIGURATION|READ NATIVE MAX|SET MAX|SANITIZE|DATA SET MANAGEMENT|\[(?:RESERVED|VENDOR)|NOP"
)


@dataclass(frozen=True)
class AtaError:
    hours: int
    why: str  # "UNC", "ICRC, ABRT"; "" where the line that says it is not here
    sector: str
    line: str
    command: str = ""  # that failed; "" where the list of commands is not here

    @property
    def is_harmless(self) -> bool:
        """Whether the disk refused a command that it need not have: none of these reads or writes a block."""
        return self.why == "ABRT" and _OPTIONAL.match(self.command) is not None

    def is_one_of(self, *whys: str) -> bool:
        return not set(whys).isdisjoint(self.why.replace(",", " ").split())


@dataclass(frozen=True)
class AtaErrors:
    errors: tuple[AtaError, ...]
    count: int | None  # of all that the disk had; None where that line is not here


_OF_REPORT = re.compile(r"(?:Device Model|Serial Number|SMART overall-health[^:]{1,60}|SMART Health Status): |ID# ATTRIBUTE_NAME|\{")


def is_alone(lines: Sequence[str]) -> bool:
    """Whether the error log is all that was asked for: neither the disk's name nor its verdict nor its counters are there."""
    return any(_HEAD.match(line[:400]) for line in lines) and not any(_OF_REPORT.match(line.strip()[:200]) for line in lines)


def parse(lines: Sequence[str]) -> AtaErrors | Unparsed:
    errors: list[AtaError] = []
    count = None
    for line in lines:
        line = line[:400]
        if head := _HEAD.match(line):
            errors.append(AtaError(int(head.group(1)), "", "", line.strip()))
        elif counted := _COUNT.match(line):
            count = int(counted.group(1))
        elif errors and not errors[-1].why and (why := _WHY.match(line)):
            errors[-1] = AtaError(errors[-1].hours, why.group(1), why.group(2) or "", line.strip())
        elif errors and not errors[-1].command and (command := _COMMAND.match(line)):
            errors[-1] = replace(errors[-1], command=command.group(1).strip())
    return AtaErrors(tuple(errors), count) if errors or count is not None else refused("smartctl -l error", next(iter(lines), ""))


def situations(value: AtaErrors, where: Where) -> tuple[Situation, ...]:
    return tuple(_of(value, where))


def _of(value: AtaErrors, where: Where) -> Iterator[Situation]:
    unreadable = [error for error in value.errors if error.is_one_of(*UNREADABLE)]
    link = [error for error in value.errors if error.is_one_of(_LINK)]
    if unreadable:
        yield _situation(
            "disk-failing", unreadable, where, "could not read sectors",
            f"{_sectors(unreadable)}It is the disk itself that could not read them, and neither the cable nor the HBA. ZFS mends such a block from the other "
            "copies as long as there are any. Pending and reallocated sectors in its report say whether it goes on.",
        )  # fmt: skip
    if link:
        yield _situation(
            "link-crc", link, where, "got damaged transfers over its cable",
            "Transfers came damaged over the SATA cable. Reseat or change the cable and compare UDMA_CRC_Error_Count before and after; the disk need not be at fault.",
        )  # fmt: skip
    others = [error for error in value.errors if error.why and not error.is_harmless and error not in unreadable and error not in link]
    if others and not unreadable and not link:
        yield _situation(
            "disk-errors", others, where, f"failed commands ({', '.join(dict.fromkeys(error.why for error in others))})",
            "ABRT alone is also what a disk answers to a command that it does not know, which is harmless: the log shows the command below the error. For any "
            "other word see the disk's attributes and the kernel's log of that time.",
        )  # fmt: skip


def _sectors(errors: Sequence[AtaError]) -> str:
    sectors = list(dict.fromkeys(error.sector for error in errors if error.sector))
    return f"Sector {', '.join(sectors[:6])}. " if sectors else ""


def _situation(slug: str, errors: Sequence[AtaError], where: Where, what: str, meaning: str) -> Situation:
    hours = sorted({error.hours for error in errors})
    when = f"at {hours[0]} hours" if len(hours) == 1 else f"from {hours[0]} to {hours[-1]} hours"
    return Situation(
        slug, f"{slug}:{where.node}:ata-errors", where.node, "watch",
        f"a disk that the text does not name {what}",
        f"Its error log shows {plural(len(errors), 'such error')} {when} of its life; how long ago that was, its Power_On_Hours tell. {meaning} "
        "Which disk it is, only the whole report says: `smartctl -x` of each by its path in /dev/disk/by-id.",
        where.evidence(*(error.line for error in errors[:6])),
        subject={"node": where.node},
        sure=False,
    )  # fmt: skip


def notes(value: AtaErrors) -> tuple[str, ...]:
    counted = f" It counts {value.count} errors in all." if value.count is not None else ""
    refused_ones = [error for error in value.errors if error.is_harmless]
    harmless = (
        (f"It refused {', '.join(dict.fromkeys(error.command for error in refused_ones))}, which it need not have: harmless.",)
        if refused_ones
        else ()
    )
    return (
        *harmless,
        f"Only the error log of a disk is here, not its health.{counted} `smartctl -x DEVICE` prints the whole report.",
    )


READER = Reader(
    name="ata_errors",
    first=f"{HEAD}|{COUNT}",
    inside=frozenset(("smart",)),
    goes_on=r"\s{0,8}(?:Error [0-9]|When the command|After command|ER |-- |[0-9a-f]{2} [0-9a-f]{2} |Commands leading|CR |CR = |[A-Z]{2} ?= )",
    parse=parse,
    situations=situations,
    silent=lambda value: not any(error.why for error in value.errors),
    notes=notes,
    open_ended=True,
    again="smartctl -x DEVICE",
)
