"""A pool, or a vdev of it that holds data, cannot be opened: nothing of it is served, and no disk is to be replaced before it is.

    log           ZFS-8000-K4   the last synchronous writes cannot be read from the log device; `zpool clear` gives them up
    metadata      ZFS-8000-72   what describes the pool cannot be read; `action:` says "Destroy and re-create", the last of all steps
    version       ZFS-8000-A5   a newer pool version
    features      ZFS-8000-A5   features that this release of ZFS does not have
    contradiction               the row says that it cannot be opened, and its leaves say that they serve
    members       ZFS-8000-3C   too many disks are away
    unknown                     none of these

A suspended pool is `pool-suspended`, one whose disks bear no label under their names `names-moved`. From 0.7.9 to 0.7.13 a pool that
multihost suspended is printed with the id of a bad log, so the words decide and not the id (`zpool_get_status`, lib/libzfs).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from workflows.analysis import pool_fate
from workflows.analysis.redundancy import CANNOT_SERVE, COUNTED_CLASSES
from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.situations import _cures, _words

SLUG = "pool-down"
MANUALS: tuple[str, ...] = ("read-only-import", _cures.IMPORT)
GATES = True
NAMED = 6
_FEATURE = re.compile(r"(?<![a-z0-9.])[a-z0-9.]+\.[a-z]+:[A-Za-z0-9_]+")

Why = Literal["log", "metadata", "version", "features", "contradiction", "members", "unknown"]
TITLES: Mapping[Why, str] = {
    "log": "its intent log cannot be read",
    "metadata": "what describes the pool cannot be read",
    "version": "it has a newer version than this system reads",
    "features": "it uses features that this system does not have",
    "contradiction": "its disks are reported as serving all the same",
    "members": "too many of its disks are away",
    "unknown": "the reason is not printed",
}


@dataclass(frozen=True)
class Down:
    node: NodeFacts
    pool: PoolFacts
    why: Why
    contradiction: str

    @property
    def tops(self) -> tuple[VdevFacts, ...]:
        """Those that hold data and cannot be opened."""
        return tuple(top for role, top in self.pool.tops_read if role in COUNTED_CLASSES and top.state in CANNOT_SERVE)

    @property
    def lost(self) -> tuple[VdevFacts, ...]:
        return tuple(leaf for top in self.tops for leaf in top.leaves() if leaf.state in lookup.LOST_STATES)

    @property
    def logs(self) -> tuple[VdevFacts, ...]:
        """Its log devices that do not serve; all of them where each is called ONLINE."""
        leaves = [leaf for role, top in self.pool.tops_read if role == "log" for leaf in top.leaves()]
        return tuple(leaf for leaf in leaves if lookup.serves_nothing(leaf)) or tuple(leaves)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for node in fleet.nodes.values() for pool in node.pools_read if (one := down(node, pool)) is not None)


def down(node: NodeFacts, pool: PoolFacts) -> Down | None:
    if pool_fate.is_suspended(pool) or pool_fate.names_moved(pool) or not pool_fate.why_down(pool):
        return None
    contradiction = pool_fate.contradicts_itself(pool)
    return Down(node, pool, _why(pool, contradiction), contradiction)


def explains(cause: Situation, other: Situation) -> bool:
    """What disks counted while the pool could not be opened says nothing of the disks."""
    here = (other.node, other.subject.get("pool")) == (cause.node, cause.subject["pool"])
    return here and other.slug in ("disk-errors", "data-errors", "member-degraded")


def _why(pool: PoolFacts, contradiction: str) -> Why:
    text = " ".join(f"{pool.status} {pool.row_note}".lower().split())
    if "intent log" in text:
        return "log"
    if (
        "newer, incompatible version" in text
        or "newer version" in text
        or "incompatible version" in pool.row_note
        or "unsupported version" in text
    ):
        return "version"
    if "unsupported feature" in text or ("feature" in text and "not supported" in text):
        return "features"
    if "metadata is corrupted" in text or "corrupted data" in pool.row_note:
        return "metadata"
    roles = [role for role, top in pool.tops_read if top.state in CANNOT_SERVE]
    if roles and all(role == "log" for role in roles):
        return "log"
    if contradiction:
        return "contradiction"
    shut = [top for role, top in pool.tops_read if role in COUNTED_CLASSES and top.state in CANNOT_SERVE]
    if shut and all(top.children and not any(leaf.state in lookup.LOST_STATES for leaf in top.leaves()) for top in shut):
        return "unknown"  # of the rows that are here none is away
    if roles or "insufficient replicas" in text or "too many" in text or "missing" in text:
        return "members"
    return "unknown"


def _situation(one: Down) -> Situation:
    node, pool = one.node, one.pool
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}",
        node=node.node,
        severity="act",
        title=f"{pool.name} is down ({_state(pool)}): {TITLES[one.why]}",
        meaning=" ".join(_meaning(one)),
        evidence=tuple(_evidence(one)),
        subject=_words.subject(node, pool) | {"why": one.why},
        sure=one.why not in ("contradiction", "unknown"),
        cures=tuple(CURES[one.why](one)),
        gate=True,
        vdevs=tuple(_cures.guid(vdev) for vdev in (*one.tops, *one.lost)),
    )


def _state(pool: PoolFacts) -> str:
    return pool.state if pool.state in CANNOT_SERVE else pool.row_state if pool.row_state in CANNOT_SERVE else "a vdev cannot be opened"


METADATA = ("special", "dedup")


def _meaning(one: Down) -> Iterator[str]:
    node, pool = one.node, one.pool
    yield f"{pool.name} on {node.node} is {_state(pool)}: what it holds is not served, and nothing is written to it."
    if one.tops:
        yield f"It cannot do without {', '.join(f'{top.name} ({top.state})' for top in one.tops)}."
    roles = tuple(dict.fromkeys(role for role, top in pool.tops_read if role in METADATA and top in one.tops))
    if roles:
        yield f"{' and '.join(roles).capitalize()} vdevs hold what finds the data: without one nothing of the pool can be read, and no other disk has it."
    yield WHY[one.why]
    if one.contradiction and one.why != "log":
        yield f"The rows contradict each other: {one.contradiction} How many more losses it survives is not known."
    if one.why == "features":
        named = _FEATURE.findall(pool.status)
        yield f"The features: {', '.join(named)}." if named else "Which features they are is not in this text."
    if one.lost:
        more = f" and {len(one.lost) - NAMED} more" if len(one.lost) > NAMED else ""
        yield f"Away are {', '.join(_named(leaf) for leaf in one.lost[:NAMED])}{more}."
    if "estroy" in pool.action:
        yield "`action:` says to destroy and re-create the pool. That is the last of all steps: it is printed also where all data can still be saved."
    yield "Change no disk of it now: a new disk cannot be filled from a pool that does not serve."


WHY: Mapping[Why, str] = {
    "log": (
        "It was not exported before it was imported last, and the synchronous writes of the last seconds cannot be read from its log device. ZFS "
        "waits for a person to choose: bring the log device back, and nothing is lost, or give those last seconds up. Programs got the answer that "
        "these writes are safe (databases, NFS, virtual machines), so whoever owns the data decides, and not who is on call."
    ),
    "metadata": (
        "The blocks that describe the pool itself do not check out. Most often one disk with an old or foreign label, moved names, or a cable is to blame, and not "
        "the data: another set of disks, an older state of the pool (rewind), or a read-only import opens it then."
    ),
    "version": "The pool is as it was: the software here is too old for it. Nothing needs repair.",
    "features": "The pool is as it was: the software here is too old for it, or built without them. Some features allow a read-only import. Nothing needs repair.",
    "contradiction": "Its disks are reported as serving, and they would be enough. Either the text was taken in the middle of a change, or ZFS has not taken back a disk that answers again.",
    "members": (
        "More disks are away than it can do without. When several go at once, it is a cable, an expander, an HBA or the power of a shelf far more often than "
        "the disks; the data is there as soon as enough of them are back."
    ),
    "unknown": "Why is not printed, or was not understood. Until it is known, take it that the data can be saved.",
}


def _named(leaf: VdevFacts) -> str:
    was = f", was {leaf.was}" if leaf.was else ""
    note = f", {leaf.note}" if leaf.note and not leaf.was else ""
    return f"{_cures.guid(leaf) if leaf.was else leaf.name.rsplit('/', 1)[-1]} ({leaf.state}{was}{note})"


def _evidence(one: Down) -> Iterator[Evidence]:
    pool = one.pool
    yield _words.evidence(one.node, "zpool_status", f"state: {pool.state}")
    if pool.status:
        yield _words.evidence(one.node, "zpool_status", f"status: {' '.join(pool.status.split())[:300]}")
    if pool.row_state or pool.row_note:
        yield _words.evidence(one.node, "zpool_status", "  ".join(part for part in (pool.name, pool.row_state, pool.row_note) if part))
    for vdev in (*one.tops, *one.lost[:NAMED]):
        yield _words.evidence(one.node, "zpool_status", "  ".join(part for part in (vdev.name, vdev.state, vdev.note) if part))
    kernel = one.node.kstats.pool(pool.name) if known(one.node.kstats) else None
    if kernel is not None:
        yield _words.evidence(one.node, "kstat_pools", f"{pool.name}/state: {kernel.state}")


def _of_log(one: Down) -> Iterator[Cure]:
    pool = one.pool
    names = ", ".join(leaf.short for leaf in one.logs)
    yield _cures.reseat(f"the log device{f' ({names})' if names else ''}")
    commands = tuple(command for leaf in one.logs for command in _cures.command(pool, leaf, "online"))
    yield Cure("online", "When it answers again, bring it online: the records are read from it, and nothing is lost.", commands)
    yield Cure(
        "clear",
        f"Only if the log device is gone for good: `zpool clear` opens {pool.name} without these records. The synchronous writes of the last seconds before "
        "it went down are lost; everything older is there.",
        (("zpool", "clear", pool.name),),
        needs="Whoever owns the data has agreed to lose the last seconds, and their names are written down. No other host has the pool.",
        save_first="`zpool status -P -p` and `zpool status -g -p`, and the log device itself: keep it, untouched.",
    )
    yield _cures.scrub(pool, f"Then scrub {pool.name}, and have those who use it check what they wrote last.")


def _of_metadata(one: Down) -> Iterator[Cure]:
    pool = one.pool
    yield Cure(
        "export-import",
        "Export the pool: nothing is lost by that, and every further look needs it.",
        (("zpool", "export", pool.name),),
        needs="No other host has the pool.",
        save_first="`zpool status -P -p`, `zpool status -g -p`, and the kernel's log.",
    )
    yield _cures.look(
        "Look at the labels of all of its disks: one with an older txg, another pool's guid, or no label is the one to leave out. Look at the cables and at "
        "whether names moved.",
        ("zpool", "import", "-d", "/dev/disk/by-id"),
        ("lsscsi", "-i", "-g", "-s"),
    )
    yield from _read_only(one)
    if "clear -F" in pool.action:
        yield Cure(
            "clear",
            f"`zpool clear -F {pool.name}`, which `action:` offers, goes back to an older state of the pool: what was written since is lost for good.",
            needs="The read-only import failed too, whoever owns the data agreed to the time that `action:` names, and no other host has the pool.",
            save_first="Everything of the newer state that a read-only import can still read.",
        )
    yield Cure(
        "restore",
        "The last of all, when a read-only import, the same without the disk that diverged, and a rewind have failed: make the pool anew from a backup.",
        needs="A backup that was read back, and the old disks set aside untouched.",
        save_first="Everything on its disks.",
    )


def _read_only(one: Down) -> Iterator[Cure]:
    named = str(one.pool.guid) if known(one.pool.guid) else one.pool.name
    yield Cure(
        "import",
        "Import it read-only, without mounting: that writes nothing. What can be read then is copied away first.",
        (("zpool", "import", "-N", "-o", "readonly=on", "-o", "cachefile=none", "-d", "/dev/disk/by-id", named),),
        needs="It is exported, and no other host has it.",
        runbook="read-only-import",
    )


def _of_version(one: Down) -> Iterator[Cure]:
    yield Cure(
        "upgrade",
        f"Import {one.pool.name} on a system whose ZFS is as new as the one that used it last, or bring this system to that release.",
        needs="It is exported here first, and no other host has it.",
    )


def _of_features(one: Down) -> Iterator[Cure]:
    yield from _of_version(one)
    yield from _read_only(one)


def _of_members(one: Down) -> Iterator[Cure]:
    lost = ", ".join(leaf.short for leaf in one.lost[:NAMED]) or "the disks that are away"
    yield _cures.reseat(lost, *one.lost)
    commands = tuple(command for leaf in one.lost for command in _cures.command(one.pool, leaf, "online"))
    yield Cure("online", "When they answer again, bring them back, the vdev that lacks most first.", commands)
    yield _cures.export_import(
        one.pool,
        "If the disks are there and ZFS does not see it, their names may have moved: export the pool, look for it by stable names, and import it.",
    )
    yield from _read_only(one)


def _of_contradiction(one: Down) -> Iterator[Cure]:
    pool = one.pool
    yield _cures.look(
        "Take both texts again, and what ZFS noticed and the kernel said of these disks: the second look shows which row is right.",
        ("zpool", "status", "-P", "-p", pool.name),
        ("zpool", "status", "-g", "-p", pool.name),
        ("zpool", "events", "-v", pool.name),
        ("dmesg",),
    )
    yield from _of_members(one)


CURES: Mapping[Why, Callable[[Down], Iterator[Cure]]] = {
    "log": _of_log,
    "metadata": _of_metadata,
    "version": _of_version,
    "features": _of_features,
    "contradiction": _of_contradiction,
    "members": _of_members,
    "unknown": _of_contradiction,
}
