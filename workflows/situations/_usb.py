"""Which lines of the kernel's log about USB are of a disk. Linux calls a device there by bus and port, "2-1.4", and a disk by its SCSI host.

`scsi host6: uas` names no port, so it belongs to the device that was found last. Of low and full speed (1.5 and 12 Mbit/s) are keyboards and
the like. A disk that is gone in the moment in which a port was left hung there. Where the log does not show what a device is, a line about it is kept: it may be a disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from agents.collectors.kernel_log import KernelEvent
from workflows.facts.read.past import SECOND

SLOW = ("low", "full")
NEAR_US = 5 * SECOND  # within which a disk is gone whose port was left
_GONE = ("rejected", "offlined")


@dataclass
class Ports:
    """Ports with a disk, each with the SCSI host of it or "", and ports whose device is something else."""

    disks: dict[str, str] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    named: Mapping[str, str] = field(default_factory=dict)  # SCSI host -> the disk behind it, where it is only one

    def counts(self, event: KernelEvent) -> bool:
        """Whether a line can be of a disk. True of every line that is not about USB."""
        if event.kind != "usb-link":
            return True
        slow = (event.field("speed") or "").lower().startswith(SLOW)
        return not slow and (event.field("usb") or "") not in self.others

    def of_disk(self, event: KernelEvent) -> KernelEvent:
        """The line with the kernel name of the disk at its port, where the log says it."""
        disk = self.named.get(self.disks.get(event.field("usb") or "", "")) if event.kind == "usb-link" else None
        return replace(event, fields=(*event.fields, ("disk", disk))) if disk else event


def ports(events: Iterable[KernelEvent]) -> Ports:
    """What the log says of its ports. A port with a disk and something else in turn counts as one with a disk."""
    found, last = Ports(), ""
    names: dict[str, set[str]] = {}
    left: list[tuple[str, int]] = []  # ports, and when
    gone: dict[str, int] = {}  # disk -> when
    for event in events:
        if event.kind == "usb-found":
            port = event.field("hub") or event.field("input") or event.field("usb") or ""
            last = port if event.field("usb") else last
            if not event.field("usb") or "New USB device found" in event.line:
                found.others.add(port)
        elif event.kind == "usb-storage":
            port = event.field("usb") or last
            found.disks[port] = event.field("scsi_host") or found.disks.get(port, "")
        elif event.kind == "usb-link" and "USB disconnect" in event.line:
            left.append((event.field("usb") or "", event.at_us))
        if (disk := event.field("disk")) and (event.kind in _GONE or event.field("host") == "DID_NO_CONNECT"):
            gone.setdefault(disk, event.at_us)
        if (hctl := event.field("hctl")) and (disk := event.field("disk")):
            names.setdefault(hctl.partition(":")[0], set()).add(disk)
    found.others -= set(found.disks)
    named = {host: next(iter(disks)) for host, disks in names.items() if len(disks) == 1}
    free = [disk for disk in gone if disk not in {named.get(host) for host in found.disks.values()}]
    for port, at in left:
        behind = next((disk for disk in free if at <= gone[disk] <= at + NEAR_US), "")
        if behind and port not in found.others and not named.get(found.disks.get(port, "")):
            free.remove(behind)
            found.disks[port] = f"of {behind}"  # no host is named; this stands for it
            named[f"of {behind}"] = behind
    found.named = named
    return found
