"""A vdev writes in smaller blocks (its ashift) than its disks have sectors: each small write makes the disk read, change and write a sector.

ZFS says so itself since 0.8 (`ZPOOL_STATUS_NON_NATIVE_ASHIFT`, and "block size: 512B configured, 4096B native" behind the row). Where it
does not, the labels hold the ashift and the kernel reports the physical sectors. The ashift of a vdev is fixed when it is made.
"""

from collections.abc import Iterator, Mapping

from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, reason_of
from workflows.situations import _pools
from workflows.situations._pools import Wording, cure

SLUG = "block-size-mismatch"
MANUALS: tuple[str, ...] = ()
NOTE = "block size:"
NAMED = 6


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node, pool in _pools.pools(fleet) if (found := _of(node, pool)) is not None)


def _of(node: NodeFacts, pool: PoolFacts) -> Situation | None:
    noted = tuple(leaf for _, top in pool.tops_read for leaf in (*top.leaves(),) if NOTE in leaf.note)
    if noted or _is_reported_by_zfs(pool):
        return _situation(node, pool, noted, {}, _pools.line(node, "status", pool.status) if pool.status else None)
    coarse = dict(_coarse(node, pool))
    return _situation(node, pool, tuple(leaf for leaves in coarse.values() for leaf in leaves), coarse, None) if coarse else None


def _is_reported_by_zfs(pool: PoolFacts) -> bool:
    reason = reason_of(pool.status) if pool.status else None
    return reason is not None and reason.name == "NON_NATIVE_ASHIFT"


def _coarse(node: NodeFacts, pool: PoolFacts) -> Iterator[tuple[str, tuple[VdevFacts, ...]]]:
    """Top-level vdevs with leaves whose disks have larger physical sectors than it writes."""
    sectors = _sectors(node)
    for _, top in pool.tops_read if sectors else ():
        if not known(top.ashift):
            continue
        block = 1 << top.ashift
        found = tuple(leaf for leaf in top.leaves() if known(leaf.wwid) and sectors.get(leaf.wwid, 0) > block)
        if found:
            yield f"{top.name} writes blocks of {block} bytes", found


def _sectors(node: NodeFacts) -> dict[str, int]:
    """Bytes of a physical sector, by the WWID of the disk; without those that do not report it."""
    disks = node.disks if known(node.disks) else ()
    return {disk.wwid: disk.physical_block_bytes for disk in disks if known(disk.wwid) and known(disk.physical_block_bytes)}


def _situation(
    node: NodeFacts, pool: PoolFacts, leaves: tuple[VdevFacts, ...], coarse: Mapping[str, tuple[VdevFacts, ...]], line: Evidence | None
) -> Situation:
    which = [f"{_pools.called(node, leaf)}{f' ({leaf.note})' if NOTE in leaf.note else ''}" for leaf in leaves[:NAMED]]
    more = f" and {len(leaves) - NAMED} more" if len(leaves) > NAMED else ""
    named = f": {', '.join(which)}{more}" if which else ""
    meaning = (
        f"{pool.name} on {node.node} writes smaller blocks than its disks have sectors{named}. "
        + (f"{'; '.join(coarse)}, and these disks have sectors of {_sectors(node).get(str(leaves[0].wwid), 0)} bytes. " if coarse else "")
        + "Nothing is lost and nothing gets worse, but small writes are slower, as the disk reads, changes and writes a whole sector for each. The block size of a vdev is fixed when it "
        "is made. A disk that takes no smaller writes at all (4Kn) is refused as a replacement there."
    )
    evidence = (*((line,) if line is not None else ()), *(_pools.row(node, leaf) for leaf in leaves[:NAMED]))
    severity: Severity = "watch" if line is not None or not coarse else "info"
    wording = Wording(severity, f"{pool.name}: its blocks are smaller than the sectors of its disks", meaning, evidence, _cures(pool))
    return _pools.situation(SLUG, node, pool, wording, vdevs=leaves)


def _cures(pool: PoolFacts) -> tuple[Cure, ...]:
    return (
        cure("wait", "Leave it where the speed is good enough. No disk is faulty, and none is to be replaced for it alone."),
        cure(
            "look",
            "See with which block size each vdev was made, and what the disks have.",
            ("zdb", "-C", pool.name),
            ("lsblk", "-o", "NAME,PHY-SEC,LOG-SEC,SERIAL,WWN"),
        ),
        cure(
            "restore",
            "Where it is too slow, make a new pool with `-o ashift=12` and copy the data. In a pool of mirrors and single disks, add vdevs with the right ashift and copy within; "
            "a vdev of another ashift cannot be removed.",
            save_first=f"all data of {pool.name}",
        ),
    )
