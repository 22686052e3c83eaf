"""Which ports of the kernel's log about ATA have no disk, or one that only starts: their lines are no trouble of a disk."""

import re
from bisect import bisect_left as bisect

from agents.collectors.kernel_log import KernelEvent
from workflows.facts.read.past import SECOND
from workflows.situations._log import Log

ATA_PORT = re.compile(r"(?<=^ata)(\d+)\.\d+$")  # the device behind a port, whose link has the port's name
WAKING_US = 30 * SECOND


def without_woken_ports(log: Log, grouped: dict[str, list[tuple[str, KernelEvent]]]) -> dict[str, list[tuple[str, KernelEvent]]]:
    """Where a machine wakes up it looks at all its ports: one without a disk has its link down, one whose disk starts is slow. None is reset."""
    up = sorted(e.at_us for e in log.log.events if e.kind == "ata-up" and "SATA link up" in e.line)

    def woke(event: KernelEvent) -> bool:
        quiet = "SATA link down" in event.line or "link is slow to respond" in event.line
        return quiet and bisect(up, event.at_us - WAKING_US) < bisect(up, event.at_us + WAKING_US)

    return {name: events for name, events in grouped.items() if not all(woke(event) for _, event in events)}


def without_empty_ports(grouped: dict[str, list[tuple[str, KernelEvent]]]) -> dict[str, list[tuple[str, KernelEvent]]]:
    """A port multiplier resets all its ports, and of one without a disk the kernel prints only that its link is down."""
    empty = {
        name for name, events in grouped.items() if ATA_PORT.search(name) and all("SATA link down" in event.line for _, event in events)
    }
    ports = {ATA_PORT.sub(r"\1", name) for name in grouped if name not in empty}
    return {name: events for name, events in grouped.items() if name not in empty or ATA_PORT.sub(r"\1", name) not in ports}
