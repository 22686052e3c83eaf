"""An older release wrote something of the pool in a way that is not quite right, and ZFS names it by a number.

The numbers: 1 the scrub of ZoL #2094, 2 its asynchronous destroy (such a pool is not imported), 3 encryption before 0.8 (#6845),
4 encrypted snapshots and bookmarks (#8308) (include/sys/fs/zfs.h, zpool_errata_t).
"""

from __future__ import annotations

import re

from workflows.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts
from workflows.facts.status_reasons import reason_of
from workflows.situations import _pools
from workflows.situations._pools import Said, cure

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
    return tuple(_situation(node, pool) for node, pool in _pools.pools(fleet) if pool.status and _speaks_of_it(pool))


def _speaks_of_it(pool: PoolFacts) -> bool:
    reason = reason_of(pool.status, pool.see)
    return reason is not None and reason.name == "ERRATA"


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    found = _NUMBER.search(pool.status)
    number = int(found.group(1)) if found else 0
    called = f"errata {number}" if number else "an errata"
    meaning = (
        f"{pool.name} on {node.node}: ZFS found {called}. {MEANINGS.get(number, 'What it means is not known here; the action line of zpool status says what to do.')} "
        "It stays until that is done; no disk is to blame, and none is to be replaced for it."
    )
    said = Said("watch", f"{pool.name}: {called}", meaning, (_pools.line(node, "status", pool.status),), _cures(pool, number))
    return _pools.situation(SLUG, node, pool, said, subject={"errata": str(number)} if number else {})


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
