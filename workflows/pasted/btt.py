"""`btt`, which tells from a blktrace where the time of each I/O goes: queue (Q2G, G2I, I2D) or device (D2C)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, number, refused, unread, whole

PHASES = ("Q2Q", "Q2G", "S2G", "G2I", "Q2M", "I2D", "M2D", "D2C", "Q2C", "Q2A", "Q2D", "D2I")
DEVICE_SHARE = 90.0  # percent of Q2C; above it the queue is not what takes the time
SLOW_S, VERY_SLOW_S = 0.05, 0.2  # mean D2C in seconds: above what a healthy disk takes under load; above what stalls a pool
SD_MAJORS = (8, *range(65, 72), *range(128, 136))  # Documentation/admin-guide/devices.txt: sixteen disks each, sixteen minors a disk


@dataclass(frozen=True)
class Phase:
    """One row of the times, in seconds."""

    name: str
    minimum: float
    mean: float
    maximum: float
    count: int
    line: str


@dataclass(frozen=True)
class Share:
    """Where the time of one device goes: phase -> percent of Q2C. `device` is "8,160", or "Overall"."""

    device: str
    percent: tuple[tuple[str, float], ...]
    line: str

    def of(self, phase: str) -> float | None:
        return dict(self.percent).get(phase)


@dataclass(frozen=True)
class Times:
    phases: tuple[Phase, ...]
    shares: tuple[Share, ...]
    unread: tuple[str, ...] = ()

    def phase(self, name: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.name == name), None)


def parse(lines: Sequence[str]) -> Times | Unparsed:
    """The first table of times, and each device's overhead; the other tables are passed over."""
    phases: list[Phase] = []
    shares: list[Share] = []
    columns: list[str] = []
    stray: list[str] = []
    section = ""
    for line in filter(str.strip, lines):
        words = _words(line)
        if set(line.strip()) <= set("-| ="):
            continue
        if line.startswith("="):
            section = line.strip("= \t")
        elif words[0] in PHASES and len(words) >= 5 and section in ("All Devices", ""):
            phase = _phase(words, line)
            phases += [phase] if phase else []
            stray += [] if phase else [line]
        elif words[0] == "DEV":
            columns = words[1:] if set(words[1:]) & set(PHASES) else []
        elif columns and section == "Device Overhead":
            share = _share(words, columns, line)
            shares += [share] if share else []
            stray += [] if share else [line]
    return Times(tuple(phases), tuple(shares), tuple(stray)) if phases or shares else refused("btt", lines[0] if lines else "")


def _words(line: str) -> list[str]:
    """ "(  8,160) |" and "(8,160)" are one word."""
    return re.sub(r"\( *([0-9]+), *([0-9]+)\)", r"(\1,\2)", line.replace("|", " ")).split() or [""]


def _phase(words: Sequence[str], line: str) -> Phase | None:
    figures, count = [number(word) for word in words[1:4]], whole(words[4])
    if count is None or None in figures:
        return None
    low, mean, high = (figure or 0.0 for figure in figures)
    return Phase(words[0], low, mean, high, count, line)


def _share(words: Sequence[str], columns: Sequence[str], line: str) -> Share | None:
    figures = [number(word.rstrip("%")) for word in words[1:]]
    if None in figures or len(figures) != len(columns):
        return None
    return Share(words[0].strip("()"), tuple((name, figure or 0.0) for name, figure in zip(columns, figures, strict=False)), line)


def situations(value: Times, where: Where) -> tuple[Situation, ...]:
    """The device takes the time, and too much of it. A share alone says little: a healthy disk takes most of a short time."""
    took, whole_time = value.phase("D2C"), value.phase("Q2C")
    devices = [share for share in value.shares if share.device != "Overall"]
    if took is None or took.mean < SLOW_S:
        return ()
    named = [share for share in devices if (share.of("D2C") or 0) >= DEVICE_SHARE]
    if not named and not (whole_time and took.mean >= whole_time.mean * DEVICE_SHARE / 100):
        return ()
    if len(devices) == 1 and named:
        return (_situation(named[0], took, where),)
    return (_situation(None, took, where, [share.line for share in named]),)


def _situation(share: Share | None, took: Phase, where: Where, lines: Sequence[str] = ()) -> Situation:
    kernel = kernel_name(share.device) if share else None
    member = where.member(kernel)
    name = f"the disk ({share.device})" if share else "the disks of this trace"
    called = f" Its numbers are those of {kernel}, as long as names have not moved since the trace." if kernel else ""
    part = f"{share.of('D2C'):.2f} % of the time of an I/O" if share else "Nearly all of the time of an I/O"
    return Situation(
        "slow-disk", f"slow-disk:{where.node}:{share.device if share else 'btt'}", where.node, "act" if took.mean >= VERY_SLOW_S and share else "watch",
        f"{name[0].upper() + name[1:]} takes {took.mean * 1000:.0f} ms for an I/O, {took.maximum:.2f} s at most",
        f"{part} is spent in {name} (D2C), and not in the queue before it: {took.mean:.3f} s on average, {took.maximum:.2f} s at most, over "
        f"{took.count} I/Os.{called} {member.sentence + ' ' if member else ''}No setting of the scheduler helps. Ask the disk (smartctl -x) and "
        "look at its link; if other disks under the same load are quick, this one is to be replaced.",
        where.evidence(took.line, *([share.line] if share else lines[:4])),
        subject={"node": where.node, **({"device": share.device} if share else {}), **({"disk": kernel} if kernel else {}), **(member.subject if member else {})},
    )  # fmt: skip


def kernel_name(device: str) -> str | None:
    """ "8,160" as "sdk"; None for what is no SCSI disk by its major number."""
    found = re.fullmatch(r"([0-9]{1,4}),([0-9]{1,7})", device)
    if found is None or int(found.group(1)) not in SD_MAJORS or int(found.group(2)) > 255:
        return None
    index, letters = SD_MAJORS.index(int(found.group(1))) * 16 + int(found.group(2)) // 16, ""
    while index >= 0:
        letters, index = chr(ord("a") + index % 26) + letters, index // 26 - 1
    return f"sd{letters}"


def notes(value: Times) -> tuple[str, ...]:
    took, whole_time = value.phase("D2C"), value.phase("Q2C")
    note = (
        (f"The device takes {took.mean * 1000:.1f} ms of {whole_time.mean * 1000:.1f} ms on average (D2C of Q2C).",)
        if took and whole_time
        else ()
    )
    return (*unread(value.unread), *note)


READER = Reader(
    name="btt",
    first=r"=+ All Devices =+|ALL +MIN +AVG +MAX +N$|=+ Device Overhead =+",
    tools=("btt",),
    parse=parse,
    situations=situations,
    notes=notes,
    again="btt -i TRACE.bin",
)
