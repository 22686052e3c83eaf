"""Properties of pools that decide what a repair does: who replaces by itself, what happens when I/O fails, who may import.

Only properties that stay as they are until they are changed, so that the text is the same from report to report.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._figures import NO_POOLS, ask_pools
from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed
from agents.collectors.node import module_version
from agents.host.host import Host

NAME = "zpool_get"
EVERY_SECONDS = 300
MULTIHOST, MULTIHOST_SINCE = "multihost", (0, 7)
DEFERS, DEFERS_SINCE = "feature@resilver_defer", (0, 8)  # whether a second resilver waits for the first
PROPERTIES = ("guid", "readonly", "failmode", "autoreplace", "autoexpand", "cachefile", "ashift", "altroot", MULTIHOST, DEFERS)
SINCE = {MULTIHOST: MULTIHOST_SINCE, DEFERS: DEFERS_SINCE}
TIMEOUT_SECONDS = 20
_ROW = re.compile(r"(\S+) +([a-z0-9_@:.-]+) +(\S+(?: +\S+)*?) +(-|local|default|temporary|received|inherited from \S[\s\S]*)")


@dataclass(frozen=True)
class Property:
    pool: str
    name: str
    value: str  # as printed; "-" says that nothing is set
    source: str  # "-", "local", "default"


def argv(host: Host) -> tuple[str, ...]:
    release = module_version(host)
    wanted = [name for name in PROPERTIES if release is None or release >= SINCE.get(name, release)]
    return ("zpool", "get", "-H", "-p", ",".join(wanted))


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask_pools(host, NAME, argv(host), TIMEOUT_SECONDS),)


def parse(text: str) -> tuple[Property, ...] | Unparsed:
    """Every property of every pool, or the first line that made no sense. Reads the table for people too. Never raises."""
    if text.strip() in ("", NO_POOLS):
        return ()
    found: dict[tuple[str, str], Property] = {}
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    for line in lines:
        if line.split() == ["NAME", "PROPERTY", "VALUE", "SOURCE"]:
            continue
        columns = line.split("\t")
        if len(columns) != 4:
            row = _ROW.fullmatch(line)
            columns = list(row.groups()) if row else []
        if len(columns) != 4 or not all(columns):
            return Unparsed("a row of zpool get has not the four columns we know", line)
        prop = Property(*columns)
        if found.setdefault((prop.pool, prop.name), prop) is not prop:
            return Unparsed("zpool get prints one property twice", line)
    return tuple(found.values())
