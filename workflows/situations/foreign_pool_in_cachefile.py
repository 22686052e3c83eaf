"""The cache file of a node names a pool that another host has, or had last: the node's next boot tries to import it.

What the cache file holds, and what `zpool import -c` makes of it, read at 2.1.16 and 2.3.4:

    the hostid and the name of the host that wrote the file stand in it    spa_config_generate in module/zfs/spa_config.c
    every import and each change of a pool writes it anew, with the pools
    that are imported here and use this file, and no others                spa_write_cachefile there
    up to 2.1 -c compares the hostid of this host with itself, so it
    imports a pool of another host without being asked for -f              zfs_force_import_required in cmd/zpool/zpool_main.c
    from 2.2.0 it compares the hostid that the pool itself holds           the same
    in both an exported pool comes in, and multihost protects one in use   spa_activity_check_required in module/zfs/spa.c

A file that came with another host's image, or from before a takeover, is such a one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors.zdb_config import CACHE_FILE, CachedPool
from agents.collectors.zdb_label import ACTIVE
from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, LabelFacts, NodeFacts, known, release_numbers
from workflows.facts.fleet.divergence import rows
from workflows.situations import _words, kernel_names

SLUG = "foreign-pool-in-cachefile"
MANUALS: tuple[str, ...] = ()
COMPARES_OF_POOL = (2, 2, 0)


@dataclass(frozen=True)
class Foreign:
    node: NodeFacts
    cached: CachedPool
    holders: tuple[NodeFacts, ...]  # other nodes that have it imported
    labels: tuple[LabelFacts, ...]  # in use, by another host than this one

    @property
    def whose(self) -> str:
        if self.holders:
            return f"{' and '.join(holder.node for holder in self.holders)} has imported"
        return f"{' and '.join(dict.fromkeys(_host(label) for label in self.labels))} had last and never exported"

    @property
    def asks(self) -> bool | None:
        """Whether its import refuses a pool of another host; None where its release is not known."""
        release = release_numbers(self.node.zfs_module)
        return release >= COMPARES_OF_POOL if known(release) else None


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for node in fleet.nodes.values() for one in _foreign(fleet, node))


def _foreign(fleet: FleetFacts, node: NodeFacts) -> Iterator[Foreign]:
    """Only where it is known which pools the node has imported."""
    if not known(node.cached) or not known(node.pools) or not all(known(pool.guid) for pool in node.pools):
        return
    here = {pool.guid for pool in node.pools}
    for cached in node.cached:
        if cached.guid not in here:
            holders = tuple(other for other in fleet.nodes.values() if other.node != node.node and _has(other, cached.guid))
            labels = tuple(row.label for row in rows(node, cached.guid) if _is_of_another(node, row.label))
            if holders or labels:
                yield Foreign(node, cached, holders, labels)


def _has(node: NodeFacts, guid: int) -> bool:
    return any(known(pool.guid) and pool.guid == guid for pool in node.pools_read)


def _is_of_another(node: NodeFacts, label: LabelFacts) -> bool:
    """By hostid and by name: a host whose own hostid changed is not another one."""
    if label.state != ACTIVE or label.hostid is None or not known(node.hostid) or not known(node.hostname):
        return False
    return label.hostid != int(node.hostid, 16) and label.hostname != node.hostname


def _host(label: LabelFacts) -> str:
    return f"{label.hostname or 'an unknown host'} (hostid {label.hostid or 0:x})"


def _situation(one: Foreign) -> Situation:
    name, here = one.cached.name, one.node.node
    severity: Severity = "watch" if one.asks else "act"
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{here}:{one.cached.guid}",
        node=here,
        severity=severity,
        title=f"The next boot of {here} tries to import {name}, which {one.whose}",
        meaning=" ".join(_meaning(one)),
        evidence=tuple(_evidence(one)),
        subject={"node": here, "pool": name, "pool_guid": str(one.cached.guid)}
        | ({"other_node": one.holders[0].node} if one.holders else {}),
        sure=one.asks is not None,
        cures=tuple(_cures(one)),
    )


def _meaning(one: Foreign) -> Iterator[str]:
    name, here, file = one.cached.name, one.node.node, one.cached
    yield f"{CACHE_FILE} of {here} names {name} (id {file.guid}), and `zpool import -c` runs at its next boot."
    if one.asks is None:
        yield f"Which release of OpenZFS {here} runs is not known. One before 2.2.0 imports it then without being asked for -f."
    elif one.asks:
        yield "This release compares the hostid that the pool itself holds, and refuses while the other host has not exported it. Once it has, the boot imports it."
    else:
        yield "Before 2.2.0 that compares no hostid of the pool: it is imported without being asked for -f. Only multihost keeps two hosts from it then."
    yield "Two hosts that write to one pool destroy it."
    if known(one.node.hostid) and file.hostid is not None and file.hostid != int(one.node.hostid, 16):
        yield f"The file itself was written by {file.hostname or 'an unknown host'} (hostid {file.hostid:x}): it came from another host, or the hostid of {here} changed."


def _evidence(one: Foreign) -> Iterator[Evidence]:
    file = one.cached
    written = f"hostid {file.hostid:x}, hostname {file.hostname}" if file.hostid is not None else "no hostid"
    yield _words.evidence(one.node, "zdb_config", f"{file.name}: pool_guid {file.guid}, {written}")
    for holder in one.holders:
        yield _words.evidence(holder, "zpool_status", f"pool: {file.name}  (guid {file.guid})")
    for label in one.labels[:1]:
        text = f"{label.pool_name}: state {label.state}, txg {label.txg}, last written by {_host(label)}"
        yield _words.evidence(one.node, f"zdb_label/{label.partition}", text)


def _cures(one: Foreign) -> Iterator[Cure]:
    name, here = one.cached.name, one.node.node
    yield Cure(
        "look",
        f"Ask which host is to have {name}, and boot {here} only after its cache file was written anew, or with its cables to these disks unplugged.",
        (("zdb", "-C"),),
    )
    other = next((pool for pool in one.node.pools_read if kernel_names.cachefile_of(pool) == kernel_names.KEPT), None)
    if other is not None:
        yield Cure(
            "other",
            f"Have ZFS write the file anew: setting the property of {other.name} does, and only what is imported on {here} stays in the file.",
            (("zpool", "set", f"cachefile={CACHE_FILE}", other.name),),
            needs=f"{name} is not to be imported on {here}. An initramfs may hold a copy of the file: build it anew too (`update-initramfs -u` or `dracut -f`).",
            save_first=f"A copy of {CACHE_FILE}.",
        )
        return
    in_file = {cached.guid for cached in one.node.cached} if known(one.node.cached) else set()
    if ours := [pool.name for pool in one.node.pools_read if known(pool.guid) and pool.guid in in_file]:
        yield Cure(
            "look",
            f"The file names {', '.join(ours)} too, which {here} has imported, so leave it where it is. Ask which file each pool uses, and set that property "
            "of one of them to the same value again: ZFS then writes the file anew.",
            (("zpool", "get", "cachefile"),),
        )
        return
    yield Cure(
        "other",
        f"No pool that {here} has imported is in that file, so move it away.",
        (("mv", CACHE_FILE, f"{CACHE_FILE}.old"),),
        needs=f"{name} is not to be imported on {here}, and `zfs-import-scan.service` is not enabled there: without a cache file it imports whatever it finds. "
        "An initramfs may hold a copy of the file: build it anew too (`update-initramfs -u` or `dracut -f`).",
    )
