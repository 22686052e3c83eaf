"""Multipath devices: which kernel disks are paths to one disk, and the state of each path.

Which paths belong together comes from sysfs (`dm/uuid` and the slaves), so it is known without the daemon. The state of a path is the daemon's
where it can be asked, else the kernel's own. Up to multipath-tools 0.9 the daemon listens on an abstract socket alone, which a process in a network
namespace of its own, as the agent's service, cannot reach.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute, entries, whole
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.block import SECTOR_BYTES
from agents.domain.wwid import normalise
from agents.host.host import Host

NAME = "multipath"
EVERY_SECONDS = 60
TIMEOUT_SECONDS = 10
FORMAT = "%d|%w|%t|%T"
Values = dict[str, str]  # attribute of one device -> what it holds
_PART = re.compile("^part[0-9]{1,3}-(?=mpath-)")
STATUS = ("dmsetup", "status", "--target", "multipath")
PATHS = ("multipathd", "show", "paths", "raw", "format", FORMAT)


@dataclass(frozen=True)
class MultipathPath:
    """One path. States are None where nothing was said of it; the checker is, where the kernel was asked in place of the daemon."""

    name: str  # "sda"
    dm_state: str | None  # "active", "failed", "undef"
    checker: str | None  # "ready", "faulty", "shaky", "ghost"


@dataclass(frozen=True)
class MapPartition:
    """A partition of a map, which kpartx made: a device mapper device above it."""

    dm: str  # "dm-4"
    name: str | None  # "mpatha1", "mpatha-part1"
    holders: tuple[str, ...] | None


@dataclass(frozen=True)
class MultipathMap:
    """One disk behind several paths. `holders`, size and `read_only` are None where sysfs did not show them."""

    dm: str  # "dm-3"
    name: str | None  # "mpatha"; may be renamed
    wwid: str | None
    paths: tuple[MultipathPath, ...]
    uuid: str = ""  # "mpath-35000c500a65b207b"
    holders: tuple[str, ...] | None = None  # its partitions among them
    partitions: tuple[MapPartition, ...] = ()
    size_bytes: int | None = None
    read_only: bool | None = None

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names of the map and its partitions."""
        return (self.dm, *(part.dm for part in self.partitions))


def collect(host: Host) -> tuple[Capture, ...]:
    """No map is an answer as well: then no disk is behind one."""
    if not host.list("/sys/block"):
        return (Capture(NAME, "", "nothing", "", "/sys/block is not there"),)
    devices = [path for path in host.list("/sys/block/dm-*") if re.fullmatch("dm-[0-9]{1,6}", path.rsplit("/", 1)[1])]
    lines = [f"/sys/block:{' '.join(path.rsplit('/', 1)[1] for path in devices)}"]
    for path in devices:
        for name in ("dm/uuid", "dm/name", "size", "ro"):
            lines += attribute(host, f"{path}/{name}")
        lines += entries(host, f"{path}/slaves") + entries(host, f"{path}/holders")
    if any(":mpath-" in line for line in lines):
        lines += _states(host, [path.rsplit("/", 1)[1] for path in devices])
    return (Capture(NAME, "", "data", "\n".join(lines) + "\n"),)


def _states(host: Host, devices: Sequence[str]) -> list[str]:
    """Of each path, by the daemon; by the kernel where it does not answer, with the numbers by which the kernel names the paths."""
    if by_daemon := _answer(host, PATHS):
        return by_daemon
    slaves = [path.rsplit("/", 1)[1] for name in devices for path in host.list(f"/sys/block/{name}/slaves/*")]
    numbers = [line for slave in dict.fromkeys(slaves) for line in attribute(host, f"/sys/block/{slave}/dev")]
    return numbers + _answer(host, STATUS)


def _answer(host: Host, argv: tuple[str, ...]) -> list[str]:
    asked = ask(host, NAME, argv, TIMEOUT_SECONDS)
    return [f"{argv[0]}:{line}" for line in asked.text.split("\n") if line] if asked.outcome == "data" else []


_VALUE = re.compile(r"/sys/block/(dm-[0-9]{1,6})/(dm/uuid|dm/name|size|ro|slaves|holders):(.*)")
_PATH = re.compile(r"multipathd:([a-z0-9]+)\|([^|]*)\|([a-z]*)\|([a-z ]*)")
_NUMBER = re.compile(r"/sys/block/([a-z0-9]+)/dev:([0-9]{1,6}:[0-9]{1,9})")
# "mpatha: 0 1048576 multipath 2 0 0 0 1 1 A 0 2 2 8:0 A 0 0 1 8:16 F 1 0 1": multipath_status() in drivers/md/dm-mpath.c
_STATUS = re.compile(r"dmsetup:[^:]+: [0-9]+ [0-9]+ multipath (.*)")
_BY_KERNEL = re.compile(r"([0-9]{1,6}:[0-9]{1,9}) ([AF]) [0-9]+")
_KERNEL_STATES = {"A": "active", "F": "failed"}


def parse(text: str) -> tuple[MultipathMap, ...] | Unparsed:
    """Every multipath map in `text`, or the first line that made no sense. Other device mapper devices are left out."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    first, *lines = text.rstrip("\n").split("\n")
    if not first.startswith("/sys/block:"):
        return Unparsed("the list of device mapper devices is missing", first)
    attributes: dict[str, Values] = {name: {} for name in first[len("/sys/block:") :].split()}
    states: dict[str, tuple[str, str | None]] = {}
    numbers: dict[str, str] = {}
    for line in lines:
        value, path = _VALUE.fullmatch(line), _PATH.fullmatch(line)
        if value and value.group(1) in attributes:
            attributes[value.group(1)][value.group(2)] = value.group(3).strip()
        elif path:
            states[path.group(1)] = (path.group(3), path.group(4).strip() or "undef")
        elif number := _NUMBER.fullmatch(line):
            numbers[number.group(2)] = number.group(1)
        elif status := _STATUS.fullmatch(line):
            states |= {numbers[at]: (_KERNEL_STATES[state], None) for at, state in _BY_KERNEL.findall(status.group(1)) if at in numbers}
        else:
            return Unparsed("a line of the multipath devices cannot be read", line)
    return tuple(
        _map(dm, values, states, attributes) for dm, values in attributes.items() if values.get("dm/uuid", "").startswith("mpath-")
    )


def _map(dm: str, values: Values, states: dict[str, tuple[str, str | None]], everything: dict[str, Values]) -> MultipathMap:
    paths = ((name, *states.get(name, ("", None))) for name in values.get("slaves", "").split())
    sectors = whole(values.get("size"))
    return MultipathMap(
        dm,
        values.get("dm/name") or None,
        normalise(values["dm/uuid"]),
        tuple(MultipathPath(name, dm_state or None, checker) for name, dm_state, checker in paths),
        values["dm/uuid"],
        _holders(values),
        tuple(_partitions(dm, values["dm/uuid"], everything)),
        None if sectors is None else sectors * SECTOR_BYTES,
        {"0": False, "1": True}.get(values.get("ro", "")),
    )


def _partitions(dm: str, uuid: str, everything: dict[str, Values]) -> Iterator[MapPartition]:
    """kpartx puts the number before the UUID of the map (kpartx(8), `part1-mpath-…`)."""
    for name, values in everything.items():
        if _PART.sub("", values.get("dm/uuid", "")) == uuid and values.get("slaves", "").split() == [dm]:
            yield MapPartition(name, values.get("dm/name") or None, _holders(values))


def _holders(values: Values) -> tuple[str, ...] | None:
    return tuple(values["holders"].split()) if "holders" in values else None
