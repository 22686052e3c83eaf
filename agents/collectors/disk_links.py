"""The names udev gives to disks in /dev/disk/by-id, and the kernel name each leads to at this moment. On FreeBSD the names that GEOM gives, on illumos those in /dev/dsk.

A pool may know its members by other names: of a bay (vdev_id.conf), of a partition, or of a mapped device. Those links are listed as well, so that the
disk behind them is found. /dev/disk/by-partlabel is left out: two partitions may have one label, and udev then keeps one link for both.
"""

from __future__ import annotations

import re

from agents.collectors import _listed
from agents.collectors._lines import torn_end
from agents.collectors._sysfs import link
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "disk_links"
EVERY_SECONDS = 30
ROOT = "/dev/disk/by-id"
OTHERS = ("/dev/disk/by-vdev", "/dev/disk/by-partuuid", "/dev/mapper")


def collect(host: Host) -> tuple[Capture, ...]:
    """A link that leads nowhere has no line: there is no disk behind it."""
    if not _listed.is_linux(host):
        found = _listed.collect(host, NAME)
        return (found if found.outcome != "nothing" else Capture(NAME, "", "nothing", "", f"{ROOT} is not there"),)
    if not host.list(ROOT):
        return (Capture(NAME, "", "nothing", "", f"{ROOT} is not there"),)
    lines = [line for path in host.list(f"{ROOT}/*") for line in link(host, path)]
    lines += [line for folder in OTHERS for path in host.list(f"{folder}/*") for line in link(host, path) if _DEVICE.search(line)]
    return (Capture(NAME, "", "data", "".join(f"{line}\n" for line in lines)),)


_DEVICE = re.compile(r" -> /dev/[a-z0-9-]+$")  # /dev/mapper/control is no link
_LINE = re.compile(rf"((?:{'|'.join((ROOT, *OTHERS))})/.+) -> /dev/(.+)")


def parse(text: str) -> tuple[tuple[str, str], ...] | Unparsed:
    """(link, kernel name) of each link, or the first line that made no sense. Never raises."""
    if _listed.is_listing(text):
        disks = _listed.parse(text)
        return disks if isinstance(disks, Unparsed) else tuple((f"/dev/{name}", below) for disk in disks for name, below in disk.labels)
    torn = torn_end(text)
    if torn is not None:
        return torn
    links = []
    for line in filter(None, text.split("\n")):
        found = _LINE.fullmatch(line)
        if found is None:
            return Unparsed("a link of /dev/disk cannot be read", line)
        links.append((found.group(1), found.group(2)))
    return tuple(links)
