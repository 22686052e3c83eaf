"""What was done to each pool and by whom: commands people gave, and what the pool did by itself (`-i`), newest last.

The kernel keeps it inside the pool and waits for the pool's next sync before it shows it, holding no lock meanwhile (spa_history_get in
module/zfs/spa_history.c, 0.8 to 2.4). So it is not asked of a suspended pool, and where disks are slow it may take minutes while `zpool status` answers.
A long history is printed whole and costs time: it is asked seldom, and its end is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agents.collectors import _disks
from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.kstat_pools import is_suspended, pool_names
from agents.host.host import Host

NAME = "zpool_history"
EVERY_SECONDS = 600
TIMEOUT_SECONDS = 60
HANGS_ALONE = True
KEPT = 150  # records


@dataclass(frozen=True)
class Entry:
    at: str  # "2026-11-21.08:37:20", UTC: the agent asks with TZ=UTC
    kind: str  # "command", "internal", "ioctl"
    text: str  # with the lines of an ioctl's input
    txg: int | None = None  # internal ones
    who: str | None = None  # "user 0 (root) on oss01:linux"; only `-l` says it


@dataclass(frozen=True)
class History:
    pool: str
    entries: tuple[Entry, ...]


keys = pool_names


def collect_one(host: Host, key: str) -> Capture:
    """All there is, or the commands alone where all is too much."""
    if is_suspended(host, key):
        return Capture(NAME, key, "failed", "", f"{key} is suspended, and reading its history could hang; it was not asked")
    for flags in ("-il", "-l"):
        capture = ask(host, NAME, ("zpool", "history", flags, key), TIMEOUT_SECONDS, key)
        if capture.outcome == "data":
            text, left_out = _newest(capture.text)
            return replace(capture, text=text, reason=f"the {left_out} oldest of these records were left out" if left_out else "")
        if not capture.reason.endswith("was cut"):
            break
    return capture


collect = _disks.every(collect_one, keys)


def _newest(text: str) -> tuple[str, int]:
    heading, *records = re.split(f"(?m)^(?={_WHEN} )", text)
    return "".join([heading, *records[-KEPT:]]), max(0, len(records) - KEPT)


_WHEN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.[0-9]{2}:[0-9]{2}:[0-9]{2}"
_ENTRY = re.compile(rf"({_WHEN}) (?:\[txg:([0-9]{{1,20}})\] |(\([0-9]{{1,20}}ms\) ioctl ))?(.*?)(?: \[((?:user|on|:)[^\[\]]*)\])?")

_WHO = re.compile(r" \[((?:user|on|:)[^\[\]]*)\]")  # behind what was handed to an ioctl it has a line of its own


def parse(text: str) -> History | Unparsed:
    """One pool's history, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    heading = re.fullmatch(r"History for '([^']+)':", lines[0]) if lines else None
    if heading is None:
        return Unparsed("the history does not show which pool it is of", text[:80])
    entries: list[Entry] = []
    for line in lines[1:]:
        found = _ENTRY.fullmatch(line)
        if found:
            at, txg, ioctl, action, who = found.groups()
            kind = "internal" if txg else "ioctl" if ioctl else "command"
            entries.append(Entry(at, kind, action.strip(), int(txg) if txg else None, who))
        elif entries and entries[-1].kind == "ioctl" and (who := _WHO.fullmatch(line)):
            entries[-1] = replace(entries[-1], who=who.group(1))
        elif entries and (not line or (line.startswith("    ") and entries[-1].kind == "ioctl")):
            entries[-1] = replace(entries[-1], text=f"{entries[-1].text}\n{line}".rstrip("\n"))
        elif line:
            return Unparsed("a line of the history cannot be read", line)
    return History(heading.group(1), tuple(entries))
