"""What the kernel counted for each SCSI disk: commands asked, done, failed and timed out.

They rise all the time, so they are a source of their own at a slow pace and leave the `block` report unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors import _disks
from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "io_counters"
EVERY_SECONDS = 300

_COUNTERS = ("iorequest_cnt", "iodone_cnt", "ioerr_cnt", "iotmo_cnt")
_STATES = ("device_blocked", "queue_depth")


@dataclass(frozen=True)
class IoCounters:
    """Since the device appeared; a field is None where this kernel has no such counter."""

    name: str  # kernel name
    asked: int | None
    done: int | None
    failed: int | None
    timed_out: int | None
    blocked: int | None  # not 0 while the kernel holds commands back
    queue_depth: int | None


def collect(host: Host) -> tuple[Capture, ...]:
    if not host.list("/sys/block"):
        return (Capture(NAME, "", "nothing", "", "/sys/block is not there"),)
    disks = [disk for disk in _disks.names(host) if disk.startswith("sd")]
    paths = (f"/sys/block/{disk}/device/{name}" for disk in disks for name in (*_COUNTERS, *_STATES))
    lines = [f"/sys/block:{' '.join(disks)}", *(line for path in paths for line in attribute(host, path))]
    return (Capture(NAME, "", "data", "\n".join(lines) + "\n"),)


_VALUE = re.compile(rf"/sys/block/(sd[a-z]+)/device/({'|'.join((*_COUNTERS, *_STATES))}):(0x[0-9a-f]{{1,16}}|[0-9]{{1,10}})")


def parse(text: str) -> tuple[IoCounters, ...] | Unparsed:
    """The counters of every disk in `text`, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    first, *lines = text.rstrip("\n").split("\n")
    if not first.startswith("/sys/block:"):
        return Unparsed("the list of disks is missing", first)
    counters: dict[str, dict[str, int]] = {disk: {} for disk in first[len("/sys/block:") :].split()}
    for line in lines:
        found = _VALUE.fullmatch(line)
        if found is None or found.group(1) not in counters or found.group(2) in counters[found.group(1)]:
            return Unparsed("a counter of a disk cannot be read", line)
        value = found.group(3)
        counters[found.group(1)][found.group(2)] = int(value, 16 if value.startswith("0x") else 10)
    return tuple(IoCounters(disk, *(counts.get(name) for name in (*_COUNTERS, *_STATES))) for disk, counts in counters.items())
