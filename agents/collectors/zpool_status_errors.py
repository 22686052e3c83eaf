"""Which data of each pool is damaged: the list below `errors:` of `zpool status -v POOL`.

Kept are the line with the pool's name and all from `errors:` on, so that the text changes with the list alone. A pool whose list cannot be
read without waiting, because it is suspended, is not asked. Each entry is printed as it is, a newline in a file's name too
(cmd/zpool/zpool_main.c:print_error_log, lib/libzfs/libzfs_pool.c:zpool_obj_to_path; zfs-0.8.6 to zfs-2.4.0):

    /mnt/oss/a                  a file of a dataset that is mounted there
    tank/oss:/a                 a file of a dataset that is not mounted
    tank/oss@daily:/a           a file of a snapshot
    tank/oss:<0x1f>             an object without a name: a file that is gone, or none
    <metadata>:<0x1f>           the pool's own
    <0x8e>:<0x1f>               of a dataset that is gone
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agents.collectors import _disks
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.kstat_pools import is_suspended, pool_names
from agents.host.host import Host

NAME = "zpool_status_errors"
EVERY_SECONDS = 300
TIMEOUT_SECONDS = 60
KEPT = 2000  # entries; the rest is counted
INDENT = " " * 8  # before each entry
NO_ERRORS = "errors: No known data errors"
LIST = "errors: Permanent errors have been detected in the following files:"


@dataclass(frozen=True)
class ErrorList:
    """`entries` as printed; `left_out` is how many more the pool listed."""

    pool: str
    entries: tuple[str, ...]
    left_out: int = 0


WHERE = re.compile(r"(?P<where>.+?):(?P<what>/.*|<[^<>]+>)", re.DOTALL)
SNAPSHOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.: -]*(?:/[A-Za-z0-9_.: -]+)*@[A-Za-z0-9_.: -]+", re.ASCII)  # module/zcommon/zfs_namecheck.c


def snapshot_of(entry: str) -> str:
    """The snapshot that holds this entry, as "tank/oss@daily"; "" where it is in none."""
    found = None if entry.startswith(("/", "<")) else WHERE.fullmatch(entry)
    return str(found["where"]) if found is not None and SNAPSHOT.fullmatch(found["where"]) else ""


def snapshots(entries: Iterable[str]) -> tuple[str, ...]:
    """Every snapshot that the list names, once, in its order."""
    return tuple(dict.fromkeys(filter(None, map(snapshot_of, entries))))


keys = pool_names


def collect_one(host: Host, key: str) -> Capture:
    if is_suspended(host, key):
        return Capture(NAME, key, "failed", "", f"{key} is suspended, and reading its list of errors could hang; it was not asked")
    capture = ask(host, NAME, ("zpool", "status", "-v", key), TIMEOUT_SECONDS, key)
    return replace(capture, text=_kept(capture.text)) if capture.outcome == "data" else capture


collect = _disks.every(collect_one, keys)


def _kept(text: str) -> str:
    """The name and the list; the whole text where one of them is not found."""
    found = re.match(r"(?P<name>  pool: [^\n]+\n).*?^(?P<errors>errors: .*)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        return text
    heading, *entries = re.split(rf"(?m)^(?={INDENT})", found["errors"])
    more = f"({len(entries) - KEPT} more)\n" if len(entries) > KEPT else ""
    return "".join((found["name"], heading, *entries[:KEPT], more))


_TEXT = re.compile(r"  pool: (?P<pool>[^\n]+)\n(?P<errors>errors: [^\n]+)\n(?P<rest>.*)", re.DOTALL)
_MORE = re.compile(r"\n\((?P<more>[0-9]{1,10}) more\)\n\Z")


def parse(text: str) -> ErrorList | Unparsed:
    """The list of one pool, or the first line that made no sense. Never raises."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return Unparsed("the text has no name of a pool, or no line errors:", text.partition("\n")[0][:200])
    if found["errors"] == NO_ERRORS and not found["rest"].strip():
        return ErrorList(found["pool"], ())
    if found["errors"] != LIST:
        return Unparsed("the list of errors was not printed", found["errors"][:200])
    return _entries(found["pool"], found["rest"])


def _entries(pool: str, rest: str) -> ErrorList | Unparsed:
    """A line without the indent belongs to the entry before it, whose name has a newline."""
    between, *entries = re.split(rf"(?m)^{INDENT}", rest)
    more = 0
    if len(entries) == KEPT and (found := _MORE.search(entries[-1])):
        more, entries[-1] = int(found["more"]), entries[-1][: found.start()]
    if between.strip() or not entries:
        return Unparsed("the list of errors is not understood", (between.strip() or LIST)[:200])
    return ErrorList(pool, tuple(entry.rstrip("\n") for entry in entries), more)
