"""`zfs get`: properties of file systems, volumes and snapshots. They name no disk; a key that is not loaded explains what is not mounted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted.base import Reader, plural, refused, unread

_HEADING = re.compile(r" *NAME +PROPERTY +VALUE(?: +SOURCE)? *")
_SOURCE = r"-|default|local|received|temporary|none|inherited from \S{1,250}"
_ROW = re.compile(
    rf" *(?P<name>\S{{1,250}}) +(?P<property>[a-z][\w:.@-]{{0,120}})(?: +(?P<value>\S(?:.{{0,400}}?\S)?))?(?: +(?P<source>{_SOURCE}))?"
)
SHOWN = 3


@dataclass(frozen=True)
class Property:
    dataset: str
    name: str
    value: str


@dataclass(frozen=True)
class Properties:
    rows: tuple[Property, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Properties | Unparsed:
    rows: list[Property] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        if _HEADING.fullmatch(line):
            continue
        if found := _ROW.fullmatch(line.rstrip()):
            rows.append(Property(found["name"], found["property"], found["value"] or ""))
        else:
            stray.append(line)
    return Properties(tuple(rows), tuple(stray)) if rows else refused("zfs get", lines[0] if lines else "")


def notes(value: Properties) -> tuple[str, ...]:
    locked = _with(value, "keystatus", "unavailable")
    away = _with(value, "mounted", "no")
    return (
        *unread(value.unread),
        *(
            (f"The key of {locked} is not loaded, so it is not mounted: its data is there. `zfs load-key`, then `zfs mount`.",)
            if locked
            else ()
        ),
        *((f"{away} is not mounted.",) if away else ()),
        f"{plural(len({row.dataset for row in value.rows}), 'dataset')}. They name no disk; `zpool status -P -p` shows how their pool is.",
    )


def _with(value: Properties, name: str, state: str) -> str:
    """The datasets whose property has this value, in words; "" for none."""
    found = list(dict.fromkeys(row.dataset for row in value.rows if (row.name, row.value) == (name, state)))
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more


_OF_DATASET = re.compile(
    r"\S+ +(?:type +(?:filesystem|volume|snapshot|bookmark)|creation|used|available|referenced|logicalused|written|compressratio|mounted|mountpoint|canmount|recordsize|volsize|compression"
    r"|checksum|quota|refquota|reservation|refreservation|atime|relatime|sync|dedup|copies|xattr|acltype|encryption|encryptionroot|keystatus|keylocation|keyformat|primarycache"
    r"|secondarycache|logbias|snapdir|origin|userrefs|receive_resume_token|special_small_blocks|volblocksize|redundant_metadata|dnodesize)\b|\S+[/@]\S+ +[a-z]"
)


def begins(line: str, after: str) -> bool:
    """Whether a heading of properties stands above those of a dataset, and not of a pool."""
    return bool(_HEADING.fullmatch(line)) and bool(_OF_DATASET.match(after))


READER = Reader(
    name="zfs_get",
    first=r" *NAME +PROPERTY +VALUE(?: +SOURCE)? *$",
    confirm=lambda lines, i: begins(lines[i], next(filter(str.strip, lines[i + 1 : i + 4]), "")),
    tools=("zfs",),
    asks=lambda tool, rest: tuple(rest[:1]) == ("get",),
    goes_on=r" *NAME +PROPERTY| *\S+ {2,}[a-z][\w:.@-]* {2,}\S",
    open_ended=True,
    parse=parse,
    silent=lambda value: True,
    notes=notes,
    again="zfs get all",
)
