"""A vdev cannot be opened, and at the path of each disk it lacks ZFS finds no label of it: the names moved, or the labels are not read.

`zpool status` advises to destroy and re-create the pool then (ZFS-8000-5E), which destroys data that is most likely all there. An export and
an import by stable names looks for every member by its label. A pool whose labels are truly gone loses nothing by that look.

`rename-members` answers no pool that is down: it asks that every member is ONLINE. Once the pool is exported, `import-pool` brings it in by stable
names, and that ends the kernel names too.
"""

from collections.abc import Iterator

from workflows.analysis import pool_fate
from workflows.analysis.redundancy import CANNOT_SERVE
from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.situations import _cures, _words

SLUG = "names-moved"
MANUALS: tuple[str, ...] = (_cures.IMPORT, "read-only-import")
GATES = True
NAMES_SHOWN = 6


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool) for node in fleet.nodes.values() for pool in node.pools_read if pool_fate.names_moved(pool))


def explains(cause: Situation, other: Situation) -> bool:
    """A member that was not found under its name is one of those whose names moved."""
    here = (other.node, other.subject.get("pool")) == (cause.node, cause.subject["pool"])
    return here and other.slug in ("disk-missing", "disk-faulted") and other.subject.get("vdev_guid") in cause.vdevs


def lost(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    tops = [top for role, top in pool.tops_read if role != "log" and top.state in CANNOT_SERVE]
    return tuple(leaf for top in tops for leaf in top.leaves() if leaf.state in lookup.LOST_STATES)


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    leaves = lost(pool)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}",
        node=node.node,
        severity="act",
        title=f"{pool.name} is {pool.state}: ZFS finds no label of {len(leaves)} of its disks under their names",
        meaning=" ".join(_meaning(node, pool, leaves)),
        evidence=tuple(_rows(node, pool, leaves)),
        subject=_words.subject(node, pool),
        sure=False,
        cures=tuple(_cures_of(pool)),
        gate=True,
        vdevs=tuple(_cures.guid(leaf) for leaf in leaves),
    )


def _meaning(node: NodeFacts, pool: PoolFacts, leaves: tuple[VdevFacts, ...]) -> Iterator[str]:
    names = ", ".join(leaf.was or leaf.name for leaf in leaves[:NAMES_SHOWN]) + (" and others" if len(leaves) > NAMES_SHOWN else "")
    yield (
        f"{pool.name} on {node.node} is {pool.state}. At {names} ZFS could open something, and found there no label of the member it expected. That all of "
        "them lost their labels at once is rare; that names like sdc lead to other disks since the last boot, or that something else "
        "wrote to the disks, is not."
    )
    if "estroy" in pool.action:
        yield "`action:` says to destroy and re-create the pool: do not. It is printed for every pool of which too little is found, and destroys what is still there."
    yield "Change no disk and label none. Export the pool and look for it by stable names: a look writes nothing."


def _rows(node: NodeFacts, pool: PoolFacts, leaves: tuple[VdevFacts, ...]) -> Iterator[Evidence]:
    yield _words.evidence(node, "zpool_status", f"state: {pool.state}")
    for leaf in leaves[:NAMES_SHOWN]:
        yield _words.evidence(node, "zpool_status", "  ".join(part for part in (leaf.name, leaf.state, leaf.note) if part))


def _cures_of(pool: PoolFacts) -> Iterator[Cure]:
    yield _cures.look(
        "See which pool and member each disk claims to be by its label, and compare the guids with those of the pool.",
        ("zpool", "status", "-g", pool.name),
        ("lsscsi", "-i", "-g", "-s"),
    )
    yield _cures.export_import(
        pool,
        "Export the pool, look for it by stable names, and import it by its id. If the look lists every member ONLINE, only the names had moved.",
    )
    yield Cure(
        "import",
        "If members are still missing in the look, import read-only first and copy away what cannot be lost.",
        needs="The labels of enough members are found.",
        runbook="read-only-import",
    )
    yield Cure(
        "restore",
        "Only when the labels of too many disks are proven gone (`zdb -l` on each), with the disks set aside untouched: make the pool anew from a backup.",
        needs="A backup that was read back, and every other way failed.",
        save_first="Everything on the disks of the pool.",
    )
