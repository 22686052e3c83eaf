"""The kernel's own list of what happened to pools: errors of single I/Os, states of vdevs, suspensions. Newest last.

The list holds a few hundred records and forgets the oldest. Entries of the pool's history are left out: `zpool_history` has them.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, replace

from agents.collectors._lines import hexadecimal, whole_lines
from agents.collectors._log_stamps import MONTHS
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "zpool_events"
EVERY_SECONDS = 60
TIMEOUT_SECONDS = 20
ARGV = ("zpool", "events", "-v")
KEPT = 100
HISTORY = "sysevent.fs.zfs.history_event"
HEADING = re.compile(r"TIME +CLASS")


# Every class of OpenZFS (include/sys/fm/fs/zfs.h, include/sys/sysevent/eventdefs.h) and what it means; "" for what goes on in health, too.
EREPORTS = {
    "checksum": "data of it did not match its checksum",
    "authentication": "encrypted data did not match its authentication code",
    "io": "an I/O of it failed",
    "data": "data could not be read from any copy",
    "delay": "an I/O of it took longer than zio_slow_io_ms (30 s)",
    "deadman": "an I/O of it did not come back in the time of the deadman (300 s)",
    "dio_verify_wr": "a buffer of a direct write changed while it was written",
    "dio_verify_rd": "a direct read did not match its checksum",
    "zpool": "the pool could not be opened",
    "vdev.unknown": "it is of a kind that this release does not know",
    "vdev.open_failed": "it could not be opened",
    "vdev.corrupt_data": "its label or data could not be used",
    "vdev.no_replicas": "too few of its members are there",
    "vdev.bad_guid_sum": "members of the pool are missing",
    "vdev.too_small": "it became smaller than it was",
    "vdev.bad_label": "its label is missing or invalid",
    "vdev.bad_ashift": "its sectors are larger than when it was made",
    "io_failure": "the pool was suspended",
    "probe_failure": "ZFS could neither read nor write it",
    "log_replay": "records of the intent log could not be replayed",
    "config_cache_write": "the cache file could not be written",
    "sitout": "it was slower than its peers, and reads pass it by for a while",
}
RESOURCES = {"removed": "it was pulled or its link went away", "autoreplace": "", "statechange": ""}
SYSEVENTS = (
    *("resilver_start", "resilver_finish", "vdev_remove", "vdev_remove_aux", "vdev_remove_dev", "pool_create", "pool_destroy", "pool_import"),
    *("pool_export", "vdev_add", "vdev_attach", "vdev_clear", "vdev_check", "vdev_online", "config_sync", "scrub_start", "scrub_finish"),
    *("scrub_abort", "scrub_resume", "scrub_paused", "vdev_spare", "vdev_autoexpand", "bootfs_vdev_attach", "pool_reguid", "history_event"),
    *("trim_start", "trim_finish", "trim_cancel", "trim_resume", "trim_suspend", "errorscrub_start", "errorscrub_finish", "errorscrub_abort"),
    *("errorscrub_resume", "errorscrub_paused", "snapshot_mount", "snapshot_unmount", "zvol_create", "zvol_remove"),
)  # fmt: skip
CLASSES = {
    **{f"ereport.fs.zfs.{name}": means for name, means in EREPORTS.items()},
    **{f"resource.fs.zfs.{name}": means for name, means in RESOURCES.items()},
    **{f"sysevent.fs.zfs.{name}": "" for name in SYSEVENTS},
}


# vdev_state_t of include/sys/fs/zfs.h
NUMBERED = {"0x0": "UNKNOWN", "0x1": "CLOSED", "0x2": "OFFLINE", "0x3": "REMOVED", "0x4": "CANT_OPEN", "0x5": "FAULTED", "0x6": "DEGRADED", "0x7": "HEALTHY"}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """One record. `fields` are as printed; numbers among them are hexadecimal."""

    at: int  # Unix time, seconds
    nanoseconds: int
    kind: str  # "ereport.fs.zfs.io_failure", "sysevent.fs.zfs.config_sync", "resource.fs.zfs.statechange"
    eid: int  # the kernel's number of this record, since the module was loaded; 0 where it is not printed
    fields: tuple[tuple[str, str], ...]

    def text(self, name: str) -> str | None:
        """A field's words, without the quotes."""
        value = dict(self.fields).get(name)
        return value.split('"')[1] if value and value.startswith('"') and value.count('"') > 1 else value

    def number(self, name: str) -> int | None:
        return hexadecimal((dict(self.fields).get(name) or "").split(" ")[0])

    @property
    def state(self) -> str:
        """The state that a vdev changed to, "" where the record has none; 0.6 prints the number of it."""
        state = self.text("vdev_state") or ""
        return NUMBERED.get(state, state)

    @property
    def known(self) -> bool:
        """Whether its class is one of those that OpenZFS had when this was written."""
        return self.kind in CLASSES


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
_FIRST = re.compile(_WHEN.replace(r"\.[0-9]{9} ", r"\.(?P<ns>[0-9]{9})[ \t]{1,8}") + r"(?P<kind>\S+)")
_FIELD = re.compile(r" {8}(\w+) = (.*)")
DROPPED = re.compile(r"dropped [0-9]{1,20} events")  # printed between two records where the list overflowed
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
    lines = [line for line in lines if not DROPPED.fullmatch(line)]
    events: list[Event] = []
    start = 0
    for end, line in enumerate(lines):
        if not line and end > start:
            for record in _records(lines[start:end]):
                event = _event(record)
                if isinstance(event, Unparsed):
                    return event
                events.append(event)
        start = end + 1 if not line else start
    return tuple(events)


def _records(lines: list[str]) -> list[list[str]]:
    """Without -v a record is one line, and none is empty between them."""
    return [[line] for line in lines] if all(map(_FIRST.fullmatch, lines)) else [lines]


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
    if not fields:  # as without -v
        return Event(_printed(lines[0]), int(first.group("ns")), first.group("kind"), 0, ())
    return _checked(first.group("kind"), int(first.group("ns")), fields, lines[0])


def _printed(line: str) -> int:
    """The time as it stands there, which is the node's own, taken for UTC: good for the order of records, and off by its zone."""
    month, day, year, clock = line.split()[:4]
    hours, minutes, seconds = map(int, clock.split(".")[0].split(":"))
    try:
        return calendar.timegm((int(year), MONTHS.index(month) + 1, int(day), hours, minutes, seconds, 0, 0, 0))
    except ValueError:
        return 0


def _checked(kind: str, nanoseconds: int, fields: dict[str, str], line: str) -> Event | Unparsed:
    """The record says its time and class twice; both must agree, else two records were torn into one."""
    time = [hexadecimal(part) for part in fields.get("time", "").split(" ")]
    numbered = "eid" in fields or kind.startswith("sysevent.")  # 0.6.2 and older print no number, and "sysevent" came with 0.7
    eid = hexadecimal(fields.get("eid", "")) if numbered else 0
    if len(time) != 2 or time[0] is None or time[1] != nanoseconds or eid is None:
        return Unparsed("a record lacks its time or its number, or has two times", line)
    if fields.get("class", f'"{kind}"') != f'"{kind}"':
        return Unparsed("a record is of two classes", line)
    return Event(time[0], nanoseconds, kind, eid, tuple(fields.items()))
