"""An older release wrote something of the pool in a way that is not quite right, and ZFS names it by a number.

The numbers: 1 the scrub of ZoL #2094, 2 its asynchronous destroy (such a pool is not imported), 3 encryption before 0.8 (#6845),
4 encrypted snapshots and bookmarks (#8308) (include/sys/fs/zfs.h, zpool_errata_t).
"""

import re

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, ImportableFacts, NodeFacts, PoolFacts, imported_pools, reason_of
from workflows.situations import _pools, _words
from workflows.situations._pools import Wording, cure

SLUG = "pool-errata"
MANUALS: tuple[str, ...] = ()
_NUMBER = re.compile(r"Errata #([0-9]{1,4})")

MEANINGS = {
    1: "A scrub or resilver of an early release left its notes in a form that is not right. A scrub writes them anew.",
    2: "Datasets were being destroyed under an early release, in a form that this one does not read. That release has to finish it.",
    3: "Its encrypted datasets were made by a release before 0.8 and cannot be mended in place. They are read-only; what is not encrypted is not touched.",
    4: "It has, or may have, encrypted snapshots or bookmarks of a form with which `zfs receive` can damage data. Without such snapshots and bookmarks "
    "nothing is wrong but the note.",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    imported = imported_pools(fleet)
    served = (_situation(node, pool) for node, pool in _pools.pools(fleet) if _speaks_of_it(pool))
    listed = (
        _listed(node, pool)
        for node in fleet.nodes.values()
        for pool in node.importable_read
        if pool.guid not in imported and _speaks_of_it(pool)
    )
    return (*served, *listed)


def _speaks_of_it(pool: PoolFacts | ImportableFacts) -> bool:
    reason = reason_of(pool.status, pool.see) if pool.status else None
    return reason is not None and reason.name == "ERRATA"


def _listed(node: NodeFacts, pool: ImportableFacts) -> Situation:
    """A pool that is not imported: the listing says whether it can be, and the cure comes after the import."""
    number = _number(pool.status)
    called = f"errata {number}" if number else "an errata"
    unknown = "What it means is not known here; the action line of zpool import says what to do."
    after = (
        "It cannot be imported by this release: import it with the one that wrote it, and let that finish."
        if number == 2
        else "It does not keep the pool from being imported; what mends it comes after the import."
        if number in MEANINGS
        else ""
    )
    argv = ("zpool", "import", "-N", "-o", "readonly=on", str(pool.guid) if pool.guid else pool.name)
    look = cure("look", "Import it read-only first: then nothing is written, and the data can be looked at.", argv)
    older = cure(
        "upgrade",
        "Import it on a system with the release that began to destroy these datasets, wait there until `zpool get freeing` is 0, and export it. It is whole meanwhile.",
        needs="No other host has it.",
    )
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.guid or pool.name}",
        node=node.node,
        severity="watch",
        title=f"{pool.name}: {called}",
        meaning=f"{pool.name} is not imported on {node.node}, and ZFS found {called} in it. {MEANINGS.get(number, unknown)} {after}".strip(),
        evidence=(_words.evidence(node, "zpool_import", f"status: {' '.join(pool.status.split())[:200]}"),),
        subject={"pool": pool.name} | ({"pool_guid": str(pool.guid)} if pool.guid else {}) | ({"errata": str(number)} if number else {}),
        cures=(older,) if number == 2 else (look,),
    )


def _number(status: str) -> int:
    """0 where it is not given."""
    found = _NUMBER.search(status)
    return int(found.group(1)) if found else 0


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    number = _number(pool.status)
    called = f"errata {number}" if number else "an errata"
    meaning = (
        f"{pool.name} on {node.node}: ZFS found {called}. {MEANINGS.get(number, 'What it means is not known here; the action line of zpool status says what to do.')} "
        "It stays until that is done; no disk is to blame, and none is to be replaced for it."
    )
    wording = Wording("watch", f"{pool.name}: {called}", meaning, (_pools.line(node, "status", pool.status),), _cures(pool, number))
    return _pools.situation(SLUG, node, pool, wording, subject={"errata": str(number)} if number else {})


def _cures(pool: PoolFacts, number: int) -> tuple[Cure, ...]:
    if number == 1:
        return (cure("scrub", f"Scrub {pool.name} to its end.", ("zpool", "scrub", pool.name)),)
    if number == 3:
        return (
            cure("look", "Find the encrypted datasets.", ("zfs", "get", "-r", "-o", "name,value", "encryption", pool.name)),
            cure(
                "restore",
                "Copy each into a new encrypted dataset and destroy the old one. `zfs mount -o ro` reads them meanwhile. A raw send carries the fault along.",
                releases="0.8 and newer",
                save_first="every encrypted dataset, in the copy",
            ),
        )
    if number == 4:
        return (
            cure(
                "look",
                "See whether it has encrypted snapshots or bookmarks.",
                ("zfs", "list", "-r", "-t", "snapshot,bookmark", "-o", "name,encryption", pool.name),
            ),
            cure(
                "upgrade",
                "Enable bookmark_v2. Without encrypted snapshots and bookmarks that is all.",
                ("zpool", "set", "feature@bookmark_v2=enabled", pool.name),
                releases="0.8 and newer",
                needs="No older system has to import this pool any more: a feature cannot be disabled again.",
            ),
            cure(
                "restore",
                "Encrypted snapshots and bookmarks that are needed are sent without -w and received anew; the others are destroyed.",
            ),
        )
    return (
        cure(
            "look",
            f"Read the action line of `zpool status {pool.name}` and the page that its see line names.",
            ("zpool", "status", pool.name),
        ),
    )
