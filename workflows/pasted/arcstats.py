"""The counters of the cache in memory: /proc/spl/kstat/zfs/arcstats, `sysctl kstat.zfs.misc.arcstats`, and the table of `arcstat`.

They tell of memory and name no disk. What the second cache could not read is said, as that may be its device's fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted.base import Reader, refused, unread

_HEAD = re.compile(r" *[0-9]{1,4} 1 0x[0-9a-f]{2} [0-9]{1,4} [0-9]{1,7} [0-9]{1,20} [0-9]{1,20} *")
_NAMES = re.compile(r" *name +type +data *")
_COUNTER = re.compile(r" *([a-z][a-z0-9_]{0,60}) +[0-9] +([0-9]{1,20}) *")
_SYSCTL = re.compile(r" *kstat\.zfs\.misc\.arcstats\.([a-z0-9_]{1,60})(?:: |=)([0-9]{1,20}) *")
_TABLE = re.compile(r" *time +read +(?:\S{2,8} +){3,20}\S{1,8} *")
_CELLS = re.compile(r" *[0-9:]{8}(?: +[0-9.]{1,8}[KMGT]?){4,20} *")
L2_ERRORS = ("l2_cksum_bad", "l2_io_error")
GIB = 2**30


@dataclass(frozen=True)
class Arc:
    counters: Mapping[str, int]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Arc | Unparsed:
    counters: dict[str, int] = {}
    stray: list[str] = []
    rows = 0
    for line in filter(str.strip, lines):
        if found := _COUNTER.fullmatch(line) or _SYSCTL.fullmatch(line):
            counters[found.group(1)] = int(found.group(2))
        elif _CELLS.fullmatch(line):
            rows += 1
        elif not any(form.fullmatch(line) for form in (_HEAD, _NAMES, _TABLE)):
            stray.append(line)
    return Arc(counters, tuple(stray)) if counters or rows else refused("arcstats", lines[0] if lines else "")


def notes(value: Arc) -> tuple[str, ...]:
    size, most = value.counters.get("size"), value.counters.get("c_max")
    bad = [f"{name} {value.counters[name]}" for name in L2_ERRORS if value.counters.get(name)]
    return (
        *unread(value.unread),
        *((f"The cache holds {size / GIB:.1f} GiB of at most {most / GIB:.1f} GiB.",) if size is not None and most else ()),
        *(
            (
                f"The second cache counted errors ({', '.join(bad)}): see its device in `zpool status -P -p` and the kernel log. It holds copies only.",
            )
            if bad
            else ()
        ),
        "They tell of memory and of no disk; `zpool status -P -p` shows how the pools are.",
    )


READER = Reader(
    name="arcstats",
    first=rf"{_HEAD.pattern}$|{_SYSCTL.pattern}$| *(?:hits|demand_data_hits|arc_meta_used|l2_hits) +4 +[0-9]+ *$|{_TABLE.pattern}$",
    tools=("arcstat", "arcstat.py"),
    goes_on=rf"{_HEAD.pattern}$|{_NAMES.pattern}$|{_COUNTER.pattern}$|{_SYSCTL.pattern}$|{_TABLE.pattern}$|{_CELLS.pattern}$",
    strict=True,
    open_ended=True,
    parse=parse,
    silent=lambda value: True,
    notes=notes,
    again="cat /proc/spl/kstat/zfs/arcstats",
)
