"""The tables of numbers that scripts ask for: `zpool list -v`, `get`, `iostat` and the uberblocks of `zdb -lu`.

What the twin's disks do is the same from look to look, so that its texts change only when the node does. A disk in service waits
as its peers do, unless the state says how long it waits.
"""

import itertools
from collections.abc import Iterator, Sequence

from agents.collectors.zpool_get import DEFERS, MULTIHOST
from agents.operations.zpool_add_class import FEATURE
from twin import tuning
from twin.answer import Answer
from twin.figures import ctime
from twin.labels import cut_off, features, label_text, vdev_lines
from twin.model import SECTOR, Label, Node, Pool, Vdev
from twin.vdevs import DOWN, state_of
from twin.view import View

CLASSES = (("data", ""), ("dedup", "dedup"), ("special", "special"), ("log", "logs"))
READ_NS, WRITE_NS, QUEUE_NS = 6291456, 3145728, 12288  # in the middle of histogram buckets, as zpool averages them
READS, WRITES = (3, 225084), (12, 1324758)  # of one leaf: I/Os a second, bytes a second
BUCKETS, LIFETIME_SECONDS = 37, 86400
RINGS = 16  # uberblocks that a disk of the twin shows; the ring holds 32 at ashift 12
TXG_SECONDS = 5
FIRST_ZAP = 129  # the object that a pool made with today's features has for its first vdev
WRITTEN_AT = 1795252000  # when the twin's pools wrote the txg in their labels, unless given otherwise
NO_CACHE_FILE = "cannot open '/etc/zfs/zpool.cache': No such file or directory\n"
PROPERTIES = {
    "readonly": ("off", "-"),
    "failmode": ("wait", "default"),
    "autoreplace": ("off", "default"),
    "autoexpand": ("off", "default"),
    "multihost": ("off", "default"),
    "cachefile": ("-", "default"),
    "ashift": ("12", "local"),
    "altroot": ("-", "default"),
}


def own_properties(pool: Pool) -> dict[str, tuple[str, str]]:
    """Those that an import sets."""
    own = {"readonly": ("on", "-")} if pool.readonly else {}
    given = {name: (value, "local") for name, value in (("altroot", pool.altroot), ("cachefile", pool.cachefile)) if value}
    return {**own, **given}


def classes(pool: Pool) -> Iterator[tuple[str, list[Vdev]]]:
    """The top-level vdevs by class, under the heading that zpool gives each."""
    for cls, heading in CLASSES:
        tops = [top for top in pool.tops if top.cls == cls]
        if tops:
            yield heading, tops


def usable(top: Vdev) -> int:
    return top.asize >> top.metaslab_shift << top.metaslab_shift


def partition_bytes(view: View, leaf: Vdev) -> int:
    """The size of the partition a leaf is on; of one that is away, what its vdev holds."""
    for disk in view.node.disks:
        for partition in disk.partitions:
            if partition.label and partition.label.guid == leaf.guid:
                return partition.sectors * SECTOR
    if leaf.type == "dspare":
        return max((partition_bytes(view, other) for top in pool_of(view.node, leaf).tops for other in top.leaves()), default=0)
    return leaf.asize


def pool_of(node: Node, spare: Vdev) -> Pool:
    return next(pool for pool in node.pools if any(one.guid == spare.guid for one in pool.spares))


# zpool list -v -p -H -g


VDEVS_HAVE_ALTROOT = (2, 4, 1)


def space(view: View, pool: Pool, row: tuple[str, ...]) -> str:
    """`row` is the pool's own, which is printed without -v too."""
    lines = ["\t".join(row)]
    total = sum(usable(top) for top in pool.tops if top.cls != "log")
    width = max(len(str(v.guid)) + 4 for v in (*pool.walk(), *pool.caches, *pool.spares))
    for heading, tops in classes(pool):
        lines += [_section(heading, width, view.node)] if heading else []
        for top in tops:
            alloc = 0 if top.cls == "log" else pool.alloc_bytes * usable(top) // total
            alloc = usable(top) * top.used_percent // 100 if top.used_percent else alloc
            lines += _space(view, top, alloc, True)
    if pool.caches:
        lines.append(_section("cache", width, view.node))
    for cache in pool.caches:
        size = partition_bytes(view, cache)
        lines.append("\t" + "\t".join([str(cache.guid), str(size), "0", str(size), "-", "-", "0", "0", "-", cache.state]))
    if pool.spares:
        lines.append(_section("spare", width, view.node))
        lines += [f"\t{spare.guid}\t{partition_bytes(view, spare)}" + "\t-" * 7 + f"\t{spare.state}" for spare in pool.spares]
    if view.node.release >= VDEVS_HAVE_ALTROOT:
        lines = [f"{line}\t-" if line.startswith("\t") else line for line in lines]
    return "\n".join(lines) + "\n"


def _section(heading: str, width: int, node: Node) -> str:
    last = "         -" if node.release >= (2, 2) else "  -"
    return f"{heading:<{width}}      -      -      -        -         -      -      -      -{last}"


def _space(view: View, vdev: Vdev, alloc: int, is_top: bool) -> Iterator[str]:
    size = partition_bytes(view, vdev) if not vdev.children else usable(vdev)
    cells = ["-"] * 7 if not is_top else [str(alloc), str(usable(vdev) - alloc), "-", "-", "0", str(alloc * 100 // usable(vdev)), "-"]
    shown = "-" if vdev.children and not is_top else str(size)
    yield "\t" + "\t".join([str(vdev.guid), shown, *cells, state_of(vdev)])
    for child in vdev.children:
        yield from _space(view, child, 0, False)


# zpool get -H -p LIST


def properties(view: View, args: Sequence[str], now: float) -> Answer | None:
    """None when it is asked otherwise than the collector asks."""
    if len(args) != 3 or tuple(args[:2]) != ("-H", "-p"):
        return None
    wanted = args[2].split(",")
    known = {"guid", MULTIHOST, DEFERS, FEATURE, *PROPERTIES}
    if not known.issuperset(wanted):
        return None
    rows = (
        f"{pool.name}\t{name}\t{value}\t{source}\n" for pool in view.node.imported for name in wanted for value, source in [_of(pool, name)]
    )
    return Answer(0, "".join(rows))


def _of(pool: Pool, name: str) -> tuple[str, str]:
    if name == "guid":
        return str(pool.guid), "-"
    if name == MULTIHOST:
        return ("on", "local") if pool.suspended == "mmp" else ("off", "default")
    if name == FEATURE:
        special = any(top.cls in ("special", "dedup") for top in pool.tops)
        return ("active" if special else "enabled" if pool.classes else "disabled"), "local"
    if name == DEFERS:
        return ("enabled" if pool.defers else "disabled"), "local"
    return own_properties(pool).get(name, PROPERTIES[name])


# zpool iostat


def iostat(view: View, args: Sequence[str], now: float) -> Answer | None:
    """Averages (two blocks: since the import, and of now) or histograms; None when it is asked otherwise."""
    if not view.node.imported:
        return Answer(1, "", "no pools available\n")
    if len(args) == 7 and tuple(args[:5]) == ("-v", "-l", "-H", "-p", "-g") and args[5].isdigit() and args[6] == "2":
        since_import = "".join(_averages(view, pool, 1.0) for pool in view.node.imported)
        return Answer(0, since_import + "".join(_averages(view, pool, tuning.strain(view.node, pool)) for pool in view.node.imported))
    if tuple(args) == ("-w", "-v", "-H", "-p", "-g"):
        return Answer(0, "".join(_histograms(view, pool) for pool in view.node.imported))
    return None


def _averages(view: View, pool: Pool, strain: float) -> str:
    total = sum(usable(top) for top in pool.tops if top.cls != "log")
    lines = [_row(view.node, pool.name, [leaf for leaf in pool.leaves()], pool.alloc_bytes, total - pool.alloc_bytes, strain)]
    for heading, tops in classes(pool):
        lines += [""] if heading else []
        for top in tops:
            alloc = 0 if top.cls == "log" else pool.alloc_bytes * usable(top) // total
            for vdev in top.walk():
                amounts = (alloc, usable(top) - alloc) if vdev is top else (0, 0)
                lines.append(_row(view.node, str(vdev.guid), vdev.leaves(), *amounts, strain))
    if pool.caches:
        lines.append("")
    for cache in pool.caches:
        lines.append(_row(view.node, str(cache.guid), [cache], 0, partition_bytes(view, cache), strain))
    return "\n".join(lines) + "\n"


def _row(node: Node, name: str, leaves: Sequence[Vdev], alloc: int, free: int, strain: float) -> str:
    serving = [leaf for leaf in leaves if leaf.state not in DOWN]
    counts = [len(serving) * n for n in (READS[0], WRITES[0], READS[1], WRITES[1])]
    waits = ["-"] * 10
    if serving:
        read, write = (int(strain * sum(kind(leaf) for leaf in serving)) // len(serving) for kind in (_read_ns, _write_ns))
        waits = [str(n) for n in (read + QUEUE_NS, write + QUEUE_NS, read, write, QUEUE_NS, QUEUE_NS)] + ["-", str(QUEUE_NS), "-", "-"]
    waits += ["-"] if node.release >= (2, 2) else []
    return "\t".join([name, str(alloc), str(free), *map(str, counts), *waits])


def _read_ns(leaf: Vdev) -> int:
    return int(leaf.wait_ms * 1e6) or READ_NS


def _write_ns(leaf: Vdev) -> int:
    return int(leaf.wait_ms * 1e6) or WRITE_NS


def _histograms(view: View, pool: Pool) -> str:
    names = [(pool.name, pool.leaves())] + [(str(v.guid), v.leaves()) for v in pool.walk()]
    kinds = 11 if view.node.release >= (2, 2) else 10
    return "".join(f"\n{name}\n{_histogram([leaf for leaf in leaves if leaf.state not in DOWN], kinds)}" for name, leaves in names)


def _histogram(leaves: Sequence[Vdev], kinds: int) -> str:
    counts = [[0] * kinds for _ in range(BUCKETS)]
    for leaf in leaves:
        for kind, nanoseconds, per_second in ((0, _read_ns(leaf), READS[0]), (1, _write_ns(leaf), WRITES[0])):
            for column in (kind, kind + 2):  # total and disk
                counts[min(BUCKETS - 1, nanoseconds.bit_length() - 1)][column] += per_second * LIFETIME_SECONDS
    return "".join("\t".join(map(str, [(1 << (i + 1)) - 1, *row])) + "\n" for i, row in enumerate(counts))


# zdb


def uberblocks(view: View, path: str) -> tuple[int, str]:
    """(exit code, text) of `zdb -lu`: the label, then the newest uberblocks of its disk."""
    device = view.device(path)
    if device is None:
        return 1, f"cannot open '{path}': No such file or directory\n"
    if not device.path.runs:
        return cut_off(view, path, device)
    label = device.partition.label if device.partition else None
    if label is None or not label.copies:
        return 2, "".join(f"failed to unpack label {n}\n" for n in range(4))
    failed = "".join(f"failed to unpack label {n}\n" for n in range(4) if n not in label.copies)
    return (1 if failed else 0), failed + label_text(view.node, label) + "".join(_uberblocks(view.node, label))


def _uberblocks(node: Node, label: Label) -> Iterator[str]:
    """A disk whose label is of another txg than its pool wrote its uberblocks at another time, too."""
    pool = node.pool(label.pool)
    reflow = "\traidz_reflow state=0 off=0\n" if node.release >= (2, 3) else ""
    guid_sum = (pool.guid + sum(vdev.guid for vdev in pool.walk())) % (1 << 64)
    for txg, at in sorted(_ring(pool, label), key=lambda one: one[0] % 32):
        yield (
            f"    Uberblock[{txg % 32}]\n\tmagic = 0000000000bab10c\n\tversion = 5000\n\ttxg = {txg}\n\tguid_sum = {guid_sum}\n"
            f"\ttimestamp = {at} UTC = {ctime(at)}\n\tmmp_magic = 00000000a11cea11\n\tmmp_delay = 0\n\tmmp_valid = 0\n"
            f"\tcheckpoint_txg = 0\n{reflow}        labels = {' '.join(map(str, label.copies))} \n"
        )


def _ring(pool: Pool, label: Label) -> list[list[int]]:
    txgs = range(max(4, label.txg - RINGS + 1), label.txg + 1)
    return label.ring or [[txg, WRITTEN_AT + TXG_SECONDS * (txg - pool.txg)] for txg in txgs]


def cached_config(view: View) -> str:
    """`zdb -C`: the pools of the cache file, those that are imported and those that the boot left; "" without any."""
    return "".join(_config(view.node, pool) for pool in view.node.pools if pool.imported or pool.cached)


def _config(node: Node, pool: Pool) -> str:
    zaps = itertools.count(FIRST_ZAP)
    head = (
        f"{pool.name}:\n    version: 5000\n    name: '{pool.name}'\n    state: 0\n    txg: {pool.txg}\n    pool_guid: {pool.guid}\n"
        f"    errata: 0\n    hostid: {pool.hostid}\n    hostname: '{pool.hostname}'\n    com.delphix:has_per_vdev_zaps\n"
        f"    vdev_children: {len(pool.tops)}\n    vdev_tree:\n        type: 'root'\n        id: 0\n        guid: {pool.guid}\n"
        "        create_txg: 4\n"
    )
    if node.release >= (2, 2):
        head += f"        com.klarasystems:vdev_zap_root: {next(zaps)}\n"
    tops = "".join(f"        children[{i}]:\n{vdev_lines(top, i, 3, zaps)}" for i, top in enumerate(pool.tops))
    return head + tops + "    features_for_read:\n" + "".join(f"        {name}\n" for name in features(node, pool))
