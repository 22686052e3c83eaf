"""Two nodes have one hostid, or both none: each takes the labels of the other for its own, and imports its pools without being asked for -f.

Both checks compare hostids alone, alike in 2.1.11, 2.3.2 and 2.4.0: `zpool import` asks for -f where the label names another one
(cmd/zpool/zpool_main.c: zfs_force_import_required), and the kernel skips the look for another writer where it is its own
(module/zfs/spa.c: spa_activity_check_required). Mostly a system was installed from an image of another that had /etc/hostid in it.
"""

from collections import defaultdict
from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, known
from workflows.situations import _words
from workflows.situations._pools import is_paste
from workflows.situations.foreign_pool_imported_elsewhere import SILENT_SECONDS

SLUG = "shared-hostid"
MANUALS: tuple[str, ...] = ()
POOLS_NAMED = 4


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    """Of nodes that report now. Two without a hostid are of matter only where they see disks of one pool."""
    found = ((hostid, nodes, _seen_by_both(nodes)) for hostid, nodes in _by_hostid(fleet).items() if len(nodes) > 1)
    return tuple(_situation(hostid, nodes, pools) for hostid, nodes, pools in found if hostid or pools)


def _by_hostid(fleet: FleetFacts) -> dict[int, list[NodeFacts]]:
    nodes = defaultdict(list)
    for node in sorted(fleet.nodes.values(), key=lambda one: one.node):
        if known(node.hostid) and node.age_seconds < SILENT_SECONDS and not node.brought and not is_paste(node):
            nodes[int(node.hostid, 16)].append(node)
    return nodes


def _seen_by_both(nodes: list[NodeFacts]) -> dict[int, str]:
    """Guid and name of each pool of which two of the nodes read labels or have it imported. What is not known is in none."""
    seen: dict[int, str] = {}
    both: dict[int, str] = {}
    for node in nodes:
        own = dict(_pools_of(node))
        both |= {guid: name for guid, name in own.items() if guid in seen}
        seen |= own
    return both


def _pools_of(node: NodeFacts) -> Iterator[tuple[int, str]]:
    if known(node.pools):
        yield from ((pool.guid, pool.name) for pool in node.pools if known(pool.guid))
    for disk in node.disks if known(node.disks) else ():
        if known(disk.labels):
            yield from ((label.pool_guid, label.pool_name or str(label.pool_guid)) for label in disk.labels if label.pool_guid is not None)


def _situation(hostid: int, nodes: list[NodeFacts], pools: dict[int, str]) -> Situation:
    names = " and ".join(node.node for node in nodes)
    what = f"have the hostid {hostid:08x}" if hostid else "have no hostid"
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{hostid:08x}:{':'.join(node.node for node in nodes)}",
        node=nodes[0].node,
        severity="act" if pools else "watch",
        title=f"{names} {what}",
        meaning=" ".join(_meaning(names, what, pools)),
        evidence=tuple(_words.evidence(node, "node", f"hostid: {node.hostid}") for node in nodes),
        subject={"node": nodes[0].node, "other_node": nodes[1].node, "hostid": f"{hostid:08x}"},
        cures=tuple(_cures(names, bool(hostid))),
    )


def _meaning(names: str, what: str, pools: dict[int, str]) -> Iterator[str]:
    yield (
        f"{names} {what}. ZFS distinguishes hosts by nothing else: to each of them a pool that the other uses looks like its own, which was not exported. "
        "`zpool import` does not ask for -f then, an import at boot takes it too, and multihost does not look for another writer. Two hosts that write to one "
        "pool destroy it."
    )
    named = sorted(pools.values())
    if named:
        more = f" and {len(named) - POOLS_NAMED} more" if len(named) > POOLS_NAMED else ""
        yield f"Two of them reach disks of {', '.join(named[:POOLS_NAMED])}{more}, so this may happen at the next boot or import."
    else:
        yield "No disk of one pool is known to be reached by two of them; where that is so, nothing happens until disks are moved or cabled to both."


def _cures(names: str, is_set: bool) -> Iterator[Cure]:
    yield Cure(
        "look",
        f"See which of {names} has which pool, and import nothing on any of them before one has another hostid. Boot none of them meanwhile.",
        (("zpool", "list", "-o", "name,guid,health"),),
    )
    yield Cure(
        "zgenhostid",
        "On the one that can be without its pools: export them, give it a new hostid, and build its initramfs anew (`update-initramfs -u` or `dracut -f`). "
        "Reboot it, then import its pools there, which writes the new hostid.",
        (("zgenhostid", "-f"),) if is_set else (("zgenhostid",),),
        releases="2.0 and newer" if is_set else "0.7 and newer",
        needs="Every pool of it is exported. The other node keeps its hostid: a pool that is imported meanwhile would look foreign at its next import.",
        save_first="the old hostid, as `hostid` prints it, and /etc/hostid",
    )
    yield Cure("look", "Take /etc/hostid out of the image that both were installed from, so that the next host gets one of its own.")
