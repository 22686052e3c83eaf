"""A tree of HBA, expanders, enclosures and disks with the error counters of each link, one number a lane: `loss_of_dword_sync(4,4,4,4)`.

Counters keep their numbers until the phy is reset. Zeros are healthy; the same number on every lane of a wide port is one event, long over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, refused, unread

_COUNTER = re.compile(r"([a-z][a-z_]{2,40})\(([0-9]{1,10}(?:,[0-9]{1,10}){0,127})\)")
_BRANCH = re.compile(r"[ |+\\`-]*")


@dataclass(frozen=True)
class Link:
    """One row. `counters` is name -> one number a lane; `disk` the kernel name, where it is a disk's."""

    name: str
    slot: str | None
    hctl: str | None
    disk: str | None
    counters: tuple[tuple[str, tuple[int, ...]], ...]
    line: str


@dataclass(frozen=True)
class Tree:
    links: tuple[Link, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Tree | Unparsed:
    """Every row with counters; a row of an HBA has none."""
    found, stray = [], []
    for line in filter(str.strip, lines):
        text = _BRANCH.sub("", line, count=1)
        counters = tuple((name, tuple(int(count) for count in counts.split(","))) for name, counts in _COUNTER.findall(text))
        if counters:
            words = text.split()
            slot, hctl = re.search(r"Slot ?([0-9]{1,4})", text), re.search(r"\[([0-9]+:[0-9]+:[0-9]+:[0-9]+)\]", text)
            disk = re.search(r"/dev/(sd[a-z]+)\b", text)
            found.append(Link(words[0], slot and slot.group(1), hctl and hctl.group(1), disk and disk.group(1), counters, line))
        elif not re.match(r"host[0-9]+|expander|enclosure|port|phy", text):
            stray.append(line)
    return Tree(tuple(found), tuple(stray)) if found else refused("the SAS tree", lines[0] if lines else "")


def situations(value: Tree, where: Where) -> tuple[Situation, ...]:
    return tuple(found for link in value.links for found in _judged(link, where))


def _judged(link: Link, where: Where) -> Iterator[Situation]:
    counted = [(name, counts) for name, counts in link.counters if any(counts)]
    if not counted:
        return
    member = where.member(link.disk)
    wide = all(len(counts) > 1 and len(set(counts)) == 1 for _, counts in counted)
    text = "; ".join(f"{name} {','.join(map(str, counts))}" for name, counts in counted)
    what = f"slot {link.slot} ({link.disk})" if link.disk and link.slot else link.disk or link.name
    lanes = len(counted[0][1])
    meaning = (
        f"All {lanes} lanes of this wide port counted the same: that is one event, a cable that was put in or an HBA or expander that was reset, "
        "and no bad cable. Nothing is to be done unless the numbers grow."
        if wide
        else "A link counts when its signal is lost. The numbers stay until the phy is reset, so they may be old: look again in some minutes. If "
        "they grow, reseat the disk or cable, then change the cable, and only then the disk."
    )
    yield Situation(
        "phy-errors", f"phy-errors:{where.node}:{link.name}:{link.hctl or link.slot or ''}", where.node, "info" if wide else "watch",
        f"{what}: {text}" if not wide else f"{what}: the same count on all {lanes} lanes, one event",
        f"The link of {what} counts {text}. {member.sentence + ' ' if member else ''}{meaning}",
        where.evidence(link.line),
        subject={"node": where.node, "link": link.name} | ({"disk": link.disk} if link.disk else {}) | (member.subject if member else {}),
        sure=wide,
    )  # fmt: skip


def notes(value: Tree) -> tuple[str, ...]:
    quiet = sum(not any(count for _, counts in link.counters for count in counts) for link in value.links)
    return (*unread(value.unread), f"{len(value.links)} links were read; {quiet} of them count no errors.")


READER = Reader(
    name="sas_tree",
    first=r"[ |+\\`-]*(?:host[0-9]+$|expander-[0-9:]+ +[a-z_]+\()",
    confirm=lambda lines, i: any(_COUNTER.search(line) for line in lines[i : i + 4]),
    goes_on=r"[ |+\\`]",
    parse=parse,
    situations=situations,
    notes=notes,
    again="the tree with the counters of each link",
)
