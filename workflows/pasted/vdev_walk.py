"""Pools and vdevs as a debugger prints them: `::spa -v` of mdb on illumos and Solaris, `spa -v` and `vdev` of sdb on Linux, of a crash dump or of the running kernel.

Forms: spa_print, spa_print_config and do_print_vdev in usr/src/cmd/mdb/common/modules/zfs/zfs.c of illumos-gate; sdb/commands/zfs of delphix/sdb.
The states are those of the kernel: HEALTHY is what `zpool status` calls ONLINE, CANT_OPEN what it calls UNAVAIL (vdev_state_t in sys/fs/zfs.h).
A dump is of the moment at which it was taken, and HEALTHY in it says nothing of errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, refused, unread

_ADDRESS = r"(?:0x)?[0-9a-f]{8,16}"
_HEADING = r" {0,60}ADDR {1,30}(?:STATE {1,12}AUX {1,14}DESCRIPTION|(?:STATE {1,12})?NAME) *$"
_VDEV = re.compile(
    rf" {{0,60}}(?:{_ADDRESS}|-) {{1,30}}(?P<state>[A-Z_]{{4,12}}|-) {{1,12}}(?P<aux>[A-Z_]{{1,20}}|-) {{1,60}}(?P<name>\S.{{0,299}})$"
)
_POOL = re.compile(rf" {{0,12}}{_ADDRESS} {{1,6}}(?:(?P<state>[A-Z_]{{4,14}}) {{1,12}})?(?P<name>\S{{1,255}}) *$")
_OTHER = re.compile(
    r" {0,60}(?:-{8,}|seg-size +count|-{4,} +-{4,}|[0-9.]+[KMGTPE]?B?: .{0,80}|Approx\. Median: .{0,40}|\(range_tree.{0,80})$"
)
WELL = ("HEALTHY", "-")
_NO_AUX = ("NONE", "-")
_INSIDE = frozenset(
    (
        "root",
        "mirror",
        "raidz",
        "draid",
        "replacing",
        "spare",
        "logs",
        "cache",
        "spares",
        "hole",
        "missing",
        "indirect",
        "log",
        "special",
        "dedup",
    )
)
_SLUGS = {"FAULTED": "disk-faulted", "DEGRADED": "disk-faulted"}  # of a leaf; another state is that of one that is away


@dataclass(frozen=True)
class Walked:
    pool: str  # "" where the text does not name it
    name: str
    state: str
    aux: str
    line: str


@dataclass(frozen=True)
class Walk:
    vdevs: tuple[Walked, ...]
    pools: tuple[Walked, ...] = ()
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Walk | Unparsed:
    vdevs: list[Walked] = []
    pools: list[Walked] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        if re.match(_HEADING, line) or _OTHER.match(line):
            continue
        if vdev := _VDEV.match(line):
            name = vdev["name"].strip()
            vdevs.append(Walked(pools[-1].name if pools else "", name, vdev["state"], vdev["aux"], line.strip()))
        elif pool := _POOL.match(line):
            pools.append(Walked(pool["name"], pool["name"], pool["state"] or "", "", line.strip()))
            stray += [] if pool["state"] in (None, "ACTIVE") else [line]
        else:
            stray.append(line)
    return Walk(tuple(vdevs), tuple(pools), tuple(stray)) if vdevs or pools else refused("spa -v", next(iter(lines), ""))


def situations(value: Walk, where: Where) -> tuple[Situation, ...]:
    return tuple(_judged(value, where))


def _judged(value: Walk, where: Where) -> Iterator[Situation]:
    for vdev in value.vdevs:
        if vdev.state in WELL and vdev.aux in _NO_AUX:
            continue
        inside = vdev.name.split("-")[0] in _INSIDE
        slug = "vdev-degraded" if inside else _SLUGS.get(vdev.state, "disk-missing")
        name = vdev.pool if vdev.pool and vdev.name == "root" else f"{vdev.name} of {vdev.pool}" if vdev.pool else vdev.name
        aux = "" if vdev.aux in _NO_AUX else f" ({vdev.aux})"
        yield Situation(
            slug, f"{slug}:{where.node}:walk:{name}", where.node, "act", f"{name} is {vdev.state}{aux}",
            f"A debugger shows {name} as {vdev.state}{aux}, in the kernel's words. It is of the moment of the dump: `zpool status -v -P -p` shows how the pool is now, and "
            "why. Replace nothing before that was read.",
            where.evidence(vdev.line), subject={"node": where.node} | ({"pool": vdev.pool} if vdev.pool else {}),
        )  # fmt: skip


def notes(value: Walk) -> tuple[str, ...]:
    return (
        *unread(value.unread),
        "It is the kernel's memory at the moment of the dump, and HEALTHY in it says nothing of errors; `zpool status -P -p` shows how each pool is.",
    )


READER = Reader(
    name="vdev_walk",
    first=_HEADING,
    goes_on=rf" {{0,60}}(?:{_ADDRESS}|-) {{1,30}}\S|{_OTHER.pattern}|{_HEADING}",
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="zpool status -P -p",
)
