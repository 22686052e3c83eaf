"""Multipath devices: which kernel disks are paths to one disk, and what the daemon thinks of each path.

Which paths belong together comes from sysfs (`dm/uuid` and the slaves), so it is known without the daemon; the state of a path
is the daemon's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute, entries
from agents.collectors.base import Capture, Unparsed, ask
from agents.domain.wwid import normalise
from agents.host.host import Host

NAME = "multipath"
EVERY_SECONDS = 60
TIMEOUT_SECONDS = 10
FORMAT = "%d|%w|%t|%T"
PATHS = ("multipathd", "show", "paths", "raw", "format", FORMAT)


@dataclass(frozen=True)
class MultipathPath:
    """One path. States are None where the daemon said nothing of it."""

    name: str  # "sda"
    dm_state: str | None  # "active", "failed", "undef"
    checker: str | None  # "ready", "faulty", "shaky", "ghost"


@dataclass(frozen=True)
class MultipathMap:
    """One disk behind several paths."""

    dm: str  # "dm-3"
    name: str | None  # "mpatha"; may be renamed
    wwid: str | None
    paths: tuple[MultipathPath, ...]


def collect(host: Host) -> tuple[Capture, ...]:
    """No map is an answer as well: then no disk is behind one."""
    if not host.list("/sys/block"):
        return (Capture(NAME, "", "nothing", "", "/sys/block is not there"),)
    devices = [path for path in host.list("/sys/block/dm-*") if re.fullmatch("dm-[0-9]{1,6}", path.rsplit("/", 1)[1])]
    lines = [f"/sys/block:{' '.join(path.rsplit('/', 1)[1] for path in devices)}"]
    for path in devices:
        lines += attribute(host, f"{path}/dm/uuid") + attribute(host, f"{path}/dm/name") + entries(host, f"{path}/slaves")
    asked = ask(host, NAME, PATHS, TIMEOUT_SECONDS) if devices else None
    reply_lines = [f"multipathd:{line}" for line in asked.text.split("\n") if line] if asked and asked.outcome == "data" else []
    return (Capture(NAME, "", "data", "\n".join(lines + reply_lines) + "\n"),)


_VALUE = re.compile(r"/sys/block/(dm-[0-9]{1,6})/(dm/uuid|dm/name|slaves):(.*)")
_PATH = re.compile(r"multipathd:([a-z0-9]+)\|([^|]*)\|([a-z]*)\|([a-z ]*)")


def parse(text: str) -> tuple[MultipathMap, ...] | Unparsed:
    """Every multipath map in `text`, or the first line that made no sense. Other device mapper devices are left out."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    first, *lines = text.rstrip("\n").split("\n")
    if not first.startswith("/sys/block:"):
        return Unparsed("the list of device mapper devices is missing", first)
    attributes: dict[str, dict[str, str]] = {name: {} for name in first[len("/sys/block:") :].split()}
    states: dict[str, tuple[str, str]] = {}
    for line in lines:
        value, path = _VALUE.fullmatch(line), _PATH.fullmatch(line)
        if value and value.group(1) in attributes:
            attributes[value.group(1)][value.group(2)] = value.group(3).strip()
        elif path:
            states[path.group(1)] = (path.group(3), path.group(4).strip())
        else:
            return Unparsed("a line of the multipath devices cannot be read", line)
    return tuple(_map(dm, values, states) for dm, values in attributes.items() if values.get("dm/uuid", "").startswith("mpath-"))


def _map(dm: str, values: dict[str, str], states: dict[str, tuple[str, str]]) -> MultipathMap:
    paths = ((name, *states.get(name, ("", ""))) for name in values.get("slaves", "").split())
    found = tuple(MultipathPath(name, dm_state or None, checker or None) for name, dm_state, checker in paths)
    return MultipathMap(dm, values.get("dm/name") or None, normalise(values["dm/uuid"]), found)
