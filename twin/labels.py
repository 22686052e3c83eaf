"""`zdb -l DEV`: what the four labels of a device say, duplicates shown once."""

from collections.abc import Iterator, Sequence

from agents.zfs_releases import has
from twin.model import SECTOR, Label, Node, Pool, Vdev
from twin.vdevs import find
from twin.view import Device, View

RULE = "-" * 36
COPIES = (0, 1, 2, 3)
CACHE_STARTS_AT = 4198400

FLUSH_IS_THE_KERNELS, OFFLINE_IS_SHUT = (5, 11), (6, 12)  # Linux; between the lab's 6.1 and 6.12 it was not read when the second came
HAS_MIN_ALLOC = ("2.2.9", "2.3.5")  # a label holds the least allocation, since these tags
Line = tuple[int, str, object]  # depth, key, value


def dump(view: View, path: str) -> tuple[int, str]:
    """(exit code, text): 0 with labels, 1 where some cannot be read or nothing is there, 2 without any."""
    device = view.device(path)
    if device is None:
        return 1, f"cannot open '{path}': No such file or directory\n"
    partition = device.partition
    label = partition.label if partition else None
    if not device.path.runs:
        return cut_off(view, path, device)
    if partition is None or label is None or not label.copies:
        return 2, "".join(f"failed to unpack label {n}\n" for n in COPIES)
    failed = [n for n in COPIES if n not in label.copies]
    text = "".join(f"failed to unpack label {n}\n" for n in failed) + label_text(view.node, label)
    if any(cache.guid == label.guid for pool in view.node.pools for cache in pool.caches):
        text += _cache_header(view.node.pool(label.pool), partition.sectors * SECTOR)
    return (1 if failed else 0), text


def cut_off(view: View, path: str, device: Device) -> tuple[int, str]:
    """Of a disk that the kernel calls offline: what a pool has open can be opened once more and not be read, anything else cannot be opened.
    By Linux 6.12 nothing of it can.

    Before Linux 5.11 BLKFLSBUF is first given to the disk's driver, which refuses it (blkdev_flushbuf in block/ioctl.c; scsi_ioctl in drivers/scsi):
    what was read of the disk before stays in memory, zdb says that it did not go and shows the labels from there.
    """
    label = device.partition.label if device.partition else None
    opens = view.node.linux < OFFLINE_IS_SHUT and label is not None and view.node.pool(label.pool).imported and label.top is None
    if not opens or label is None:
        return 1, f"cannot open '{path}': No such device or address\n"
    if view.node.linux and view.node.linux < FLUSH_IS_THE_KERNELS:
        return 0, f"failed to invalidate cache '{path}' : No such device\n{label_text(view.node, label)}"
    return 2, "".join(f"failed to read label {n}\n" for n in COPIES)


def _cache_header(pool: Pool, partition_bytes: int) -> str:
    """As zdb prints it of a cache device that holds nothing yet."""
    end = partition_bytes // (256 * 1024) * (256 * 1024) - 512 * 1024
    pairs = [("magic", 6504978260106102853), ("version", 1), ("pool_guid", pool.guid), ("flags", 1)]
    pairs += [("start_lbps[0]", 0), ("start_lbps[1]", 0), ("log_blk_ent", 0), ("start", CACHE_STARTS_AT), ("end", end)]
    pairs += [("evict", CACHE_STARTS_AT), ("lb_asize_refcount", 0), ("lb_count_refcount", 0), ("trim_action_time", 0), ("trim_state", 0)]
    lines = [RULE, "L2ARC device header", RULE, *(f"    {name}: {value}" for name, value in pairs), ""]
    return "\n".join([*lines, RULE, "L2ARC device log blocks", RULE, "No log blocks to read", "", ""])


def label_text(node: Node, label: Label) -> str:
    # 2.3 leaves room for "(Bad label cksum)" and prints the blank before it.
    heading = f"LABEL {label.copies[0]}{' ' if node.release >= (2, 2) else ''}"
    lines = [RULE, heading, RULE]
    lines += [f"{'    ' * depth}{key}{_printed(value)}" for depth, key, value in _label(node, label)]
    lines.append(f"    labels = {' '.join(map(str, label.copies))} ")
    return "\n".join(lines) + "\n"


def vdev_lines(vdev: Vdev, index: int, depth: int, zaps: Iterator[int]) -> str:
    """A top-level vdev with all below it, as it stands in the config of its pool. Labels do not hold the vdevs' objects, `zaps`."""
    return "".join(f"{'    ' * d}{key}{_printed(value)}\n" for d, key, value in _vdev(vdev, index, depth, True, zaps))


def _printed(value: object) -> str:
    if value is None:
        return ""
    return f": '{value}'" if isinstance(value, str) else f": {value}"


def _label(node: Node, label: Label) -> Iterator[Line]:
    pool = node.pool(label.pool)
    spare = next((v for v in pool.spares if v.guid == label.guid and v.state != "INUSE"), None)
    cache = next((v for v in pool.caches if v.guid == label.guid), None)
    yield 1, "version", 5000
    if label.aside and label.top is not None:
        yield from _aside(node, label.top, label.aside)
        return
    aside = spare or cache
    if aside is not None:
        yield from _aside(node, aside, 3 if spare else 4)
        return
    top = label.top or _top(pool, label.guid)
    yield from _head(node, pool, top, label)
    yield 1, "vdev_tree:", None
    yield from _vdev(top, _number_of(pool, top), 2, True, tells_alloc=has(HAS_MIN_ALLOC, node.release))
    yield 1, "features_for_read:", None
    for feature in features(node, pool):
        yield 2, feature, None
    if label.is_of_the_past:
        yield 1, "create_txg", 0


def _top(pool: Pool, guid: int) -> Vdev:
    found = find(pool, guid)
    assert found is not None, f"{pool.name} has no vdev {guid}, and the label does not keep its own"
    return found[1].top


def _number_of(pool: Pool, top: Vdev) -> int:
    """Which of the top-level vdevs it is, or was: of a mirror that lost all members but one, that one stands there; one that was removed was the last."""
    guids = {vdev.guid for vdev in top.walk()}
    numbers = (number for number, now in enumerate(pool.tops) if any(vdev.guid in guids for vdev in now.walk()))
    return next(numbers, len(pool.tops))


def _aside(node: Node, leaf: Vdev, state: int) -> Iterator[Line]:
    """Of a hot spare (3) and a cache device (4), which say little."""
    yield 1, "state", state
    yield 1, "guid", leaf.guid
    if node.release >= (2, 2):
        yield from ((1, key, value) for key, value in _strings(leaf))


def _head(node: Node, pool: Pool, top: Vdev, label: Label) -> Iterator[Line]:
    yield 1, "name", pool.name
    yield 1, "state", pool.state
    yield 1, "txg", label.txg
    yield 1, "pool_guid", pool.guid
    yield 1, "errata", 0
    if has(HAS_MIN_ALLOC, node.release):
        least = [_least(one) for one in pool.tops if one.cls != "log"]
        yield 1, "min_alloc", min(least)
        yield 1, "max_alloc", max(least)
    hostname, hostid = label.writer.split() if label.writer else (pool.hostname, f"{pool.hostid:x}")
    yield 1, "hostid", int(hostid, 16)
    yield 1, "hostname", hostname
    yield 1, "top_guid", top.guid
    yield 1, "guid", label.guid
    if top.cls == "log" and top.guid == label.guid:  # a leaf of a mirror does not say it
        yield 1, "is_log", 1
    yield 1, "vdev_children", len(pool.tops)


def _vdev(
    vdev: Vdev, index: int, depth: int, is_top: bool = False, zaps: Iterator[int] | None = None, tells_alloc: bool = False
) -> Iterator[Line]:
    yield depth, "type", vdev.type
    yield depth, "id", index
    yield depth, "guid", vdev.guid
    if vdev.nparity:
        yield depth, "nparity", vdev.nparity
    if vdev.type == "draid":
        yield from ((depth, key, value) for key, value in _layout(vdev))
    if not vdev.children:
        yield from ((depth, key, value) for key, value in _strings(vdev))
        yield depth, "whole_disk", vdev.whole_disk
    elif vdev.type == "replacing":
        yield depth, "whole_disk", 0
    if is_top:
        yield from ((depth, key, value) for key, value in _space(vdev, tells_alloc))
    if not vdev.children:
        yield from ((depth, key, value) for key, value in _presence(vdev))
    if vdev.create_txg:
        yield depth, "create_txg", vdev.create_txg
    if zaps is not None and not vdev.children:
        yield depth, "com.delphix:vdev_zap_leaf", next(zaps)
    if zaps is not None and is_top:
        yield depth, "com.delphix:vdev_zap_top", next(zaps)
    if not vdev.children:
        yield from ((depth, key, value) for key, value in _condition(vdev))
    for i, child in enumerate(vdev.children):
        yield depth, f"children[{i}]:", None
        yield from _vdev(child, i, depth + 1, zaps=zaps)


def _layout(draid: Vdev) -> Sequence[tuple[str, int]]:
    """The groups go round until they fill the disks evenly."""
    width, disks = draid.ndata + draid.nparity, len(draid.children) - draid.nspares
    groups = next(n for n in range(1, disks + 1) if n * width % disks == 0)
    return (("draid_ndata", draid.ndata), ("draid_nspares", draid.nspares), ("draid_ngroups", groups))


def _strings(leaf: Vdev) -> list[tuple[str, str]]:
    pairs = (("path", leaf.path), ("devid", leaf.devid), ("phys_path", leaf.phys_path), ("vdev_enc_sysfs_path", leaf.enc_path))
    return [(key, value) for key, value in pairs if value]


def _least(top: Vdev) -> int:
    """The least that is allocated there at once."""
    return (top.ndata if top.type == "draid" else 1) << top.ashift


def _space(top: Vdev, tells_alloc: bool) -> Sequence[tuple[str, int]]:
    return (
        ("metaslab_array", top.metaslab_array),
        ("metaslab_shift", top.metaslab_shift),
        ("ashift", top.ashift),
        ("asize", top.asize),
        *([("min_alloc", _least(top))] if tells_alloc else []),
        ("is_log", int(top.cls == "log")),
    )


def _presence(leaf: Vdev) -> list[tuple[str, int]]:
    return [("not_present", 1)] * leaf.not_present + [("DTL", leaf.dtl)] * bool(leaf.dtl)


def _condition(leaf: Vdev) -> list[tuple[str, int]]:
    pairs = (
        ("resilver_txg", leaf.resilver_txg),
        ("offline", int(leaf.state == "OFFLINE")),
        ("faulted", int(leaf.state == "FAULTED" and leaf.aux in ("err_exceeded", "external"))),
        ("removed", int(leaf.state == "REMOVED")),
    )
    return [(key, value) for key, value in pairs if value]


def features(node: Node, pool: Pool) -> Sequence[str]:
    common: tuple[str, ...] = ("com.delphix:hole_birth", "com.delphix:embedded_data")
    common += ("org.openzfs:draid",) if any(top.type == "draid" for top in pool.tops) else ()
    return common + (("com.klarasystems:vdev_zaps_v2",) if node.release >= (2, 2) else ())
