"""The kernel's own list of what happened to pools: errors of single I/Os, states of vdevs, suspensions. Newest last.

The list holds a few hundred records and forgets the oldest. Entries of the pool's history are left out: `zpool_history` has them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agents.collectors._lines import hexadecimal, whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.host import Host

NAME = "zpool_events"
EVERY_SECONDS = 60
TIMEOUT_SECONDS = 20
ARGV = ("zpool", "events", "-v")
KEPT = 100
HISTORY = "sysevent.fs.zfs.history_event"
HEADING = re.compile(r"TIME +CLASS")


@dataclass(frozen=True)
class Event:
    """One record. `fields` are as printed; numbers among them are hexadecimal."""

    at: int  # Unix time, seconds
    nanoseconds: int
    kind: str  # "ereport.fs.zfs.io_failure", "sysevent.fs.zfs.config_sync", "resource.fs.zfs.statechange"
    eid: int  # the kernel's number of this record, since the module was loaded
    fields: tuple[tuple[str, str], ...]

    def text(self, name: str) -> str | None:
        """A field's words, without the quotes."""
        value = dict(self.fields).get(name)
        return value.split('"')[1] if value and value.startswith('"') and value.count('"') > 1 else value

    def number(self, name: str) -> int | None:
        return hexadecimal((dict(self.fields).get(name) or "").split(" ")[0])


def collect(host: Host) -> tuple[Capture, ...]:
    capture = ask(host, NAME, ARGV, TIMEOUT_SECONDS)
    if capture.outcome != "data":
        return (capture,)
    text, left_out = _newest(capture.text)
    return (replace(capture, text=text, reason=f"the {left_out} oldest of these records were left out" if left_out else ""),)


def _newest(text: str) -> tuple[str, int]:
    records = [r for r in re.split(f"(?m)^(?={_WHEN})", text) if re.match(_WHEN, r) and not r.split("\n", 1)[0].endswith(HISTORY)]
    return "".join(["TIME                           CLASS\n", *records[-KEPT:]]), max(0, len(records) - KEPT)


_WHEN = r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9} "
_FIRST = re.compile(_WHEN.replace(r"\.[0-9]{9}", r"\.([0-9]{9})") + r"(\S+)")
_FIELD = re.compile(r" {8}(\w+) = (.*)")
_INSIDE = re.compile(r"( {8}){2,}\S.*| {8}(\(start .*\)|\(end .*\))")


def parse(text: str) -> tuple[Event, ...] | Unparsed:
    """Every record, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    if lines and HEADING.fullmatch(lines[0]):
        del lines[0]
    elif not lines:
        return Unparsed("`zpool events` prints its heading even when nothing happened")
    if lines and lines[-1]:
        return Unparsed("the last record has no end", lines[-1])
    events: list[Event] = []
    start = 0
    for end, line in enumerate(lines):
        if not line and end > start:
            event = _event(lines[start:end])
            if isinstance(event, Unparsed):
                return event
            events.append(event)
        start = end + 1 if not line else start
    return tuple(events)


def _event(lines: list[str]) -> Event | Unparsed:
    first = _FIRST.fullmatch(lines[0])
    if first is None:
        return Unparsed("a record does not begin with a time and a class", lines[0])
    fields: dict[str, str] = {}
    for line in lines[1:]:
        found = _FIELD.fullmatch(line)
        if found and found.group(1) not in fields:
            fields[found.group(1)] = found.group(2).strip()
        elif not _INSIDE.fullmatch(line):
            return Unparsed("a field of a record cannot be read", line)
    return _checked(first.group(2), int(first.group(1)), fields, lines[0])


def _checked(kind: str, nanoseconds: int, fields: dict[str, str], line: str) -> Event | Unparsed:
    """The record says its time and class twice; both must agree, else two records were torn into one."""
    time = [hexadecimal(part) for part in fields.get("time", "").split(" ")]
    eid = hexadecimal(fields.get("eid", ""))
    if len(time) != 2 or time[0] is None or time[1] != nanoseconds or eid is None:
        return Unparsed("a record lacks its time or its number, or says two times", line)
    if fields.get("class", f'"{kind}"') != f'"{kind}"':
        return Unparsed("a record is of two classes", line)
    return Event(time[0], nanoseconds, kind, eid, tuple(fields.items()))
