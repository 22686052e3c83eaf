"""`zpool add POOL spare|log|cache DISK` and `zpool add -o ashift=N POOL special|dedup mirror DISK …`, and what both print with -n -P: whole disks by
their paths, in a section of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from twin import replacing
from twin.answer import Answer, refused
from twin.build import guid_of, partition, top
from twin.model import Disk, Label, Node, Pool, Vdev
from twin.status import SECTIONS, Style, leaf_name, vdev_name
from twin.vdevs import part_path
from twin.view import View

SHOWN = Style(full_paths=True)
ALONE, CLASSES = ("spare", "log", "cache"), ("special", "dedup")
FUZZ_BYTES = 16 * 1024 * 1024  # ZPOOL_FUZZ in cmd/zpool/zpool_vdev.c
ASHIFT_IS_COMPARED = (2, 2, 4)
OTHERWISE = "invalid vdev specification\nuse '-f' to override the following errors:\n"


@dataclass(frozen=True)
class Wanted:
    pool: str
    role: str  # "spare", "log", "cache"; of a mirror "special", "dedup"
    paths: tuple[str, ...]
    ashift: int = 0  # 0: as the disks have it


def parse(args: Sequence[str]) -> Wanted | None:
    """None for a command line the twin has no honest answer to."""
    words, ashift = list(args), 0
    if len(words) > 1 and words[0] == "-o" and words[1].startswith("ashift=") and words[1][len("ashift=") :].isdigit():
        ashift, words = int(words[1][len("ashift=") :]), words[2:]
    if len(words) < 3 or any(word.startswith("-") for word in words):
        return None
    pool, role, *rest = words
    paths = tuple(rest[1:] if rest[0] == "mirror" else rest)
    mirror = rest[0] == "mirror" and role in CLASSES and len(paths) > 1
    alone = role in ALONE and len(rest) == 1 and not ashift
    if not (mirror or alone) or not all(path.startswith("/dev/disk/") for path in paths):
        return None
    return Wanted(pool, role, paths, ashift)


def refused_by_tool(view: View, wanted: Wanted) -> Answer | None:
    """Of each disk as of one that comes as a replacement: the tool asks the same of it. Then whether the mirror fits the pool."""
    each = (replacing.refused_by_tool(view, replacing.Wanted(wanted.pool, "", path, False)) for path in wanted.paths)
    return next(filter(None, each), None) or _does_not_fit(view, wanted)


def _does_not_fit(view: View, wanted: Wanted) -> Answer | None:
    """After get_replication and check_replication in cmd/zpool/zpool_vdev.c: what the pool itself is not consistent in is not compared."""
    if wanted.role not in CLASSES:
        return None
    sizes = [disk.size_bytes for disk in _disks(view, wanted)]
    if any(abs(one - other) > FUZZ_BYTES for one, other in pairwise(sizes)):
        return refused(1, f"{OTHERWISE}mirror contains devices of different sizes")
    found = {_replication(one) for one in view.node.pool(wanted.pool).tops if one.cls != "log"}
    count = len(wanted.paths)
    if len({survives for _, _, survives in found}) > 1:
        return None
    kind, children, survives = max(found)  # a raidz before a mirror that survives as much
    if kind in ("raidz", "draid") and survives != count - 1:
        vdevs = f"{kind} and mirror vdevs, {survives} vs. {count - 1} ({count}-way)"
        return refused(1, f"{OTHERWISE}mismatched replication level: pool and new vdev with different redundancy, {vdevs}")
    if kind == "mirror" and children != count:
        return refused(1, f"{OTHERWISE}mismatched replication level: pool uses {children}-way mirror and new vdev uses {count}-way mirror")
    if kind == "disk":
        return refused(1, f"{OTHERWISE}mismatched replication level: pool uses disk and new vdev is mirror")
    return None


def _replication(one: Vdev) -> tuple[str, int, int]:
    """(kind, children where that counts, losses that it survives)"""
    if one.type in ("raidz", "draid"):
        return one.type, 0, one.nparity
    return ("mirror", len(one.children), len(one.children) - 1) if one.type == "mirror" else ("disk", 1, 0)


def _disks(view: View, wanted: Wanted) -> list[Disk]:
    return [device.disk for device in map(view.device, wanted.paths) if device is not None]


def dry_run(view: View, wanted: Wanted) -> Answer:
    """After zpool_do_add and print_vdev_tree in cmd/zpool/zpool_main.c, as since 2.0.2."""
    refusal = refused_by_tool(view, wanted)
    if refusal:
        return refusal
    pool = view.node.pool(wanted.pool)
    lines = [f"would update '{pool.name}' to the following configuration:\n", f"\t{pool.name}"]
    lines += [f"\t{'  ' * depth}{name}" for depth, name in _rows(view, pool, wanted)]
    return Answer(0, "\n".join(lines) + "\n")


def _rows(view: View, pool: Pool, wanted: Wanted) -> Iterator[tuple[int, str]]:
    yield from _class(view, pool, "data")
    for cls, heading in SECTIONS:
        yield from _section(heading.strip(), list(_class(view, pool, cls)), wanted, cls)
    for listed, heading, role in ((pool.caches, "cache", "cache"), (pool.spares, "spares", "spare")):
        yield from _section(heading, [(1, leaf_name(view, one, SHOWN)) for one in listed], wanted, role)


def _section(heading: str, found: list[tuple[int, str]], wanted: Wanted, role: str) -> Iterator[tuple[int, str]]:
    new = [(1, path) for path in wanted.paths] if role in ALONE else [(1, "mirror"), *((2, path) for path in wanted.paths)]
    rows = [*found, *(new if wanted.role == role else [])]
    if rows:
        yield 0, heading
        yield from rows


def _class(view: View, pool: Pool, cls: str) -> Iterator[tuple[int, str]]:
    for index, one in enumerate(pool.tops):
        if one.cls == cls:
            yield from _below(view, one, index, 1, cls == "data")


def _below(view: View, vdev: Vdev, index: int, depth: int, counted: bool) -> Iterator[tuple[int, str]]:
    """Only among the data a mirror or a raidz is printed with its number."""
    name = vdev_name(view, vdev, index, SHOWN)
    yield depth, name if counted or not vdev.children else name.rpartition("-")[0]
    for number, child in enumerate(vdev.children):
        yield from _below(view, child, number, depth + 1, counted)


def add(node: Node, wanted: Wanted) -> Answer:
    """The tool's own checks are behind us. It partitions the disks before it asks the kernel."""
    pool = node.pool(wanted.pool)
    if pool.suspended:
        return refused(1, f"cannot add to '{pool.name}': pool I/O is currently suspended")
    devices = [device for device in map(View(node).device, wanted.paths) if device is not None]
    partitions = [partition(device.disk)[0] for device in devices]
    if wanted.role in CLASSES and (why := _refused_by_kernel(node, pool, wanted)):
        return refused(1, f"cannot add to '{pool.name}': {why}")
    pool.txg += 1
    leaves = []
    for path, device, part in zip(wanted.paths, devices, partitions, strict=True):
        leaf = replacing.new_leaf(node, pool, path, device, pool.txg)
        leaf.path = path if device.disk.map else part_path(path, 1)
        part.label = Label(pool.name, leaf.guid, pool.txg)
        leaves.append(leaf)
    _put(pool, wanted, leaves, devices[0].disk.size_bytes)
    return Answer(0)


def _refused_by_kernel(node: Node, pool: Pool, wanted: Wanted) -> str:
    """After vdev_alloc in module/zfs/vdev.c and spa_vdev_add in module/zfs/spa.c, in the words of zpool_add in lib/libzfs/libzfs_pool.c."""
    if not pool.classes and not any(one.cls in CLASSES for one in pool.tops):
        return "pool must be upgraded to add these vdevs"
    shifts = {one.ashift for one in pool.tops if one.cls == "data"}
    if node.release >= ASHIFT_IS_COMPARED and len(shifts) == 1 and wanted.ashift not in (0, *shifts):
        return "adding devices with different physical sector sizes is not allowed"
    return ""


def _put(pool: Pool, wanted: Wanted, leaves: list[Vdev], size_bytes: int) -> None:
    if wanted.role == "cache":
        pool.caches.append(leaves[0])
    elif wanted.role == "spare":
        leaves[0].state = "AVAIL"
        pool.spares.append(leaves[0])
    else:
        kind, guid = ("disk", leaves[0].guid) if len(leaves) == 1 else ("mirror", guid_of("mirror", *(leaf.guid for leaf in leaves)))
        new = top(kind, guid, leaves, size_bytes, cls=wanted.role)
        new.ashift = wanted.ashift or new.ashift
        pool.tops.append(new)
