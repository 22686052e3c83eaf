"""What `zdb -l` reads from one partition: which pool and vdev the disk claims to be, and at which txg.

Four copies are expected. 0.6.5 prints each in full, later versions print equal copies once and name them. A copy that holds
no label ("failed to unpack") is a fact about the disk; a copy that could not be read is not: see `Labels.unread`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from agents.collectors import _disks, _listed
from agents.collectors.base import Capture, Unparsed, ask
from agents.domain.wwid import device_path, strip_partition
from agents.host.host import Host, Region

T = TypeVar("T")

NAME = "zdb_label"
EVERY_SECONDS = 120
TIMEOUT_SECONDS = 20
WAKES = True  # reading a label spins a sleeping disk up
# zdb has the kernel drop what it holds of a device before it reads, and goes on where that fails (dump_label in cmd/zdb/zdb.c, 2.0.3 to 2.1.11). Linux
# before 5.11 fails so of a disk that it calls offline, where a pool has it open: the labels that follow are those of an earlier look.
CACHED = "failed to invalidate cache"
EXITS = (0, 1, 2)  # all labels, some error, no label at all: each of them is data
DEPTH_MAX = 12
TREES_REMEMBERED = 256
MEMBER_BYTES_MIN, OTHERS_MAX = 64 << 20, 15  # SPA_MINDEVSIZE, include/sys/fs/zfs.h; partitions beside the first that are looked at
ACTIVE, EXPORTED, DESTROYED = 0, 1, 2  # what a label says of its pool: POOL_STATE_ACTIVE and so on, include/sys/fs/zfs.h

# Where the four copies keep what `zdb -l` prints: behind 8 KiB of padding and 8 KiB of boot header, in front of the uberblocks,
# which change with every txg and are not printed. The last two copies stand at the end of the device.
LABEL_BYTES = 256 * 1024
NVLIST: Region = (16 * 1024, 112 * 1024)


@dataclass(frozen=True)
class LabelVdev:
    """One vdev of the label's tree, which holds only the leaf's own top-level vdev. Strings are as old as their last writer."""

    type: str
    id: int | None
    guid: int
    path: str | None = None
    devid: str | None = None
    phys_path: str | None = None
    enc_path: str | None = None
    whole_disk: bool | None = None
    not_present: bool = False
    ashift: int | None = None
    asize: int | None = None
    nparity: int | None = None
    create_txg: int | None = None
    resilver_txg: int | None = None
    rebuild_txg: int | None = None
    offline: bool = False
    faulted: bool = False
    degraded: bool = False
    removed: bool = False
    children: tuple[LabelVdev, ...] = ()
    draid_ndata: int | None = None
    draid_nspares: int | None = None


@dataclass(frozen=True)
class Label:
    """One distinct label. A spare (state 3) or cache (state 4) has neither pool nor txg."""

    copies: tuple[int, ...]
    name: str | None
    state: int
    txg: int | None
    pool_guid: int | None
    guid: int
    top_guid: int | None
    hostid: int | None
    hostname: str | None
    vdev_children: int | None
    tree: LabelVdev | None
    bad_checksum: bool = False  # zdb says so since 2.2


@dataclass(frozen=True)
class Labels:
    """All four copies: each is in one label, or holds none (`failed`), or could not be read (`unread`)."""

    labels: tuple[Label, ...]
    failed: tuple[int, ...] = ()
    unread: tuple[int, ...] = ()


def collect(host: Host) -> tuple[Capture, ...]:
    """One capture for each disk."""
    return _disks.each(lambda device: collect_one(host, device), keys(host))


def keys(host: Host) -> tuple[str, ...]:
    """Partition 1 of each disk, where ZFS puts its data, or the disk when it has none; where the disk is shared, each partition that can be a member;
    and the LUKS containers that are open on any of them."""
    return tuple(
        name
        for disk in _disks.names(host)
        for name in (_disks.first_partition(host, disk) or disk, *others(host, disk), *_disks.containers(host, disk))
    )


def disk_of(host: Host, key: str) -> str:
    """The disk that is read for a key, "sda" for "sda1": what wakes where it sleeps."""
    below = _disks.below(host, key)
    return strip_partition(below)[0]


def others(host: Host, disk: str) -> tuple[str, ...]:
    """Partitions beside the first that are large enough to be a member, as of a disk that also boots: "sda3".

    The 8 MiB that ZFS keeps at the end of a whole disk, its partition 9, are not; somebody's own partition 9 can be.
    """
    first = _disks.first_partition(host, disk)
    beside = [name for name in _disks.partitions(host, disk) if name != first]
    return tuple(name for name in beside if _size_bytes(host, disk, name) >= MEMBER_BYTES_MIN)[:OTHERS_MAX]


def _size_bytes(host: Host, disk: str, name: str) -> int:
    """A partition whose size cannot be read is looked at."""
    if not _listed.is_linux(host):
        found = next((part.size_bytes for each in _listed.disks_of(host) for part in each.parts if part.name == name), None)
        return MEMBER_BYTES_MIN if found is None else found
    try:
        return 512 * int(host.read(f"/sys/block/{disk}/{name}/size"))
    except (OSError, ValueError):
        return MEMBER_BYTES_MIN


def collect_one(host: Host, name: str) -> Capture:
    """Of a device as `keys` names it, or of a disk."""
    device = _disks.first_partition(host, name) or name
    return ask(host, NAME, ("zdb", "-l", device_path(device)), TIMEOUT_SECONDS, key=device, data_exits=EXITS)


def stamp(host: Host, device: str) -> str:
    """Changes whenever `zdb -l` would print something else: the size, which says where the copies are, and their bytes.

    Two paths to one disk have one stamp. Only what zdb prints of an L2ARC header, which we do not read, can change without it.
    "" when the bytes cannot be read: then zdb has to say why.
    """
    return stamp_of(host, device, (NVLIST,))


def stamp_of(host: Host, device: str, parts: Sequence[Region]) -> str:
    """Of these parts of each copy. They are read one by one: of many disks at a time, all of them together would be megabytes."""
    held = hashlib.sha256()
    try:
        size_bytes = 512 * int(host.read(f"/sys/class/block/{device}/size"))
        labels = _labels(size_bytes)
        for region in ((label + offset, length) for label in labels for offset, length in parts):
            read = host.read_device(f"/dev/{device}", (region,))
            if len(read) != region[1]:
                return ""
            held.update(read)
    except (OSError, ValueError):
        return ""
    return f"{size_bytes}:{held.hexdigest()}" if labels else ""


def _labels(size_bytes: int) -> tuple[int, ...]:
    """Where the four copies begin; none on a device that is too small for them."""
    whole = size_bytes - size_bytes % LABEL_BYTES
    return (0, LABEL_BYTES, whole - 2 * LABEL_BYTES, whole - LABEL_BYTES) if whole >= 4 * LABEL_BYTES else ()


def parse(text: str) -> Labels | Unparsed:
    """The labels in `text`, or the first line that made no sense. Never raises."""
    before, *rest = _TITLE.split(text)
    if held := _FROM_MEMORY.search(before):
        return Unparsed("the disk was not asked: zdb shows what the node still had of it in memory", held.group())
    strange = _NOT_FAILURES.search(before)
    if strange:
        return Unparsed("zdb -l does not print such a line", strange.group().strip())
    labels: list[Label] = []
    for title, body in zip(rest[::2], rest[1::2]):
        header = _HEADER.fullmatch(title)
        if header is None:
            continue  # the L2ARC header and its log blocks
        if _FAILURE.match(body):
            continue  # before 0.7 a copy that holds no label has a title, too
        label = _label(int(header.group(1)), bool(header.group(2)), body)
        if isinstance(label, Unparsed):
            return label
        _add(labels, label)
    failures = _FAILURE.findall(text) if "failed to " in text else []
    failed = tuple(int(n) for how, n in failures if how == "unpack")
    unread = tuple(int(n) for how, n in failures if how == "read")
    seen = sorted([n for label in labels for n in label.copies] + list(failed) + list(unread))
    if seen != [0, 1, 2, 3]:
        return Unparsed("the text does not account for each of the four labels once", f"labels {seen}")
    return Labels(tuple(labels), failed, unread)


_TITLE = re.compile(r"^-{10,}\n(.*)\n-{10,}\n", re.MULTILINE)
_HEADER = re.compile(r"LABEL ([0-3])( \(Bad label cksum\))? *")
_FAILURE = re.compile(r"^failed to (unpack|read) label ([0-3])$", re.MULTILINE)
_FROM_MEMORY = re.compile(rf"^{CACHED} .*$", re.MULTILINE)
_NOT_FAILURES = re.compile(r"^(?!failed to (?:unpack|read) label [0-3]$).+$", re.MULTILINE)
# A text has thousands of lines, and a node hundreds of texts: where a label ends is found without taking it apart.
_COPIES = re.compile(r" {4}labels = ((?:[0-3] )*[0-3]) *(?:\n|\Z)")
_FIELDS = re.compile(r"(?: {4}(?!labels = (?:[0-3] )*[0-3] *(?:\n|\Z)|Uberblock\[).*(?:\n|\Z))*")
_INNER = re.compile(r"^ {4}vdev_tree:\n((?: {8}.*(?:\n|\Z))*)", re.MULTILINE)
_TREE = "    vdev_tree:"
_Tree = dict[str, Any]  # key -> int, str, True (a key without value) or another _Tree


def _label(number: int, bad_checksum: bool, body: str) -> Label | Unparsed:
    begun = _FIELDS.match(body)
    end = begun.end() if begun else 0
    found = _COPIES.match(body, end)  # else uberblocks follow, statistics, or copies that failed
    copies = tuple(map(int, found.group(1).split())) if found else (number,)
    fields, inner = _apart(body[:end])
    tree = nvlist(fields)
    if isinstance(tree, Unparsed):
        return tree
    try:
        vdevs = _vdevs(inner) if inner else None
        return vdevs if isinstance(vdevs, Unparsed) else label_of(tree, copies, bad_checksum, vdevs)
    except (KeyError, TypeError) as missing:
        return Unparsed(f"label {number} lacks or garbles {missing}")


def _apart(fields: str) -> tuple[list[str], str]:
    """What the label says of itself, and the lines below its first `vdev_tree:`."""
    found = _INNER.search(fields)
    inner = found.group(1) if found else ""
    own = fields[: found.start()] + fields[found.end() :] if found and inner else fields
    return own.removesuffix("\n").split("\n") if own else [], inner.removesuffix("\n")


@lru_cache(maxsize=TREES_REMEMBERED)
def _vdevs(inner: str) -> LabelVdev | Unparsed:
    """Every disk of a top-level vdev writes the same tree, so it is read once for all of them. Raises what `_vdev` raises."""
    tree = nvlist([_TREE, *inner.split("\n")])
    return tree if isinstance(tree, Unparsed) else _vdev(tree["vdev_tree"])


def nvlist(lines: Sequence[str]) -> _Tree | Unparsed:
    """Nested by four spaces a level. `key: value`, `key:` over a nested list, or a bare key; keys may hold colons."""
    root: _Tree = {}
    levels = [root]
    for line in lines:
        value: int | str | _Tree | None
        text = line.lstrip(" ")
        depth, rest = divmod(len(line) - len(text), 4)
        if rest or not 0 < depth <= min(len(levels), DEPTH_MAX):
            return Unparsed("a label's line is not indented as zdb does", line)
        del levels[depth:]
        if text.endswith(":"):
            key, value = text[:-1], _Tree()
            levels.append(value)
        else:
            key, colon, right = text.partition(": ")
            value = _value(right) if colon else True
            if value is None:
                return Unparsed("a label's value is neither a whole number nor a quoted text", line)
        if key in levels[depth - 1]:
            return Unparsed("a label has one field twice", line)
        levels[depth - 1][key] = value
    return root


def _value(text: str) -> int | str | None:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else None


def label_of(tree: _Tree, copies: tuple[int, ...], bad_checksum: bool, vdevs: LabelVdev | None = None) -> Label:
    """`vdevs` is the tree where it was read apart. Raises KeyError or TypeError for what a label cannot lack."""
    if vdevs is not None and "vdev_tree" in tree:
        raise KeyError("vdev_tree")  # it is there twice
    return Label(
        copies,
        _text(tree, "name"),
        _needed(tree, "state", int),
        _int(tree, "txg"),
        _int(tree, "pool_guid"),
        _needed(tree, "guid", int),
        _int(tree, "top_guid"),
        _int(tree, "hostid"),
        _text(tree, "hostname"),
        _int(tree, "vdev_children"),
        _vdev(tree["vdev_tree"]) if "vdev_tree" in tree else vdevs,
        bad_checksum,
    )


def _vdev(tree: _Tree) -> LabelVdev:
    if not isinstance(tree, dict):
        raise TypeError("vdev_tree")
    count = sum(1 for key in tree if key.startswith("children["))
    return LabelVdev(
        _needed(tree, "type", str),
        _int(tree, "id"),
        _needed(tree, "guid", int),
        _text(tree, "path"),
        _text(tree, "devid"),
        _text(tree, "phys_path"),
        _text(tree, "vdev_enc_sysfs_path"),
        None if "whole_disk" not in tree else bool(_int(tree, "whole_disk")),
        bool(_int(tree, "not_present")),
        _int(tree, "ashift"),
        _int(tree, "asize"),
        _int(tree, "nparity"),
        _int(tree, "create_txg"),
        _int(tree, "resilver_txg"),
        _int(tree, "rebuild_txg"),
        bool(_int(tree, "offline")),
        bool(_int(tree, "faulted")),
        bool(_int(tree, "degraded")),
        bool(_int(tree, "removed")),
        tuple(_vdev(tree[f"children[{i}]"]) for i in range(count)),
        _int(tree, "draid_ndata"),
        _int(tree, "draid_nspares"),
    )


def _int(tree: _Tree, key: str) -> int | None:
    return _needed(tree, key, int) if key in tree else None


def _text(tree: _Tree, key: str) -> str | None:
    return _needed(tree, key, str) if key in tree else None


def _needed(tree: _Tree, key: str, kind: type[T]) -> T:
    value: T = tree[key]
    if type(value) is not kind:
        raise TypeError(key)
    return value


def _add(labels: list[Label], label: Label) -> None:
    """Old versions and `-lll` print equal labels again; they are one label with several copies."""
    for i, known in enumerate(labels):
        if replace(known, copies=()) == replace(label, copies=()):
            labels[i] = replace(known, copies=tuple(sorted({*known.copies, *label.copies})))
            return
    labels.append(label)
