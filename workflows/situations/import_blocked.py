"""A pool that should be here cannot be imported, or must not be: which disk stands out, and what must not be tried.

`zpool import` prints what ZFS would try next, for some of these cases that the pool be made anew. None of that is repeated here:
a pool that one disk blocks is whole on the others, and a pool that lost its last seconds is not lost. A pool that another system
has imported is none of this: `foreign-pool-imported-elsewhere` speaks of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.core import Answer, Evidence, Situation
from workflows.facts import FleetFacts, ImportableFacts, NodeFacts, Suspect, VdevFacts, known, suspects
from workflows.facts.census import imported_pools
from workflows.facts.divergence import Row, rows
from workflows.facts.uberblocks import PoolTimeline
from workflows.situations import _words

SLUG = "import-blocked"
MANUALS: tuple[str, ...] = ("read-only-import", "device-delete-reimport", "rewind-import")
IN_USE, DESTROYED = 0, 2  # a label's state
LEAVES_SHOWN = 24


@dataclass(frozen=True)
class Blocked:
    """One pool on one node, and why it does not come in as it should.

    `why` is "damage", "missing", "features", "diverged", "silence", "waiting" or "incomplete".
    """

    node: NodeFacts
    name: str
    guid: int
    why: str
    listed: ImportableFacts | None
    table: tuple[Row, ...]
    suspects: tuple[Suspect, ...]

    @property
    def diverging(self) -> tuple[Suspect, ...]:
        return tuple(s for s in self.suspects if s.diverges)

    @property
    def lost(self) -> tuple[VdevFacts, ...]:
        """The leaves that the listing does without."""
        return tuple(leaf for _, top in self.listed.tops for leaf in _lost(top)) if self.listed else ()

    @property
    def ours(self) -> bool:
        """Whether this node used it last, or keeps it in its cache file."""
        cached = self.node.cached if known(self.node.cached) else ()
        own = int(self.node.hostid, 16) if known(self.node.hostid) else None
        return any(pool.guid == self.guid for pool in cached) or any(row.label.hostid == own for row in self.table)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    imported = imported_pools(fleet)
    found = (one for node in fleet.nodes.values() for one in (*_listed(node), *_unlisted(node)))
    return tuple(_situation(one) for one in found if one.guid not in imported)


def _listed(node: NodeFacts) -> Iterator[Blocked]:
    here = {pool.name for pool in node.pools if not known(pool.guid)} if known(node.pools) else set()
    for pool in node.importable if known(node.importable) else ():
        if pool.destroyed:
            continue  # nobody expects it
        table, found = rows(node, pool.guid), suspects(node, pool.guid, pool)
        why = _why(pool, found) or ("waiting" if _was_here(node, pool, table) else "incomplete" if _is_incomplete(pool) else "")
        if why and not (why == "incomplete" and pool.name in here):  # it may have been imported since it was listed
            yield Blocked(node, pool.name, pool.guid, why, pool, table, found)


def _why(pool: ImportableFacts, found: tuple[Suspect, ...]) -> str:
    said = f"{pool.status} {pool.action}"
    if "currently imported by another system" in said or "must be exported from" in said:
        return ""  # another system has it
    if any(suspect.diverges for suspect in found):
        return "diverged"
    if "feature" in pool.status or "newer version" in said:
        return "features"
    if pool.state in ("FAULTED", "UNAVAIL"):
        return "missing" if pool.state == "UNAVAIL" else "damage"
    return "missing" if any(len(_lost(top)) > _tolerates(top) for kind, top in pool.tops if kind != "log") else ""


def _lost(vdev: VdevFacts) -> tuple[VdevFacts, ...]:
    """Leaves that are not there, each place once: of a spare in use or a replacement one child is enough."""
    if not vdev.children:
        return () if vdev.state in ("ONLINE", "AVAIL", "DEGRADED") else (vdev,)
    lost = tuple(leaf for child in vdev.children for leaf in _lost(child))
    here = any(not _lost(child) for child in vdev.children)
    return () if vdev.kind in ("spare", "replacing") and here else lost


def _is_incomplete(pool: ImportableFacts) -> bool:
    return any(_lost(top) for _, top in pool.tops)


def _was_here(node: NodeFacts, pool: ImportableFacts, table: tuple[Row, ...]) -> bool:
    """Whether this node had it when it went down: never exported, and every label was written by this host."""
    if not known(node.hostid) or pool.state not in ("ONLINE", "DEGRADED") or not table:
        return False
    return all(row.label.state == IN_USE and row.label.hostid == int(node.hostid, 16) for row in table)


def _unlisted(node: NodeFacts) -> Iterator[Blocked]:
    """`zpool import` does not answer, and disks carry labels of a pool that nobody has imported."""
    if known(node.importable) or not known(node.pools) or "zpool_import" not in node.failures:
        return
    here = {pool.guid for pool in node.pools if known(pool.guid)}
    if not all(known(pool.guid) for pool in node.pools):
        return  # a label may be of one of these
    labels = {label.pool_guid: label for disk in (node.disks if known(node.disks) else ()) if known(disk.labels) for label in disk.labels}
    for guid, label in labels.items():
        if guid is not None and guid not in here and label.state != DESTROYED:
            yield Blocked(node, label.pool_name or str(guid), guid, "silence", None, rows(node, guid), suspects(node, guid))


def _situation(one: Blocked) -> Situation:
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{one.node.node}:{one.guid}",
        node=one.node.node,
        severity="act" if _must_act(one) else "watch",
        title=_title(one),
        meaning=" ".join(_meaning(one)),
        evidence=tuple(_evidence(one)),
        answers=_answers(one),
        subject=_subject(one),
        sure=one.why != "silence" and (len(one.diverging) == 1 or one.why in ("features", "waiting")),
    )


def _answers(one: Blocked) -> tuple[Answer, ...]:
    """Nothing that writes. With disks missing or other software needed there is nothing to import yet."""
    if one.why not in ("damage", "diverged"):
        return ()
    params = {"node": one.node.node, "pool": one.name, "pool_guid": str(one.guid)}
    looks = "It proves that nobody else has the pool, and tries to import it so that nothing is written."
    away = "It takes the one disk that tells another story away from the kernel, brings the pool back without it, and replaces it."
    back = "It shows which points in time the disks still hold and what each costs, and copies out from one of them. The last resort."
    answers = (Answer("read-only-import", params, looks),)
    if len(one.diverging) == 1:
        return (Answer("device-delete-reimport", params, away), *answers)
    return answers if one.diverging else (*answers, Answer("rewind-import", params, back))


def _must_act(one: Blocked) -> bool:
    """A few stray disks of an old pool lie about on many a node; a pool that is nearly all here is missed by somebody."""
    if one.why in ("diverged", "damage"):
        return True
    if one.why == "silence":
        return one.ours
    leaves = [leaf for _, top in one.listed.tops for leaf in top.leaves()] if one.listed else []
    return one.why == "missing" and (one.ours or _nobodys(one)) and 2 * sum(leaf.state == "ONLINE" for leaf in leaves) > len(leaves)


def _nobodys(one: Blocked) -> bool:
    """No disk of the node is known, so nothing says whose it is: mostly a paste, by somebody who misses the pool."""
    return not one.table and not known(one.node.disks)


def _title(one: Blocked) -> str:
    if one.why == "features":
        return f"{one.name} needs a newer OpenZFS than this node has"
    if one.why == "silence":
        return f"{one.name} is not imported, and `zpool import` does not answer"
    if one.why == "waiting":
        return f"{one.name} is not imported, and this node had it last"
    if one.why == "incomplete":
        return f"{one.name} can be imported, but without {_words.plural(len(one.lost), 'disk')} of it"
    if one.why == "missing":
        return f"{one.name} cannot be imported: too many of its disks are missing"
    if len(one.diverging) == 1:
        return f"{one.name} must not be imported as it is: {one.diverging[0].disk.names[0]} tells another story than the other disks"
    return f"{one.name} cannot be imported: its newest data does not fit together"


def _meaning(one: Blocked) -> Iterator[str]:
    if one.why == "features":
        yield f"{one.name} uses features that this node's OpenZFS does not know. Nothing is wrong with the pool; import it where the software is new enough."
    elif one.why == "silence":
        yield f"Disks here carry labels of {one.name}, no node has it imported, and `zpool import` did not answer in time."
        yield from _silent_disks(one)
    elif one.why == "waiting":
        yield f"{one.name} was never exported, this node wrote its labels last, and no node that reports has it. Nothing stands in the way of an import."
        yield from _incomplete(one)
        yield "If the node has just booted, its import may be about to come. Else make sure that no partner has the pool, and import it by its guid."
    elif one.why == "incomplete":
        yield f"{one.name} is not imported here, and its other disks hold the whole of it."
        yield from _incomplete(one)
        yield "Look for what is missing before the import: what comes back in time needs no replacing."
    elif one.why == "missing":
        yield f"Too many disks of {one.name} are not to be seen from here. Bring them back first (power, cable, HBA); nothing on the others is lost by waiting."
    else:
        yield from _damage(one)


def _incomplete(one: Blocked) -> Iterator[str]:
    lost = one.lost
    if lost:
        names = ", ".join(leaf.name for leaf in lost[:LEAVES_SHOWN])
        yield f"It will come up without {names} ({', '.join(dict.fromkeys(leaf.state for leaf in lost))}); replace {'it' if len(lost) == 1 else 'them'} by guid afterwards."


def _damage(one: Blocked) -> Iterator[str]:
    if not one.diverging:
        yield from _no_disk_stands_out(one)
        return
    for suspect in one.diverging:
        yield f"{_words.where(suspect.disk)} stands out: {'; '.join(clue.sentence for clue in suspect.clues)}."
    if len(one.diverging) > 1:
        yield "More than one disk stands out, so no rule says which story is true. Change nothing and get a second person to look."
        return
    yield "ZFS takes the newest uberblock of any disk, and parity does not vote on it, so this one disk decides how the whole pool looks."
    yield _without(one)
    yield "Neither force the import nor rewind it (-f, -F, -X, -T) while this disk is there."


def _without(one: Blocked) -> str:
    """Whether the others are enough, as far as the listing tells."""
    suspect, margin = one.diverging[0], _margin_without(one)
    if margin is None:
        return (
            f"Whether the pool is whole without it is not known. If it is, the way is a read-only import without {suspect.disk.names[0]}."
        )
    if margin < 0:
        return "Without it too many disks are missing, so it cannot simply be left out."
    return (
        f"The others hold the whole pool and survive {_words.plural(margin, 'more loss', 'more losses')}: take {suspect.disk.names[0]} away from "
        f"the kernel (its data stays as it is), import {one.guid} read-only, and compare before anything is written."
    )


def _margin_without(one: Blocked) -> int | None:
    """Of the top-level vdev that names the suspect's disk, once that is gone."""
    links = {link.rsplit("/", 1)[-1] for path in one.diverging[0].disk.paths for link in path.by_id} | set(one.diverging[0].disk.names)
    for _, top in one.listed.tops if one.listed else ():
        if any(leaf.name in links for leaf in top.leaves()):
            bad = sum(leaf.state != "ONLINE" and leaf.name not in links for leaf in top.leaves()) + 1
            return _tolerates(top) - bad
    return None


def _tolerates(top: VdevFacts) -> int:
    return top.parity if top.kind in ("raidz", "draid") else len(top.children) - 1 if top.kind == "mirror" else 0


def _no_disk_stands_out(one: Blocked) -> Iterator[str]:
    txgs = {row.label.txg for row in one.table}
    if len(one.table) > 1 and len(txgs) == 1:
        yield f"No disk stands out: all {len(one.table)} labels that were read agree (txg {next(iter(txgs))}). So it is not one bad disk that can be left out."
        yield "The last writes before it went down are missing or damaged on all of them."
    else:
        yield "No single disk stands out by its label. Compare the uberblocks of all disks before anything else."
    yield from _moments(one)
    yield "Going back a few transactions (a rewind) discards the last seconds for ever, so a person decides it, and tries it read-only first."
    hosts = {row.label.hostname for row in one.table if row.label.hostname and row.label.state == 0}
    if hosts:
        yield f"It was never exported: {' and '.join(sorted(hosts))} used it last. Make sure that no other system has it before any -f."


def _timeline(one: Blocked) -> PoolTimeline | None:
    return next((t for t in one.node.timelines if t.pool_guid == one.guid), None) if known(one.node.timelines) else None


def _moments(one: Blocked) -> Iterator[str]:
    timeline = _timeline(one)
    whole = timeline.common() if timeline is not None and len(timeline.disks) == len(one.table) else ()
    if whole:
        last = whole[-1]
        yield (
            f"All its disks hold the same {_words.plural(len(whole), 'uberblock')}, from txg {whole[0].txg} back to {last.txg}, "
            f"{last.seconds_before_newest} s before the newest."
        )


def _silent_disks(one: Blocked) -> Iterator[str]:
    """Disks whose labels nobody could read are what a scan for pools waits for."""
    disks = one.node.disks if known(one.node.disks) else ()
    silent = [disk for disk in disks if not known(disk.labels)]
    if silent:
        named = ", ".join(_words.where(disk) for disk in silent[:4])
        yield f"The labels of {_words.plural(len(silent), 'disk')} could not be read ({named}): a scan for pools waits for every disk."
        yield "Take such a disk away from the kernel, or pull it, and look again."
    else:
        yield "Look at the kernel's log for commands that time out, and again in a few minutes."


def _evidence(one: Blocked) -> Iterator[Evidence]:
    if one.listed is not None:
        yield _words.evidence(
            one.node, "zpool_import", f"{one.name}  id {one.guid}  state {one.listed.state}  {one.listed.status}".rstrip()
        )
        for leaf in one.lost[:LEAVES_SHOWN]:
            yield _words.evidence(one.node, "zpool_import", f"{leaf.name}  {leaf.state}  {leaf.note}".rstrip())
    elif "zpool_import" in one.node.failures:
        yield _words.evidence(one.node, "zpool_import", one.node.failures["zpool_import"])
    for row in one.table[:LEAVES_SHOWN]:
        label = row.label
        copies = " ".join(map(str, label.copies))
        said = f"{label.partition}: txg {label.txg}, last written by {label.hostname or label.hostid}, guid {label.guid}, copies {copies}"
        yield _words.evidence(one.node, f"zdb_label/{label.partition}", said)
    for suspect in one.suspects:
        for clue in suspect.clues:
            yield _words.evidence(one.node, clue.source, f"{suspect.disk.names[0]}: {clue.sentence}")


def _subject(one: Blocked) -> dict[str, str]:
    said = {"node": one.node.node, "pool": one.name, "pool_guid": str(one.guid), "why": one.why}
    if len(one.diverging) == 1 and known(one.diverging[0].disk.wwid):
        said |= {"wwid": one.diverging[0].disk.wwid}
    return said
