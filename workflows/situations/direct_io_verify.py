"""Direct I/O whose checksum did not fit, as `zpool status -d` counts it since 2.3: a program changed its buffer while the I/O was under way.

Such a write fails with EIO and is not stored; such a read is done again through the ARC (man/man8/zpool-status.8 and
`zfs_vdev_direct_write_verify` in man/man4/zfs.4, zfs-2.3.4). No disk is at fault.
"""

from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts
from workflows.situations import _cures, _pools, _words
from workflows.situations._pools import Wording

SLUG = "direct-io-verify"
MANUALS: tuple[str, ...] = ()

Counted = tuple[VdevFacts, str]  # a vdev, and its count as printed


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool, rows) for node, pool in _pools.pools(fleet) if (rows := tuple(_counted(pool))))


def _counted(pool: PoolFacts) -> Iterator[Counted]:
    for _, top in pool.tops_read:
        for vdev in top.walk():
            yield from ((vdev, count) for column, count in vdev.columns if column == "DIO")


def _situation(node: NodeFacts, pool: PoolFacts, rows: tuple[Counted, ...]) -> Situation:
    named = ", ".join(f"{vdev.short} {count}" for vdev, count in rows)
    meaning = (
        f"{pool.name} counted checksum errors of Direct I/O since it was imported: {named}. A program changed its buffer while ZFS wrote or read it directly. "
        "Such a write fails with an I/O error for the program and is not stored, and such a read is done again through the cache. The disks are not at "
        "fault. If nothing is done, the program's writes go on failing."
    )
    wording = Wording(
        "watch",
        f"{pool.name}: a program changes data while it is written directly: {named}",
        meaning,
        tuple(_words.evidence(node, "zpool_status", f"{vdev.name}  {vdev.state}  DIO {count}") for vdev, count in rows),
        tuple(_help(pool)),
    )
    return _pools.situation(SLUG, node, pool, wording, vdevs=tuple(vdev for vdev, _ in rows))


def _help(pool: PoolFacts) -> Iterator[Cure]:
    yield _cures.look(
        "Find the program: each error is an event `dio_verify_wr` or `dio_verify_rd` with its time, and the program's own log has an I/O error then. "
        "Virtual machines with cache=none and databases write this way.",
        ("zpool", "events", "-v", pool.name),
        ("zpool", "status", "-d", pool.name),
    )
    yield Cure(
        "other",
        "Where the program cannot be mended soon, have its dataset do without Direct I/O; put in the dataset for DATASET. Its writes then go through the cache.",
        (("zfs", "set", "direct=disabled", "DATASET"),),
        releases="2.3 and newer",
        save_first="`zfs get direct DATASET` says what it was before.",
    )
