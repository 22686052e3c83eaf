"""What the snapshots are in which data is damaged: guid, when each was made, what holds it, and how much it keeps.

`zfs get` of exactly the snapshots that the pool's list of damaged data names (`zpool_status_errors`); of no other is anything asked. With -p a
number is exact, `creation` is in seconds since 1970, and `clones` is "-" where there are none, as a node showed (man/man7/zfsprops.7).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agents.collectors import _disks, zpool_status_errors
from agents.collectors._lines import decimal, whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "zfs_snapshots"
EVERY_SECONDS = 300
TIMEOUT_SECONDS = 30
PROPERTIES = ("type", "guid", "createtxg", "creation", "userrefs", "clones", "used", "referenced")
ARGV = ("zfs", "get", "-H", "-p", "-o", "name,property,value", ",".join(PROPERTIES))
SNAPSHOTS_MAX = 1000  # names of a command line
GONE = "dataset does not exist"
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


keys = zpool_status_errors.keys


def collect_one(host: Host, key: str) -> Capture:
    """Nothing only where the pool's list was read and names no snapshot: else a snapshot may be missing here."""
    listed = zpool_status_errors.collect_one(host, key)
    parsed = zpool_status_errors.parse(listed.text) if listed.outcome == "data" else Unparsed(listed.reason)
    if isinstance(parsed, Unparsed):
        return Capture(NAME, key, "failed", "", f"the list of damaged data of {key} could not be read: {parsed.reason}")
    names = zpool_status_errors.snapshots(parsed.entries)
    if parsed.left_out or len(names) > SNAPSHOTS_MAX:
        return Capture(NAME, key, "failed", "", f"{key} has too much damaged data to ask for every snapshot that holds some")
    if not names:
        return Capture(NAME, key, "nothing", "", f"the list of damaged data of {key} names no snapshot")
    return _asked(host, key, names)


collect = _disks.every(collect_one, keys)


def _asked(host: Host, key: str, names: tuple[str, ...]) -> Capture:
    """One that is gone is left out of the answer; where anything else went wrong, what is left out is not known."""
    capture = ask(host, NAME, (*ARGV, *names), TIMEOUT_SECONDS, key, EXITS)
    strange = [line for line in capture.stderr.splitlines() if line.strip() and not line.endswith(GONE)]
    if capture.outcome != "data" or not (strange or (capture.exit_code and not capture.stderr)):
        return capture
    return replace(capture, outcome="failed", reason=f"zfs get reports: {strange[0] if strange else 'an error without words'}")


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
