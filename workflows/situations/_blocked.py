"""Which pools that no host has imported do not come in as they should, and why: decided by what the listing and the labels show.

In this order: a disk whose label contradicts the others, features, the hostid, the rows that are not ONLINE and their notes, whole top-level
vdevs that are missing, and last the note of the pool itself. `import_blocked` puts it in words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agents.collectors.zdb_label import ACTIVE, DESTROYED
from agents.operations._importing import OF_HOSTID_0
from workflows.facts import FleetFacts, ImportableFacts, NodeFacts, Suspect, VdevFacts, imported_pools, known, suspects
from workflows.facts.fleet.divergence import Row, rows

Why = Literal[
    "damage", "missing", "half-missing", "names", "missing-log", "missing-top", "features", "hostid", "diverged", "silence", "waiting", "incomplete",
    "marked", "destroyed", "claim", "unclear",
]  # fmt: skip
NONE: Literal[""] = ""  # nothing keeps it


@dataclass(frozen=True)
class Blocked:
    """One pool on one node, and why it does not come in as it should."""

    node: NodeFacts
    name: str
    guid: int
    why: Why
    listed: ImportableFacts | None
    table: tuple[Row, ...]
    suspects: tuple[Suspect, ...]
    namesakes: tuple[ImportableFacts, ...] = ()  # other pools of this name in the same listing

    @property
    def diverging(self) -> tuple[Suspect, ...]:
        return tuple(s for s in self.suspects if s.diverges)

    @property
    def lost(self) -> tuple[VdevFacts, ...]:
        """The leaves that the listing does without."""
        return tuple(leaf for _, top in self.listed.tops for leaf in lost_of(top)) if self.listed else ()

    @property
    def id(self) -> str:
        """For sentences. A listing that was cut or garbled may lack it."""
        return str(self.guid) if self.guid else "ID (its line `id:` was not read)"

    @property
    def unseen_tops(self) -> int | None:
        """How many top-level vdevs the labels count and the listing does not show: missing, or removed long ago. None where no label has it.

        A vdev of which no disk was found has no row: the listing shows the others, each ONLINE.
        """
        counts = [row.label.tops for row in self.table if row.label.tops is not None]
        return max(counts) - len(self.listed.tops) if counts and self.listed else None

    @property
    def ours(self) -> bool:
        """Whether this node used it last, or keeps it in its cache file."""
        cached = self.node.cached if known(self.node.cached) else ()
        own = int(self.node.hostid, 16) if known(self.node.hostid) else None
        return any(pool.guid == self.guid for pool in cached) or any(row.label.hostid == own for row in self.table)


def blocked(fleet: FleetFacts) -> Iterator[Blocked]:
    """Every pool that some node sees and no node has imported, and that does not come in as it should."""
    imported = imported_pools(fleet)
    for node in fleet.nodes.values():
        yield from (one for one in (*_listed(node), *_unlisted(node)) if one.guid not in imported)


def _listed(node: NodeFacts) -> Iterator[Blocked]:
    here = {pool.name for pool in node.pools if not known(pool.guid)} if known(node.pools) else set()
    listed = node.importable_read
    for pool in listed:
        table, found = rows(node, pool.guid), suspects(node, pool.guid, pool)
        why = _why(pool, found) or _why_not_yet(node, pool, table)
        if why and not (why in ("incomplete", "marked") and pool.name in here):  # it may have been imported since it was listed
            namesakes = tuple(other for other in listed if other.name == pool.name and other.guid != pool.guid)
            yield Blocked(node, pool.name, pool.guid, why, pool, table, found, namesakes)


HOSTID = re.compile(r"hostid is not set|multihost property on|zgenhostid")
NEWER = re.compile(r"feature\(s\) not supported|unsupported feature|newer(?:, incompatible)? version|incompatible version|required feature")
WRONG_LABEL = ("corrupted data", "invalid label")  # notes of a row whose name was opened, and led to something else
BAD_LOG = ("bad intent log", "intent log record")


def _why_not_yet(node: NodeFacts, pool: ImportableFacts, table: tuple[Row, ...]) -> Why | Literal[""]:
    """Of one that could come in."""
    if pool.destroyed:
        return NONE
    if _was_here(node, pool, table):
        return "waiting"
    without_rows = pool.state == "DEGRADED" and not pool.tops
    return "incomplete" if without_rows or any(lost_of(top) for _, top in pool.tops) else "marked" if marked_of(pool) else NONE


def _why(pool: ImportableFacts, found: tuple[Suspect, ...]) -> Why | Literal[""]:
    text = f"{pool.status} {pool.action}"
    if OF_HOSTID_0.search(text):
        return "claim"
    if "currently imported by another system" in text or "must be exported from" in text:
        return ""  # another system has it
    if any(suspect.diverges for suspect in found):
        return "diverged"
    if pool.destroyed:
        return "destroyed"
    if NEWER.search(f"{text} {pool.note}"):
        return "features"
    if HOSTID.search(text):
        return "hostid"
    return _by_rows(pool)


def _by_rows(pool: ImportableFacts) -> Why | Literal[""]:
    """By which rows are not there, and what stands behind them."""
    down, lost = pool.state in ("FAULTED", "UNAVAIL"), [leaf for kind, top in pool.tops if kind != "log" for leaf in lost_of(top)]
    if any(_places_lost(top) > tolerates(top) for kind, top in pool.tops if kind != "log"):
        opened = [leaf for leaf in lost if any(note in leaf.note for note in WRONG_LABEL) or (leaf.state == "FAULTED" and not leaf.note)]
        return "names" if opened and len(opened) == len(lost) else "missing"
    logs = [top for kind, top in pool.tops if kind == "log" and lost_of(top)]
    if any(_places_lost(top) > tolerates(top) for top in logs):
        return "missing-log"  # whatever the listing says of the pool: an ordinary import refuses then (spa_check_for_missing_logs)
    if logs or any(note in f"{pool.note} {pool.status}" for note in BAD_LOG):
        return "missing-log" if down else ""
    if down and (pool.hides_devices or "missing device" in pool.note):
        return "missing-top"
    if down and lost:
        return "half-missing"
    if pool.state == "FAULTED" or (down and "corrupted data" in pool.note):
        return "damage"
    return "unclear" if down else ""


def lost_of(vdev: VdevFacts) -> tuple[VdevFacts, ...]:
    """Leaves that are not there, each place once: of a spare in use or a replacement one child is enough."""
    if not vdev.children:
        return () if vdev.state in ("ONLINE", "AVAIL", "DEGRADED") else (vdev,)
    lost = tuple(leaf for child in vdev.children for leaf in lost_of(child))
    here = any(not lost_of(child) for child in vdev.children)
    return () if vdev.kind in ("spare", "replacing") and here else lost


def _places_lost(top: VdevFacts) -> int:
    """How many of its places are empty: a spare in use or a replacement of which no disk is there is one place, whatever it has below."""
    return sum(bool(lost_of(child)) for child in top.children) if top.children else len(lost_of(top))


def marked_of(pool: ImportableFacts) -> tuple[VdevFacts, ...]:
    """The leaves that hold their data, and that the host that had the pool last marked as DEGRADED."""
    return tuple(leaf for _, top in pool.tops for leaf in top.leaves() if leaf.state == "DEGRADED")


def _was_here(node: NodeFacts, pool: ImportableFacts, table: tuple[Row, ...]) -> bool:
    """Whether this node had it when it went down: never exported, and every label was written by this host."""
    if not known(node.hostid) or pool.state not in ("ONLINE", "DEGRADED") or not table:
        return False
    return all(row.label.state == ACTIVE and row.label.hostid == int(node.hostid, 16) for row in table)


def _unlisted(node: NodeFacts) -> Iterator[Blocked]:
    """`zpool import` does not answer, and disks carry labels of a pool that no host has imported."""
    if known(node.importable) or not known(node.pools) or "zpool_import" not in node.failures:
        return
    here = {pool.guid for pool in node.pools if known(pool.guid)}
    if not all(known(pool.guid) for pool in node.pools):
        return  # a label may be of one of these
    labels = {label.pool_guid: label for disk in (node.disks if known(node.disks) else ()) if known(disk.labels) for label in disk.labels}
    for guid, label in labels.items():
        if guid is not None and guid not in here and label.state != DESTROYED:
            yield Blocked(node, label.pool_name or str(guid), guid, "silence", None, rows(node, guid), suspects(node, guid))


def tolerates(top: VdevFacts) -> int:
    return top.parity if top.kind in ("raidz", "draid") else len(top.children) - 1 if top.kind == "mirror" else 0
