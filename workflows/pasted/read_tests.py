"""What programs print that read or write a whole disk: badblocks, ddrescue, dd, `hdparm -t` and fio. What they could not read counts; how fast they were does not.

Forms: misc/badblocks.c of e2fsprogs, GNU ddrescue's rescuebook.cc and its map file, coreutils dd.c, hdparm.c, fio stat.c. A run without errors is never good: it may not
have ended, and a disk that had to read each place again and again has none either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, plural, refused

_COUNT = r"[0-9]{1,15}"
_BADBLOCKS = (
    r"\s{0,8}(?:Checking for bad blocks |Checking blocks [0-9]{1,15} to [0-9]{1,15}|From block [0-9]{1,15} to [0-9]{1,15}|Testing with (?:random )?pattern|Reading and comparing: ?"
    r"|Pass completed, [0-9]{1,15} bad blocks? found|Weird value \([0-9]{1,15}\) in do_|badblocks: )"
)
_RESCUE = (
    r"\s{0,30}(?:GNU ddrescue [0-9]|# (?:Mapfile|Rescue Logfile)\. Created by GNU ddrescue|Press Ctrl-C to interrupt|(?:ipos|opos|rescued|non-tried|pct rescued|errsize|current rate|run time): {1,12}[0-9]"
    r"|Copying non-tried blocks|Scraping failed blocks|Trimming failed blocks|Retrying bad sectors|time since last successful read|Initial status)"
)
_DD = r"(?:dd: (?:error )?(?:reading|writing) .{1,200}|[0-9]{1,15}\+[0-9]{1,15} records (?:in|out)|[0-9]{1,20} bytes (?:\([^)]{1,60}\) )?(?:copied|transferred))"
_HDPARM = r"\s{0,4}Timing (?:O_DIRECT )?(?:cached|buffered disk|buffer-cache|disk) reads(?: \(offset [0-9]{1,9} GB\))?:|(?:read|write|open)\(\) (?:failed|hit EOF)"
_FIO = r"(?:fio-[0-9]|[\w./ -]{1,60}: \(g=[0-9]{1,6}\): rw=|[\w./ -]{1,60}: \(groupid=[0-9]{1,6}, jobs=[0-9]{1,6}\): err= ?[0-9]|fio: )"
_NAME = re.compile(r"(/dev/[\w/.:-]{1,80}):$")
_BEGIN = "|".join((_BADBLOCKS, _RESCUE, _DD, _HDPARM, _FIO))
_IS_BEGUN, _IS_HDPARM = re.compile(_BEGIN), re.compile(_HDPARM)

_FOUND = re.compile(rf"\s{{0,8}}Pass completed, ({_COUNT}) bad blocks? found")
_SO_FAR = re.compile(rf".{{0,200}}?\(({_COUNT})/({_COUNT})/({_COUNT}) errors\)")  # of reading, of writing, of comparing
_PARTS = re.compile(r"(bad-sector|bad areas|read errors|errsize|errors): {1,12}([0-9]{1,15})(?: ([kKMGTPi]{0,2}B))?")
_OF_MAP = re.compile(r"0x[0-9A-Fa-f]{8,16} +0x[0-9A-Fa-f]{8,16} +-$")
_FAILED = re.compile(r"(?i).{0,300}?\b(?:input/output error|i/o error|remote i/o error|no such device|read\(\) hit EOF)")
_OF_FIO = re.compile(r"[\w./ -]{1,60}: \(groupid=[0-9]{1,6}, jobs=[0-9]{1,6}\): err= ?([1-9][0-9]{0,5})")
_DEVICE = re.compile(r"/dev/(?:disk/by-[a-z]+/)?[\w.:-]{1,80}")


@dataclass(frozen=True)
class Tests:
    """`blocks` is a sentence of what could not be read, "" where nothing was; `failures` are lines in which a command failed."""

    device: str
    blocks: str
    failures: tuple[str, ...]
    line: str


def parse(lines: Sequence[str]) -> Tests | Unparsed:
    """What these programs say of one disk; Unparsed where no line is of any of them."""
    if not any(map(_IS_BEGUN.match, lines)):
        return refused("a program that reads a disk", next(iter(lines), ""))
    device = next((found.group(1) for line in lines if (found := _NAME.match(line[:200].strip()))), "")
    device = device or next((found.group() for line in lines if (found := _DEVICE.search(line[:300]))), "")
    failures = tuple(line.strip() for line in lines if _FAILED.match(line[:400]) or _OF_FIO.match(line[:200]))
    blocks, line = _blocks(lines)
    return Tests(device.rsplit("/", 1)[-1].rstrip(":.,"), blocks, failures, line)


def _blocks(lines: Sequence[str]) -> tuple[str, str]:
    """What could not be read, by the last of its lines that counts any, and that line."""
    found = ("", "")
    for line in lines:
        if passed := _FOUND.match(line[:300]):
            found = (plural(int(passed.group(1)), "bad block"), line.strip()) if int(passed.group(1)) else found
        elif so_far := _SO_FAR.match(line[:400]):
            counts = [int(each) for each in so_far.groups()]
            found = (
                (f"{counts[0]} errors of reading, {counts[1]} of writing, {counts[2]} of comparing", line.strip()) if any(counts) else found
            )
        elif _OF_MAP.match(line.strip()[:80]):
            found = ("areas that it could not read", line.strip())
        for what, count, unit in _PARTS.findall(line[:300]):
            if int(count):
                found = (f"{what}: {count}{f' {unit}' if unit else ''}", line.strip())
    return found


def situations(value: Tests, where: Where) -> tuple[Situation, ...]:
    return tuple(_of(value, where))


def _of(value: Tests, where: Where) -> Iterator[Situation]:
    name = value.device or "a disk that the text does not name"
    member = where.member(value.device or None)
    subject = {"node": where.node} | ({"disk": value.device} if value.device else {}) | (member.subject if member else {})
    of = f"{member.sentence} " if member else ""
    ask = (
        "Ask the disk itself (smartctl -x) and the kernel's log of that time: a disk or a bridge that goes away while it is read looks the same. "
        "See that its vdev has redundancy left before anything is taken out."
    )
    if value.blocks:
        yield Situation(
            "disk-failing", f"disk-failing:{where.node}:{name}", where.node, "watch", f"{name}: {value.blocks}",
            f"A program that reads the whole of {name} counts {value.blocks}. {of}{ask}", where.evidence(value.line), subject=subject, sure=False,
        )  # fmt: skip
    if value.failures:
        yield Situation(
            "disk-errors", f"disk-errors:{where.node}:{name}", where.node, "watch", f"{name}: {value.failures[0][:120]}",
            f"A program that reads or writes {name} got an error instead: {value.failures[0][:200]}. {of}{ask}",
            where.evidence(*value.failures[:4]), subject=subject, sure=False,
        )  # fmt: skip


def notes(value: Tests) -> tuple[str, ...]:
    return (
        "A program that reads or writes a disk was read for its errors alone. How fast it was says nothing of health: `zpool iostat -v -l 5 2` compares disks, smartctl -x shows what a disk counts.",
    )


def _is_sure(lines: Sequence[str], i: int) -> bool:
    """Whether a device's name alone on its line is the heading of `hdparm -t`; every other beginning is sure."""
    return not _NAME.match(lines[i].strip()[:200]) or any(map(_IS_HDPARM.match, lines[i + 1 : i + 3]))


READER = Reader(
    name="read_tests",
    first=rf"{_BEGIN}|/dev/[\w/.:-]{{1,80}}:$",
    confirm=_is_sure,
    tools=("badblocks", "ddrescue", "dd", "fio", "hdparm"),
    asks=lambda tool, rest: tool != "hdparm" or any(re.fullmatch(r"-{1,2}[A-Za-z]*[tT][A-Za-z]*|--direct", word) for word in rest),
    goes_on=rf"{_BEGIN}|/dev/[\w/.:-]{{1,80}}:$|done$|[0-9]{{1,15}}$|0x[0-9A-Fa-f]{{8,16}} |# |Finished|\s{{1,8}}[a-z]{{2,12}} ?(?:\([a-z]{{4}}\))?[: ]|Run status|Disk stats|Starting [0-9]",
    open_ended=True,
    inside=frozenset(("kernel_log", "notices", "smart", "alerts")),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="smartctl -x DEVICE",
)
