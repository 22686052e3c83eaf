"""Kernel logs that tell of no disk and no pool how it is: they name disks and commands, or daemons that began."""

from __future__ import annotations

from agents.collectors.kernel_log import KernelLog

# What a daemon prints of itself, and what names a disk, its place or a command
NAMING = frozenset(
    ("zed-run", "path-run", "cdb", "cam-command", "attached", "found", "target", "place", "ata-up", "usb-found", "usb-storage", "usb-link")
)


def only_names(log: KernelLog) -> bool:
    """Whether nothing in it says whether anything is well. A log without a line of ours says it of nothing, too."""
    return not log.unexplained and all(event.kind in NAMING for event in log.events)
