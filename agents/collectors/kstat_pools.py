"""Which pools the kernel has and in which state each is, from files that no lock of ZFS can hold up.

`/proc/spl/kstat/zfs/POOL/state` answers when `zpool status` hangs (since 0.7.10; the guid since 2.2), and `import_progress` while
an import does (since 0.8).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import decimal, whole_lines
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed, decode
from agents.host.host import Host

NAME = "kstat_pools"
EVERY_SECONDS = 10
ROOT = "/proc/spl/kstat/zfs"
POOLS_MAX = 256

STATES = frozenset(["ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "REMOVED", "UNAVAIL", "SPLIT", "SUSPENDED", "TRANSITIONING", "UNKNOWN"])
LOAD_STATES = ("none", "open", "import", "tryimport", "recover", "error", "create")
NAME_COLUMNS = 16
NO_LIMIT = 2**64 - 1  # what stands for "no highest txg"


@dataclass(frozen=True)
class KernelPool:
    name: str
    state: str  # as the kernel says it: "SUSPENDED" whatever the vdevs are
    guid: int | None  # not said before 2.2


@dataclass(frozen=True)
class Importing:
    """One import under way, or a look at a pool that could be imported."""

    guid: int
    load_state: str  # one of LOAD_STATES
    multihost_seconds: int  # how much longer it watches for another host
    max_txg: int | None  # the newest txg it may use; lowered as a rewind goes back; none yet while it listens
    name: str | None
    notes: str | None = None  # since 2.4


@dataclass(frozen=True)
class KstatPools:
    pools: tuple[KernelPool, ...]
    importing: tuple[Importing, ...] | None  # None: this version does not say


def pool_names(host: Host) -> tuple[str, ...]:
    """The pools of this moment, asked of the kernel and not of `zpool`. While `zpool import` looks, what it looks at is there as `$import`."""
    names = (path[len(ROOT) + 1 : -len("/state")] for path in host.list(f"{ROOT}/*/state"))
    return tuple(name for name in names if not name.startswith("$"))[:POOLS_MAX]


def is_suspended(host: Host, pool: str) -> bool:
    """By the kernel's own word; False where it says nothing of this pool."""
    try:
        return decode(host.read(f"{ROOT}/{pool}/state")).strip() == "SUSPENDED"
    except OSError:
        return False


def collect(host: Host) -> tuple[Capture, ...]:
    if not host.list(ROOT):
        return (Capture(NAME, "", "nothing", "", f"{ROOT} is not there; the ZFS module is not loaded"),)
    paths = [f"{ROOT}/{pool}/{name}" for pool in pool_names(host) for name in ("state", "guid")]
    lines = [line for path in (*paths, f"{ROOT}/import_progress") for line in attribute(host, path)]
    return (Capture(NAME, "", "data", "".join(f"{line}\n" for line in lines)),)


_OF_POOL = re.compile(re.escape(ROOT) + r"/([^/]+)/(state|guid):(.*)")
_PROGRESS = f"{ROOT}/import_progress:"
_HEADINGS = (
    ["pool_guid", "load_state", "multihost_secs", "max_txg", "pool_name"],
    ["pool_guid", "load_state", "multihost_secs", "max_txg", "pool_name", "notes"],
)


def parse(text: str) -> KstatPools | Unparsed:
    """Every pool, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    progress = [line[len(_PROGRESS) :] for line in lines if line.startswith(_PROGRESS)]
    pools = _pools([line for line in lines if not line.startswith(_PROGRESS)])
    if isinstance(pools, Unparsed):
        return pools
    importing = _importing(progress)
    return importing if isinstance(importing, Unparsed) else KstatPools(pools, importing)


def _pools(lines: list[str]) -> tuple[KernelPool, ...] | Unparsed:
    states: dict[str, str] = {}
    guids: dict[str, int] = {}
    for line in lines:
        found = _OF_POOL.fullmatch(line)
        name, what, value = found.groups() if found else ("", "", "")
        guid = decimal(value) if what == "guid" else None
        if what == "state" and value in STATES and name not in states:
            states[name] = value
        elif guid is not None and name not in guids:
            guids[name] = guid
        else:
            return Unparsed("a line about the pools of the kernel cannot be read", line)
    stray = guids.keys() - states.keys()
    if stray:
        return Unparsed("a pool has a guid and no state", min(stray))
    return tuple(KernelPool(name, state, guids.get(name)) for name, state in states.items())


def _importing(lines: list[str]) -> tuple[Importing, ...] | Unparsed | None:
    if not lines:
        return None
    heading = lines[0].split()
    if heading not in _HEADINGS:
        return Unparsed("the heading of import_progress cannot be read", lines[0])
    rows: list[Importing] = []
    for line in lines[1:]:
        row = _row(line, len(heading))
        if row is None:
            return Unparsed("a line of import_progress cannot be read", line)
        rows.append(row)
    return tuple(rows)


def _row(line: str, columns: int) -> Importing | None:
    parts = line.split(None, 4)
    numbers = [decimal(part) for part in parts[:4]]
    if len(parts) != 5 or None in numbers:
        return None
    guid, load_state, seconds, txg = (n or 0 for n in numbers)
    name, notes = (parts[4].strip(), "") if columns == 5 else _name_and_notes(parts[4])
    if not name or load_state >= len(LOAD_STATES):
        return None
    return Importing(
        guid, LOAD_STATES[load_state], seconds, None if txg in (0, NO_LIMIT) else txg, _value_or_none(name), _value_or_none(notes)
    )


def _name_and_notes(rest: str) -> tuple[str, str]:
    """The name is filled up to 16 columns; a longer one ends at the next space."""
    if rest[NAME_COLUMNS : NAME_COLUMNS + 1] == " ":
        return rest[:NAME_COLUMNS].strip(), rest[NAME_COLUMNS:].strip()
    name, _, notes = rest.partition(" ")
    return name, notes.strip()


def _value_or_none(text: str) -> str | None:
    return None if text in ("-", "") else text
