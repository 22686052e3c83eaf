"""What the snapshots are in which data is damaged: guid, when each was made, what holds it, and how much it keeps.

`zfs get` of exactly the snapshots that the lists of damaged data name (`zpool_status_errors`); of no other is anything asked. With -p a
number is exact, `creation` is in seconds since 1970, and `clones` is "-" where there are none, as a node showed (man/man7/zfsprops.7).
"""

from __future__ import annotations

from dataclasses import dataclass

from agents.collectors import zpool_status_errors
from agents.collectors._lines import decimal, whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "zfs_snapshots"
EVERY_SECONDS = 300
TIMEOUT_SECONDS = 30
PROPERTIES = ("type", "guid", "createtxg", "creation", "userrefs", "clones", "used", "referenced")
ARGV = ("zfs", "get", "-H", "-p", "-o", "name,property,value", ",".join(PROPERTIES))
SNAPSHOTS_MAX = 50
EXITS = (0, 1)  # 1: one of them is gone meanwhile; of the others it prints all


@dataclass(frozen=True)
class Snapshot:
    name: str
    guid: int
    createtxg: int
    created: int  # seconds since 1970
    holds: int
    clones: tuple[str, ...]
    used_bytes: int  # what is freed when it is destroyed
    referenced_bytes: int


def collect(host: Host) -> tuple[Capture, ...]:
    lists = (zpool_status_errors.parse(capture.text) for capture in zpool_status_errors.collect(host) if capture.outcome == "data")
    names = [name for one in lists if not isinstance(one, Unparsed) for name in zpool_status_errors.snapshots(one.entries)]
    if not names:
        return (Capture(NAME, "", "nothing", "", "no list of damaged data names a snapshot"),)
    return (ask(host, NAME, (*ARGV, *names[:SNAPSHOTS_MAX]), TIMEOUT_SECONDS, data_exits=EXITS),)


def parse(text: str) -> tuple[Snapshot, ...] | Unparsed:
    """Each snapshot of which every property was printed, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        fields = line.split("\t")
        if len(fields) != 3 or fields[1] not in PROPERTIES or fields[1] in rows.get(fields[0], {}):
            return Unparsed("a line of zfs get cannot be read", line)
        rows.setdefault(fields[0], {})[fields[1]] = fields[2]
    found: list[Snapshot] = []
    for name, values in rows.items():
        one = _snapshot(name, values)
        if one is None:
            return Unparsed(f"zfs get does not print every property of {name} as it should", repr(sorted(values.items()))[:200])
        found.append(one)
    return tuple(found)


def _snapshot(name: str, values: dict[str, str]) -> Snapshot | None:
    numbers = [decimal(values.get(p, "")) for p in ("guid", "createtxg", "creation", "userrefs", "used", "referenced")]
    if values.get("type") != "snapshot" or "clones" not in values or any(number is None for number in numbers):
        return None
    guid, createtxg, created, holds, used, referenced = (number or 0 for number in numbers)
    clones = () if values["clones"] in ("", "-") else tuple(values["clones"].split(","))
    return Snapshot(name, guid, createtxg, created, holds, clones, used, referenced)
