"""`zpool status` could not ask which data is damaged: whoever asked may not, or the pool's I/O is suspended. That is no "none".

Of a pool that is known to be suspended, `pool-suspended` reports all of it, and damage that is counted is `data-errors`.
"""

import re
from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.facts.read.data_errors import data_errors
from workflows.situations import _pools
from workflows.situations._pools import Wording, cure

SLUG = "errors-not-listed"
MANUALS: tuple[str, ...] = ()
GATES = True
_UNAVAILABLE = re.compile(r"List of errors unavailable(?:: *| *\()([^\n)]{1,200})")
_UNLISTED = "List of errors unavailable"
_COUNT = re.compile(r"([0-9]{1,20}) data errors?\b")


def not_listed(pool: PoolFacts) -> str:
    """Why the list of damaged data could not be had, as printed; "" when nothing says so. Without a reason: "no reason is given"."""
    if _UNLISTED not in pool.errors:
        return ""
    found = _UNAVAILABLE.search(pool.errors)
    return found.group(1).strip() if found else "no reason is given"


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, why)
        for node, pool in _pools.pools(fleet)
        if (why := not_listed(pool)) and not (known(pool.suspended) and pool.suspended)
    )


def _situation(node: NodeFacts, pool: PoolFacts, why: str) -> Situation:
    suspended = "suspend" in why
    count = _COUNT.search(pool.errors)
    wording = Wording(
        "act" if suspended or (count is not None and data_errors(pool) is None) else "watch",
        f"{pool.name}: its damaged data could not be listed: {why}",
        " ".join(_meaning(node, pool, why, suspended, count.group(1) if count else "")),
        tuple(_pools.line(node, "errors", one.removeprefix("errors:")) for one in pool.errors.split("\n") if one.strip()),
        tuple(_cures(pool, suspended)),
    )
    return _pools.situation(SLUG, node, pool, wording, subject={"why": why}, gate=suspended, sure=False)


def _meaning(node: NodeFacts, pool: PoolFacts, why: str, suspended: bool, count: str) -> Iterator[str]:
    yield f"zpool status of {pool.name} on {node.node} could not ask which data is damaged ({why}), so that none is damaged is not known."
    if count:
        yield f"It counts {count} data errors: data is damaged. Which files they are in takes the list."
    if suspended:
        yield (
            "The I/O of the pool is suspended: ZFS stopped it, because it could not write. Programs that use it hang. Whether data is damaged shows when it goes "
            "on and was scrubbed. Replace no disk before it goes on."
        )
    elif "permission" in why or "privilege" in why:
        yield (
            "It takes root, or a right that this user does not have. Releases before 0.7 say the same of a pool whose I/O is suspended: where root gets this answer, look "
            "at the state of its disks and in the kernel's log."
        )


def _cures(pool: PoolFacts, suspended: bool) -> Iterator[Cure]:
    if suspended:
        yield cure(
            "reseat",
            "Bring the disks back that the pool lost: cable, HBA, expander, power. Look in the kernel's log what it lost and when.",
            ("dmesg",),
            runbook="suspended-pool",
        )
        yield cure(
            "clear",
            "Then let it go on, when all its disks are there.",
            ("zpool", "clear", pool.name),
            needs="The suspension is none of multihost; after one of these the pool may be on another host.",
            save_first="the whole output of zpool status, zpool events -v and dmesg: clear wipes the counters",
        )
        return
    yield cure("look", "Ask again as root; it only reads, and can take minutes when there are many.", ("zpool", "status", "-v", pool.name))
