"""`zfs list`: file systems, volumes and snapshots with what they hold. It names no disk; how full a pool is can be seen by its first dataset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import zpool_list_text
from workflows.pasted._rounded import about
from workflows.pasted.base import Reader, Where, refused, unread
from workflows.pasted.zpool_list_text import Pool, Space

_HEADING = re.compile(r"NAME(?: +[A-Z][A-Z_]*){1,12} *")
_SIZE = r"(?:[0-9][0-9.,]*[BKMGTPE]?|-|none)"
_USUAL = re.compile(
    rf"(?P<name>\S.{{0,250}}?) +(?P<used>{_SIZE}) +(?P<avail>{_SIZE}) +(?P<refer>{_SIZE})(?: +(?P<mountpoint>\S.{{0,300}}))?"
)
COLUMNS = ["NAME", "USED", "AVAIL", "REFER"]
OF_DATASETS = frozenset(
    (
        "USED",
        "REFER",
        "MOUNTPOINT",
        "MOUNTED",
        "CREATION",
        "ORIGIN",
        "USEDSNAP",
        "USEDDS",
        "KEYSTATUS",
        "ENCROOT",
        "LUSED",
        "LREFER",
        "QUOTA",
        "CANMOUNT",
    )
)
FULL = 100.0


@dataclass(frozen=True)
class Dataset:
    name: str
    used: str
    avail: str
    line: str


@dataclass(frozen=True)
class Datasets:
    rows: tuple[Dataset, ...]
    count: int  # of all rows, those of other columns included
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Datasets | Unparsed:
    rows: list[Dataset] = []
    stray: list[str] = []
    count, usual = 0, True
    for line in filter(str.strip, lines):
        if _HEADING.fullmatch(line.strip()):
            usual = line.split()[:4] == COLUMNS
        elif usual and (found := _USUAL.fullmatch(line.strip())):
            count += 1
            rows.append(Dataset(found["name"], found["used"], found["avail"], line))
        elif not usual:
            count += 1
        else:
            stray.append(line)
    return Datasets(tuple(rows), count, tuple(stray)) if count else refused("zfs list", lines[0] if lines else "")


def situations(value: Datasets, where: Where) -> tuple[Situation, ...]:
    """Of each pool whose own dataset is in the list, how full it is: what it uses of what it uses and has left."""
    return tuple(found for pool in map(_pool, value.rows) if pool is not None for found in zpool_list_text.filled(pool, where))


def _pool(row: Dataset) -> Pool | None:
    used, left = about(row.used), about(row.avail)
    if "/" in row.name or "@" in row.name or used is None or left is None or used + left == 0:
        return None
    percent = FULL if not left else round(100 * used / (used + left), 1)
    return Pool(Space(row.name, None, row.avail, percent, None, None, None, "", row.line), ())


def notes(value: Datasets) -> tuple[str, ...]:
    return (*unread(value.unread), f"{value.count} datasets. They name no disk; `zpool status -P -p` shows how their pool is.")


def _begins(lines: Sequence[str], i: int) -> bool:
    return bool(OF_DATASETS.intersection(lines[i].split())) and not {"STATE", "HEALTH", "PROPERTY", "FREE"}.intersection(lines[i].split())


READER = Reader(
    name="zfs_list",
    first=r"NAME(?: +[A-Z][A-Z_]*){1,12} *$",
    confirm=_begins,
    tools=("zfs",),
    asks=lambda tool, rest: rest[:1] == ["list"] or tuple(rest[:1]) == ("list",),
    goes_on=rf"NAME +[A-Z]|\S+ +(?:{_SIZE} +){{2}}{_SIZE}",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="zfs list",
)
