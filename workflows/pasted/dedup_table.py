"""The table of deduplication without the pool it belongs to: `zpool status -D` cut to its end, and `zdb -D` to `zdb -DDDD`.

Forms: print_dedup_stats() in cmd/zpool/zpool_main.c, dump_ddt() and dump_dedup_ratio() in cmd/zdb/zdb.c, zpool_dump_ddt() in
lib/libzutil/zutil_pool.c. It tells of memory and space, and of no disk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted._rounded import about
from workflows.pasted.base import Reader, refused

_AMOUNT = r"[0-9]{1,20}(?:\.[0-9]{1,3})?[KMGTPE]?B?"
_TOTAL = r"(?:> {0,4})?\s{0,12}dedup: (?:no DDT entries|DDT entries [0-9])"
_OF_ZDB = r"\s{0,12}DDT-\w{1,20}-\w{1,20}-\w{1,20}: "
_HEADING = r"\s{0,12}bucket +allocated +referenced *$"
_HISTOGRAM = r"\s{0,12}DDT histogram \("
_RATIO = r"\s{0,12}dedup = [0-9]"
_REST = rf"\s{{0,12}}(?:refcnt +blocks|_{{3,}}|-{{3,}}|Total +{_AMOUNT} |DDT cached |{_AMOUNT}(?: +{_AMOUNT}){{8}}\s*$)"
_FIRST = re.compile("|".join((_TOTAL, _OF_ZDB, _HEADING, _HISTOGRAM)))
_ANY = re.compile("|".join((_TOTAL, _OF_ZDB, _HEADING, _HISTOGRAM, _RATIO, _REST)))
_ENTRIES = re.compile(
    rf".{{0,80}}?(?:DDT entries (?P<count>[0-9]{{1,20}})|: (?P<of_zdb>[0-9]{{1,20}}) entries), size (?P<disk>{_AMOUNT}) on disk, (?P<core>{_AMOUNT}) in core"
)


@dataclass(frozen=True)
class Entries:
    """How many entries a table has, and what they need. Sizes are of one entry in older releases, and of all of them since 2.3."""

    count: int
    on_disk: str
    in_core: str

    @property
    def text(self) -> str:
        each = about(self.in_core.rstrip("B"))
        if each is not None and each < OF_ONE_ENTRY_MAX and self.count > 1:
            return f"{self.count} entries, each {self.on_disk} on disk and {self.in_core} in memory: about {self.count * each / 2**20:.0f} MiB of memory."
        return f"{self.count} entries, {self.on_disk} on disk and {self.in_core} in memory."


OF_ONE_ENTRY_MAX = 1000  # bytes; a whole table is larger


@dataclass(frozen=True)
class Tables:
    entries: tuple[Entries, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Tables | Unparsed:
    filled = [line for line in lines if line.strip()]
    if not any(map(_FIRST.match, filled)):
        return refused("zpool status -D", next(iter(lines), ""))
    found = [match for line in filled if (match := _ENTRIES.match(line[:300]))]
    entries = tuple(Entries(int(one.group("count") or one.group("of_zdb")), one.group("disk"), one.group("core")) for one in found)
    return Tables(entries, tuple(line for line in filled if not _ANY.match(line[:300])))


def notes(value: Tables) -> tuple[str, ...]:
    return (
        *(one.text for one in value.entries[:4]),
        "The table of deduplication: memory and space, and neither its pool nor the state of any disk. Paste the whole output of `zpool status -P -p`.",
    )


READER = Reader(
    name="dedup_table",
    first=_FIRST.pattern,
    goes_on=_ANY.pattern,
    strict=True,
    inside=frozenset(("zpool_status", "zpool_status_guid")),
    parse=parse,
    silent=lambda value: True,
    notes=notes,
    again="zpool status -P -p",
)
