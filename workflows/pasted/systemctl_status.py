"""`systemctl status` of a unit of ZFS, of multipathd or of smartd: whether it runs, ran or failed.

Form: systemctl-show.c of systemd, print_status_info(). A unit that failed is told; of one that runs nothing follows for any disk or pool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Reader, Where, refused

_UNIT = re.compile(r"\s{0,4}[●○×↻*] {1,2}(?P<unit>(?:zfs|zed|multipathd|smartd|smartmontools)[\w@.-]{0,80})(?: - (?P<what>.{1,120}))?$")
_ACTIVE = re.compile(r"\s{1,12}Active: (?P<state>[a-z]{4,14})(?: \((?P<sub>[^)]{1,80})\))?")


@dataclass
class Unit:
    name: str
    line: str
    state: str = ""  # "active", "inactive", "failed", "activating"; "" where its line is not here
    sub: str = ""
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Units:
    units: tuple[Unit, ...]


def parse(lines: Sequence[str]) -> Units | Unparsed:
    found: list[Unit] = []
    for line in lines:
        if unit := _UNIT.match(line[:300].rstrip()):
            found.append(Unit(unit.group("unit"), line.strip()))
        elif found and (active := _ACTIVE.match(line[:300])):
            found[-1].state, found[-1].sub = active.group("state"), active.group("sub") or ""
            found[-1].lines.append(line.strip())
    return Units(tuple(found)) if found else refused("systemctl status", next(iter(lines), ""))


def situations(value: Units, where: Where) -> tuple[Situation, ...]:
    return tuple(found for unit in value.units if unit.state == "failed" for found in _of_failed(unit, where))


def _of_failed(unit: Unit, where: Where) -> Iterator[Situation]:
    imports = unit.name.startswith("zfs-import")
    meaning = (
        "It imports pools when the node starts. Often a disk came after it, or the cache file names a pool that is not on these disks any more. A failed unit changes nothing on the disks."
        if imports
        else "What it does for the pools or disks of this node is not done until it runs again; it changes nothing on the disks."
    )
    yield Situation(
        "import-blocked" if imports else "kernel-errors", f"unit-failed:{where.node}:{unit.name}", where.node, "watch",
        f"{unit.name} failed on {where.node}",
        f"systemd says that {unit.name} failed{f' ({unit.sub})' if unit.sub else ''}. {meaning} Why it failed, its own lines in the journal say.",
        where.evidence(unit.line, *unit.lines),
        subject={"node": where.node, "why": "unit-failed", "unit": unit.name},
        sure=False,
        cures=(Cure("look", "See what is imported all the same, and what the unit printed.", (("zpool", "status", "-P", "-p"), ("journalctl", "-b", "-u", unit.name))),),
    )  # fmt: skip


def notes(value: Units) -> tuple[str, ...]:
    states = ", ".join(f"{unit.name} is {unit.state or 'in a state that is not here'}" for unit in value.units[:8])
    return (f"{states}. That a unit runs says nothing of any disk or pool.",)


READER = Reader(
    name="systemctl_status",
    first=r"\s{0,4}[●○×↻*] {1,2}(?:zfs|zed|multipathd|smartd|smartmontools)[\w@.-]{0,80}\.(?:service|target|mount)\b",
    tools=("systemctl",),
    asks=lambda tool, rest: "status" in rest and any(word.startswith(("zfs", "zed", "multipathd", "smartd", "smartmontools")) for word in rest),
    goes_on=r"\s{0,4}[●○×↻*] |\s{1,12}(?:Loaded|Active|Docs|Process|Main PID|Tasks|Memory|CPU|CGroup|Status|Drop-In|TriggeredBy|Triggers|Invocation|Until): |\s{6,40}[└├│]",
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="zpool status -P -p",
)  # fmt: skip
