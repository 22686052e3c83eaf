"""Which disks the node has, and one question put to each of them, a few at a time.

A disk that hangs holds up its own worker until the deadline, and no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from agents.collectors import _listed
from agents.collectors._sysfs import attribute
from agents.domain.wwid import normalise
from agents.host.host import Host

WORKERS = 4
_DISK = re.compile(r"sd[a-z]+|nvme[0-9]+n[0-9]+")

T = TypeVar("T")


def names(host: Host) -> tuple[str, ...]:
    """Kernel names of the SCSI and NVMe disks of this moment, in the kernel's order: sda, sdb, ..., sdaa; da0, da1, ..., da10."""
    if not _listed.is_linux(host):
        return tuple(sorted((disk.name for disk in _listed.disks_of(host)), key=lambda name: (len(name), name)))
    found = {path.rsplit("/", 1)[1] for pattern in ("/sys/block/sd*", "/sys/block/nvme*") for path in host.list(pattern)}
    return tuple(sorted(filter(_DISK.fullmatch, found), key=lambda name: (len(name), name)))


def partitions(host: Host, disk: str) -> tuple[str, ...]:
    """Kernel names of a disk's partitions, by number."""
    if not _listed.is_linux(host):
        return tuple(part.name for each in _listed.disks_of(host) if each.name == disk for part in each.parts)
    separator = "p" if disk[-1].isdigit() else ""
    prefix = f"/sys/block/{disk}/{disk}{separator}"
    numbers = (path[len(prefix) :] for path in host.list(f"{prefix}[0-9]*"))
    return tuple(f"{disk}{separator}{n}" for n in sorted(int(n) for n in numbers if re.fullmatch("[0-9]{1,4}", n)))


def first_partition(host: Host, disk: str) -> str | None:
    """Partition 1, where ZFS keeps its data when it was given a whole disk; on illumos slice 0 of one with an EFI label. On FreeBSD it takes a disk as
    it is (zpool_label_disk does nothing there)."""
    if not _listed.is_linux(host):
        return next((part.name for each in _listed.disks_of(host) if each.name == disk for part in each.parts if part.number == 0), None)
    found = partitions(host, disk)
    return found[0] if found and found[0] in (f"{disk}1", f"{disk}p1") else None


def containers(host: Host, disk: str) -> tuple[str, ...]:
    """Kernel names of the LUKS containers that are open on a disk or a partition of it: "dm-3"."""
    folders = (f"/sys/block/{disk}", *(f"/sys/block/{disk}/{name}" for name in partitions(host, disk)))
    holders = (path.rsplit("/", 1)[1] for folder in folders for path in host.list(f"{folder}/holders/dm-*"))
    return tuple(name for name in holders if any(":CRYPT-" in line for line in attribute(host, f"/sys/block/{name}/dm/uuid")))


def below(host: Host, name: str) -> str:
    """The one device that a container lies on: "sda3" of "dm-3". `name` itself where it lies on none or on several."""
    found = host.list(f"/sys/block/{name}/slaves/*") if name.startswith("dm-") else ()
    return found[0].rsplit("/", 1)[1] if len(found) == 1 else name


def wwid_of(host: Host, disk: str) -> str | None:
    """Which disk this kernel name leads to at this moment; None where the kernel does not say."""
    if not _listed.is_linux(host):
        return next((each.wwid for each in _listed.disks_of(host) if each.name == disk), None)
    for name in ("device/wwid", "wwid"):
        for line in attribute(host, f"/sys/block/{disk}/{name}"):
            return normalise(line.partition(":")[2])
    return None


def one_path_each(host: Host, disks: Iterable[str]) -> tuple[str, ...]:
    """One name of each disk: of several paths to it the first that runs. What has no identity is a disk of its own."""
    paths: dict[str, list[str]] = {}
    for disk in disks:
        paths.setdefault(wwid_of(host, disk) or disk, []).append(disk)
    return tuple(names[0] if len(names) == 1 else next((n for n in names if _runs(host, n)), names[0]) for names in paths.values())


def _runs(host: Host, disk: str) -> bool:
    return any(line.endswith((":running", ":live")) for line in attribute(host, f"/sys/block/{disk}/device/state"))


def each(question: Callable[[str], T], disks: Iterable[str]) -> tuple[T, ...]:
    """The answers in the order of `disks`."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return tuple(pool.map(question, disks))


def every(collect_one: Callable[[Host, str], T], keys: Callable[[Host], tuple[str, ...]]) -> Callable[[Host], tuple[T, ...]]:
    """`collect` of a source that is asked key by key."""
    return lambda host: each(lambda key: collect_one(host, key), keys(host))
