"""ZFS's tunables on FreeBSD, as `sysctl vfs.zfs` prints them. On Linux they are the source `parameters`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "sysctl"
EVERY_SECONDS = 300
TIMEOUT_SECONDS = 10
ARGV = ("sysctl", "vfs.zfs")
LINUX = "/proc/sys/kernel/osrelease"

# FreeBSD drops the prefix that its place in the tree says; before 13 it had fewer branches.
_PREFIXES = {"vfs.zfs.vdev": "zfs_vdev_", "vfs.zfs.multihost": "zfs_multihost_", "vfs.zfs.zio": "zio_", "vfs.zfs.prefetch": "zfs_prefetch_"}


@dataclass(frozen=True)
class Sysctl:
    oid: str  # "vfs.zfs.vdev.scrub_max_active"
    value: str

    @property
    def linux_name(self) -> str:
        """What Linux calls it: "zfs_vdev_scrub_max_active"."""
        branch, _, leaf = self.oid.rpartition(".")
        return _PREFIXES.get(branch, "zfs_" + branch[len("vfs.zfs.") :].replace(".", "_") + ("_" if branch != "vfs.zfs" else "")) + leaf


def collect(host: Host) -> tuple[Capture, ...]:
    if host.list(LINUX):
        return (Capture(NAME, "", "nothing", "", "this node runs Linux, where ZFS has module parameters"),)
    return (ask(host, NAME, ARGV, TIMEOUT_SECONDS, data_exits=(0, 1)),)


_LINE = re.compile(r"(vfs\.zfs(?:\.\w+)+): ?(.*)")


def parse(text: str) -> tuple[Sysctl, ...] | Unparsed:
    """Every setting, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    settings: dict[str, Sysctl] = {}
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None or found.group(1) in settings:
            return Unparsed("this is no line of `sysctl vfs.zfs`", line)
        settings[found.group(1)] = Sysctl(found.group(1), found.group(2).rpartition(" -> ")[2])  # setting one prints what it was, too
    return tuple(settings.values())
