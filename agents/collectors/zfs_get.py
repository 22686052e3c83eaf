"""What the datasets of each pool need before they serve: keys, mounts, shares, Lustre targets. `zfs get` of a few properties.

Asked of one pool at a time; one that is suspended is not asked, as the command would hang. A pool of very many datasets is cut short, and
how many rows are left out is counted. The properties of encryption are there from 0.8 on (include/sys/fs/zfs.h:ZFS_PROP_KEYSTATUS), and a
property that the tool does not know would make it print nothing. `lustre:svname` is a user property that Lustre sets on its targets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agents.collectors import _disks
from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.kstat_pools import is_suspended, pool_names
from agents.collectors.node import module_version
from agents.host.host import Host

NAME = "zfs_get"
EVERY_SECONDS = 3600
TIMEOUT_SECONDS = 60
KEPT = 20_000  # rows; the rest is counted
ENCRYPTED_SINCE = (0, 8)
OF_ENCRYPTION = ("keystatus", "keylocation", "encryptionroot")
OF_ALL = ("type", "canmount", "mountpoint", "mounted", "sharenfs", "sharesmb", "lustre:svname")
_MORE = re.compile(r"\((?P<more>[0-9]{1,10}) more\)")


@dataclass(frozen=True)
class Datasets:
    """Property -> value of each dataset, as printed; "-" is none. `left_out` is how many more rows there were."""

    values: Mapping[str, Mapping[str, str]]
    left_out: int = 0


keys = pool_names


def argv(host: Host, pool: str) -> tuple[str, ...]:
    release = module_version(host)
    wanted = OF_ALL if release is not None and release < ENCRYPTED_SINCE else (*OF_ENCRYPTION, *OF_ALL)
    return ("zfs", "get", "-Hp", "-r", "-t", "filesystem,volume", "-o", "name,property,value", ",".join(wanted), pool)


def collect_one(host: Host, key: str) -> Capture:
    if is_suspended(host, key):
        return Capture(NAME, key, "failed", "", f"{key} is suspended, and reading its datasets could hang; it was not asked")
    capture = ask(host, NAME, argv(host, key), TIMEOUT_SECONDS, key)
    return replace(capture, text=_kept(capture.text)) if capture.outcome == "data" else capture


collect = _disks.every(collect_one, keys)


def _kept(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join((*lines[:KEPT], f"({len(lines) - KEPT} more)\n")) if len(lines) > KEPT else text


def parse(text: str) -> Datasets | Unparsed:
    """The datasets of one pool, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    rows, left_out = list(lines), 0
    if len(rows) == KEPT + 1 and (more := _MORE.fullmatch(rows[-1])):
        left_out = int(more["more"])
        rows.pop()
    values: dict[str, dict[str, str]] = {}
    for line in rows:
        columns = line.split("\t")
        if len(columns) != 3 or not all(columns):
            return Unparsed("a row of zfs get has not the three columns that were asked for", line[:200])
        name, prop, value = columns
        if values.setdefault(name, {}).setdefault(prop, value) is not value:
            return Unparsed("zfs get prints one property twice", line[:200])
    return Datasets(values, left_out) if values else Unparsed("zfs get printed no dataset", "")
