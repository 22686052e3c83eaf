"""Each SCSI and NVMe disk as sysfs shows it, on FreeBSD as GEOM does, on illumos as diskinfo does: identity, size, sectors, state, who holds it, which bay it says it is in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors import _disks, _listed
from agents.collectors._designators import Designator, designators
from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute, binary, entries, link, whole
from agents.collectors.base import Capture, Unparsed
from agents.domain.listed_disks import ListedDisk
from agents.domain.wwid import normalise
from agents.host.host import Host

NAME = "block"
EVERY_SECONDS = 30
RUNNING = ("running", "live")  # the kernel's word for a SCSI disk that takes commands, and for an NVMe controller
SECTOR_BYTES = 512  # sysfs counts in these, whatever the disk's own blocks are

# What changes by itself (counters, queue depth) is not here but in io_counters: this text is to stay the same while nothing happens.
_DISK = (
    "size",
    "ro",
    "queue/logical_block_size",
    "queue/physical_block_size",
    "queue/rotational",
    "queue/write_cache",
    "wwid",
)
_DEVICE = ("vendor", "model", "rev", "firmware_rev", "serial", "state", "wwid", "sas_address", "timeout", "eh_timeout")


@dataclass(frozen=True)
class BlockPartition:
    name: str
    number: int
    size_bytes: int | None
    holders: tuple[str, ...] | None


@dataclass(frozen=True)
class BlockDisk:
    """One kernel device. A field is None when sysfs did not say; `holders` is empty when nothing holds the disk."""

    name: str
    hctl: str | None
    wwid: str | None
    serial: str | None
    vendor: str | None
    model: str | None
    rev: str | None
    size_bytes: int | None
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    state: str | None
    sas_address: str | None
    holders: tuple[str, ...] | None
    partitions: tuple[BlockPartition, ...]
    slot_link: str | None  # "/sys/class/enclosure/6:0:89:0/68"
    read_only: bool | None
    folder: str | None = None  # where sysfs keeps it: the way from the HBA to the disk
    rotational: bool | None = None
    write_cache: str | None = None  # "write back", "write through": what the kernel assumes
    timeout_seconds: int | None = None
    eh_timeout_seconds: int | None = None
    designators: tuple[Designator, ...] | None = None  # VPD page 0x83, as the kernel read it when it found the disk
    protection_type: int | None = None  # T10 protection information it is formatted with; 0 is none
    mode: str | None = None  # who has it open, as FreeBSD or illumos shows it: "r1w1e2", "zfs"; None on Linux
    system: str = ""  # "FreeBSD", "illumos"; "" of Linux


def collect(host: Host) -> tuple[Capture, ...]:
    if not _listed.is_linux(host):
        found = _listed.collect(host, NAME, with_users=True)
        return (found if found.outcome != "nothing" else Capture(NAME, "", "nothing", "", "/sys/block is not there"),)
    disks = _disks.names(host)
    parts = [f"/sys/block:{' '.join(disks)}", *("\n".join(_lines(host, disk)) for disk in disks)]
    return (Capture(NAME, "", "data", "\n".join(filter(None, parts)) + "\n"),)


def _lines(host: Host, disk: str) -> list[str]:
    base = f"/sys/block/{disk}"
    lines = link(host, f"{base}/device")
    for name in _DISK:
        lines += attribute(host, f"{base}/{name}")
    for name in _DEVICE:
        lines += attribute(host, f"{base}/device/{name}")
    for path in host.list(f"{base}/device/scsi_disk/*"):
        lines += attribute(host, f"{path}/protection_type")
    lines += binary(host, f"{base}/device/vpd_pg80") + binary(host, f"{base}/device/vpd_pg83") + entries(host, f"{base}/holders")
    for path in host.list(f"{base}/device/enclosure_device:*"):
        lines += link(host, path)
    for partition in _disks.partitions(host, disk):
        lines += attribute(host, f"{base}/{partition}/partition") + attribute(host, f"{base}/{partition}/size")
        lines += entries(host, f"{base}/{partition}/holders")
    return lines


_LINK = re.compile(r"/sys/block/([a-z0-9]+)/device(?:/enclosure_device:(.*))? -> (/.*)")
_VALUE = re.compile(
    r"/sys/block/([a-z0-9]+)/((?:([a-z0-9]+)/)?(?:(?:queue|device)/)?[a-z0-9_]+|device/scsi_disk/[0-9:]+/protection_type):(.*)"
)
_FLAGS = {"0": False, "1": True}
_HCTL = re.compile(r"[0-9]+:[0-9]+:[0-9]+:[0-9]+")


def parse(text: str) -> tuple[BlockDisk, ...] | Unparsed:
    """Every disk in `text`, or the first line that made no sense. Never raises."""
    if _listed.is_listing(text):
        listed = _listed.parse(text)
        return listed if isinstance(listed, Unparsed) else tuple(map(_listed_disk, listed))
    torn = torn_end(text)
    if torn is not None:
        return torn
    first, *lines = text.rstrip("\n").split("\n")
    if not first.startswith("/sys/block:"):
        return Unparsed("the list of disks is missing", first)
    attributes: dict[str, dict[str, str]] = {disk: {} for disk in first[len("/sys/block:") :].split()}
    for line in lines:
        found = _LINK.fullmatch(line)
        value = None if found else _VALUE.fullmatch(line)
        if found and found.group(1) in attributes:
            attributes[found.group(1)]["slot" if found.group(2) is not None else "device"] = found.group(3)
        elif value and value.group(1) in attributes:
            attributes[value.group(1)][value.group(2)] = value.group(4)
        else:
            return Unparsed("a line of the block devices cannot be read", line)
    return tuple(_disk(disk, facts) for disk, facts in attributes.items())


def _disk(name: str, attributes: dict[str, str]) -> BlockDisk:
    hctl = attributes.get("device", "").rsplit("/", 1)[-1]
    sectors = whole(attributes.get("size"))
    return BlockDisk(
        name,
        hctl if _HCTL.fullmatch(hctl) else None,
        normalise(attributes.get("device/wwid", attributes.get("wwid", ""))),
        _serial(attributes.get("device/vpd_pg80")) or _text(attributes, "device/serial"),
        _text(attributes, "device/vendor"),
        _text(attributes, "device/model"),
        _text(attributes, "device/rev") or _text(attributes, "device/firmware_rev"),
        None if sectors is None else sectors * SECTOR_BYTES,
        whole(attributes.get("queue/logical_block_size")),
        whole(attributes.get("queue/physical_block_size")),
        _text(attributes, "device/state"),
        _text(attributes, "device/sas_address"),
        _names(attributes, "holders"),
        _partitions(name, attributes),
        _slot(attributes.get("slot")),
        _FLAGS.get(attributes.get("ro", "")),
        attributes.get("device"),
        _FLAGS.get(attributes.get("queue/rotational", "")),
        _text(attributes, "queue/write_cache"),
        whole(attributes.get("device/timeout")),
        whole(attributes.get("device/eh_timeout")),
        designators(attributes.get("device/vpd_pg83")),
        next((whole(value) for key, value in attributes.items() if key.endswith("/protection_type")), None),
    )


def _listed_disk(disk: ListedDisk) -> BlockDisk:
    """What holds it is not known where its mode is not, and it runs where it is listed as one that is there."""
    return BlockDisk(
        name=disk.name,
        hctl=None,
        wwid=disk.wwid,
        serial=disk.ident or None,
        vendor="",
        model=disk.descr or None,
        rev=None,
        size_bytes=disk.size_bytes,
        logical_block_bytes=disk.sector_bytes,
        physical_block_bytes=disk.stripe_bytes or disk.sector_bytes,
        state=RUNNING[1] if disk.is_there else None,
        sas_address=None,
        holders=disk.holders if disk.mode else None,
        partitions=tuple(BlockPartition(part.name, part.number, part.size_bytes, part.holders) for part in disk.parts),
        slot_link=None,
        read_only=None,
        folder=f"/{disk.bus}/{disk.name}" if disk.bus else None,
        rotational=None if not disk.rotation.isdecimal() else disk.rotation != "0",
        mode=disk.mode,
        system=disk.system,
    )


def _text(attributes: dict[str, str], key: str) -> str | None:
    return attributes.get(key, "").strip() or None


def _names(attributes: dict[str, str], key: str) -> tuple[str, ...] | None:
    return tuple(attributes[key].split()) if key in attributes else None


def _serial(page: str | None) -> str | None:
    """The unit serial number of VPD page 0x80: a four byte header whose last two are the length, then ASCII."""
    try:
        raw = bytes.fromhex(page or "")
        length = int.from_bytes(raw[2:4], "big")
        text = raw[4 : 4 + length].decode("ascii").strip(" \0")
    except ValueError:
        return None
    complete = raw[1:2] == b"\x80" and len(raw) >= 4 + length
    return text if complete and text.isprintable() and text else None


def _slot(target: str | None) -> str | None:
    """The kernel resolves the link to /sys/devices/…/enclosure/E/SLOT; ZFS and we call it by its class."""
    parts = (target or "").rsplit("/", 2)
    return f"/sys/class/enclosure/{parts[1]}/{parts[2]}" if len(parts) == 3 and all(parts[1:]) else None


def _partitions(disk: str, attributes: dict[str, str]) -> tuple[BlockPartition, ...]:
    found = []
    for key, value in attributes.items():
        name, _, attribute_name = key.partition("/")
        number = whole(value)
        if attribute_name == "partition" and name.startswith(disk) and number is not None:
            sectors = whole(attributes.get(f"{name}/size"))
            size_bytes = None if sectors is None else sectors * SECTOR_BYTES
            found.append(BlockPartition(name, number, size_bytes, _names(attributes, f"{name}/holders")))
    return tuple(sorted(found, key=lambda partition: partition.number))
