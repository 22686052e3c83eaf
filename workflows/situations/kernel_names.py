"""Members of a healthy pool stand under names that the kernel gives anew at each boot: sdX, nvmeXnY.

ZFS on Linux opens the stored path alone, then compares the label (vdev_disk_open, vdev_validate): a name that leads to another disk leaves the
member UNAVAIL until the pool is imported by a scan. An import with `-d` of a directory takes the names from there (fix_paths in
lib/libzutil/zutil_import.c: a name that equals the stored path is preferred, and with `-d` the stored one is not among those looked at).
"""

from agents.operations import _ordinary
from workflows.engine.core import Answer, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.situations import _pools
from workflows.situations._pools import Wording, cure

SLUG = "kernel-names"
RENAME = "rename-members"
MANUALS: tuple[str, ...] = (RENAME,)
NAMES_SHOWN = 6
SERVES = ("ONLINE", "AVAIL")
KEPT = _ordinary.KEPT  # its cache file is the default one
NO_VALUE = "-"  # as `zpool get` prints a property that is not set: for cachefile, the default cache file


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool) for node, pool in _pools.pools(fleet) if not _pools.is_paste(node) and _is_so(pool))


def moving(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    """The leaves, spares and cache devices too, whose path leads to whatever disk has the name today."""
    return tuple(leaf for _, leaf in lookup.pool_leaves(pool) if leaf.name.startswith("/dev/") and _pools.name_moves(leaf.name))


def cachefile_of(pool: PoolFacts) -> str:
    """As `zpool_import_ordinary` takes it; "" where it is not known, or a file that a person chose."""
    value = pool.properties.get("cachefile") if known(pool.properties) else None
    return {NO_VALUE: KEPT, "none": _ordinary.NONE}.get(value or "", "")


def _is_so(pool: PoolFacts) -> bool:
    """While a member is lost, that comes first."""
    if pool.state != "ONLINE" or not known(pool.tops):
        return False
    return bool(moving(pool)) and all(leaf.state in SERVES for _, leaf in lookup.pool_leaves(pool))


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    leaves = moving(pool)
    names = ", ".join(leaf.short for leaf in leaves[:NAMES_SHOWN])
    more = f" and {len(leaves) - NAMES_SHOWN} more" if len(leaves) > NAMES_SHOWN else ""
    meaning = (
        f"{len(leaves)} members of {pool.name} on {node.node} stand under kernel names ({names}{more}). The kernel gives those anew at each boot and when a "
        "disk is plugged. ZFS checks the label before it writes, so no data is damaged by that; but after such a change the pool may come up without "
        "members, and a command typed with one of these names may meet another disk. An export and an import by stable names ends that; "
        "the file systems of the pool are away meanwhile."
    )
    wording = Wording(
        "info",
        f"{pool.name}: {len(leaves)} members stand under kernel names",
        meaning,
        tuple(_pools.row(node, leaf) for leaf in leaves[:NAMES_SHOWN]),
        (
            cure(
                "export-import",
                f"In a maintenance window, export {pool.name} and import it with `-d /dev/disk/by-id`.",
                needs="Every member is ONLINE, no other host has the pool, and nothing of it is mounted, shared or in use.",
                save_first="The keys of encrypted datasets: they are loaded again by hand afterwards.",
                runbook=RENAME,
            ),
        ),
    )
    return _pools.situation(SLUG, node, pool, wording, answers=_answers(node, pool))


def renaming(node: NodeFacts, pool: PoolFacts) -> tuple[Answer, ...]:
    """The runbook that exports the pool and imports it by stable names, where it can begin: the pool is whole and has names that move."""
    return _answers(node, pool) if _is_so(pool) else ()


def _answers(node: NodeFacts, pool: PoolFacts) -> tuple[Answer, ...]:
    cachefile = cachefile_of(pool)
    if not known(pool.guid) or not cachefile:
        return ()
    return (Answer(RENAME, {"node": node.node, "pool": pool.name, "pool_guid": str(pool.guid), "cachefile": cachefile}),)
