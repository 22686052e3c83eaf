"""The uberblocks of one partition, as `zdb -lu` reads them: the last points in time to which this disk could take its pool back.

Four rings of up to 128 on each disk. It is dear, and a disk of an imported pool writes into its rings all the time, so only
disks of no imported pool are asked, and seldom; that is where an import is blocked. ZFS names one path to a disk, and the disk is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors import _disks, _listed, zdb_label
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed, ask, decode
from agents.domain.listed_disks import device_of
from agents.domain.wwid import device_path, normalise, strip_partition
from agents.host.host import Host, Region

NAME = "zdb_uberblocks"
EVERY_SECONDS = 3600
TIMEOUT_SECONDS = 30
WAKES = True  # it reads the disk
EXITS = (0, 1, 2)  # all labels, some error, no label at all: each of them is data
MEMBERS = ("zpool", "status", "-L", "-P")
MEMBERS_TIMEOUT_SECONDS = 20
MMP_MAGIC = 0xA11CEA11
UBERBLOCK_MAGIC = 0xBAB10C
RING: Region = (128 * 1024, 128 * 1024)  # of each copy of the label


@dataclass(frozen=True)
class Uberblock:
    """One uberblock and the labels whose rings hold it at that slot."""

    slot: int
    txg: int
    timestamp: int  # Unix seconds of the host that wrote it
    guid_sum: int
    labels: tuple[int, ...]
    multihost: bool  # the pool had multihost=on when it was written
    checkpoint_txg: int
    mmp_interval_ms: int | None = None  # what its writer went by then; None where it says nothing of it, as before OpenZFS 0.8
    mmp_fail_intervals: int | None = None
    mmp_delay_ns: int = 0  # how long after the last multihost write this one came


def keys(host: Host) -> tuple[str, ...]:
    """Where labels are read (`zdb_label.keys`), and no imported pool holds it; none when that is not known."""
    imported = _imported(host)
    if imported is None:
        return ()
    members = {_whose(host, name) for name in imported}
    return tuple(name for name in zdb_label.keys(host) if _whose(host, name) not in members)


def _whose(host: Host, device: str) -> tuple[str, int | None]:
    """The disk by its identity, where it has one, and the partition. A multipath device has both in its uuid."""
    disk, partition = strip_partition(device_of(_listed.disks_of(host), f"/dev/{device}") or device)
    mapped = [_MAPPED.fullmatch(line) for line in attribute(host, f"/sys/block/{disk}/dm/uuid")] if disk.startswith("dm-") else []
    if mapped and mapped[0]:
        return normalise(mapped[0].group(2)) or disk, int(mapped[0].group(1)) if mapped[0].group(1) else None
    return _disks.wwid_of(host, disk) or disk, partition


_MAPPED = re.compile(r"[^:]*:(?:part([0-9]{1,4})-)?(mpath-.+)")


disk_of = zdb_label.disk_of


def collect_one(host: Host, key: str) -> Capture:
    return ask(host, NAME, ("zdb", "-lu", device_path(key)), TIMEOUT_SECONDS, key=key, data_exits=EXITS)


collect = _disks.every(collect_one, keys)


def stamp(host: Host, device: str) -> str:
    """Changes whenever `zdb -lu` would print something else; see `zdb_label.stamp`."""
    return zdb_label.stamp_of(host, device, (zdb_label.NVLIST, RING))


def _imported(host: Host) -> frozenset[str] | None:
    """Kernel names of the devices in `zpool status -LP`; None when zpool does not answer."""
    ran = host.run(MEMBERS, MEMBERS_TIMEOUT_SECONDS)
    if ran.exit_code != 0:
        return None
    return frozenset(re.findall(r"^\t +/dev/(\S+)", decode(ran.stdout), re.MULTILINE))


def parse(text: str) -> tuple[Uberblock, ...] | Unparsed:
    """Every uberblock, the newest first, or the first line that made no sense. A blank disk has none. Never raises."""
    found = []
    for head, *lines in (block.split("\n") for block in re.split(r"^(?=    Uberblock\[)", text, flags=re.MULTILINE)[1:]):
        uberblock = _uberblock(head, lines)
        if isinstance(uberblock, Unparsed):
            return uberblock
        if uberblock is not None:
            found.append(uberblock)
    if not found and "Uberblock" in text:
        return Unparsed("zdb -lu prints uberblocks and none of them can be read")
    if not found and not re.search(r"^LABEL |failed to (?:unpack|read) label", text, re.MULTILINE):
        return Unparsed("this is not what zdb -lu prints", text.split("\n")[0])
    return tuple(sorted(found, key=lambda u: (-u.txg, -u.timestamp, u.slot)))


_HEAD = re.compile(r"    Uberblock\[([0-9]{1,3})\](?: invalid)?")
_FIELD = re.compile(r"\t([a-z_]+) = (.*)")
_LABELS = re.compile(r" +labels = ((?:[0-3] )*[0-3]) *")
_TIME = re.compile(r"([0-9]{1,20}) UTC = .*")


def _uberblock(head: str, lines: list[str]) -> Uberblock | Unparsed | None:
    """None for a slot that zdb itself calls invalid."""
    slot = _HEAD.fullmatch(head)
    if slot is None:
        return Unparsed("the head of an uberblock cannot be read", head)
    if head.endswith("invalid"):
        return None
    fields: dict[str, str] = {}
    for line in lines:
        labels, field = _LABELS.fullmatch(line), _FIELD.fullmatch(line)
        if labels:
            fields["labels"] = labels.group(1)
            break
        if field and field.group(1) in fields:
            return Unparsed("an uberblock has one field twice", line)
        if field:
            fields[field.group(1)] = field.group(2)
    try:
        return _of(int(slot.group(1)), fields)
    except (KeyError, ValueError) as wrong:
        return Unparsed(f"the uberblock in slot {slot.group(1)} lacks or garbles {wrong}", head)


def _of(slot: int, fields: dict[str, str]) -> Uberblock:
    """Raises KeyError or ValueError for what an uberblock cannot lack."""
    when = _TIME.fullmatch(fields["timestamp"])
    if when is None or _hex(fields["magic"]) != UBERBLOCK_MAGIC:
        raise ValueError("timestamp or magic")
    return Uberblock(
        slot,
        _whole(fields["txg"]),
        int(when.group(1)),
        _whole(fields["guid_sum"]),
        tuple(map(int, fields["labels"].split())),
        _hex(fields.get("mmp_magic", "0")) == MMP_MAGIC and _whole(fields.get("mmp_delay", "0")) > 0,
        _whole(fields.get("checkpoint_txg", "0")),
        _whole(fields["mmp_write"]) if "mmp_write" in fields else None,  # printed where it is valid, as the next
        _whole(fields["mmp_fail"]) if "mmp_fail" in fields else None,
        _whole(fields.get("mmp_delay", "0")),
    )


def _whole(text: str) -> int:
    if not re.fullmatch("[0-9]{1,20}", text):
        raise ValueError(text)
    return int(text)


def _hex(text: str) -> int:
    if not re.fullmatch("[0-9a-f]{1,16}", text):
        raise ValueError(text)
    return int(text, 16)
