"""A replacement whose new disk is lost: the `replacing` stays until a person ends it, and no disk of it is to be replaced.

The old half that still serves holds the data; detaching the new half by its guid makes it an ordinary member again. Where both halves are
lost, the new one goes first all the same: what never was filled holds nothing. `vdev_detach` in module/zfs/spa.c lets a half of a `replacing`
go only while the others hold everything it has.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.situations import _cures, _replacements, _words

SLUG = "replacing-dead"
MANUALS: tuple[str, ...] = ("finish-replacement",)
IN_SERVICE = ("ONLINE", "DEGRADED")


@dataclass(frozen=True)
class Dead:
    node: NodeFacts
    pool: PoolFacts
    top: VdevFacts
    vdev: VdevFacts  # the `replacing`

    @property
    def old(self) -> VdevFacts:
        return self.vdev.children[0]

    @property
    def new(self) -> VdevFacts:
        return self.vdev.children[-1]

    @property
    def old_serves(self) -> bool:
        return any(leaf.state in IN_SERVICE for leaf in self.old.leaves())


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(Dead(node, pool, top, vdev))
        for node in fleet.nodes.values()
        for pool in node.pools_read
        for _, top in pool.tops_read
        for vdev in top.walk()
        if vdev.kind == "replacing" and len(vdev.children) > 1 and vdev.children[-1].state in lookup.LOST_STATES
    )


def _situation(one: Dead) -> Situation:
    new = one.new
    lost = (new,) if one.old_serves else (*one.old.leaves(), new)
    half = "the new disk" if one.old_serves else "both disks"
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{one.node.node}:{_cures.guid(new)}",
        node=one.node.node,
        severity="act",
        title=f"{one.pool.name}: {half} of {one.vdev.name} {'is' if one.old_serves else 'are'} lost, so the replacement cannot end",
        meaning=" ".join(_meaning(one)),
        evidence=tuple(
            _words.evidence(one.node, "zpool_status", "  ".join(part for part in (row.name, row.state, row.note) if part))
            for row in (one.vdev, *one.vdev.children)
        ),
        subject=_words.subject(one.node, one.pool, one.top, new) | {"old_guid": _cures.guid(one.old)},
        answers=_replacements.finished(
            one.node, one.pool, one.vdev, "It takes the new disk out by its guid, once the old one is known to serve."
        ),
        cures=tuple(_cures_of(one)),
        vdevs=tuple(_cures.guid(vdev) for vdev in lost),
    )


def _meaning(one: Dead) -> Iterator[str]:
    old, new = one.old, one.new
    yield f"In {one.top.name} of {one.pool.name} a replacement began, and the new half of {one.vdev.name}, {_named(new)}, is {new.state}."
    if one.old_serves:
        yield (
            f"The old half {_named(old)} is {old.state} and serves, so nothing is lost by this. The replacement cannot end while the new half is lost, and "
            "no other can begin. Exchange neither half: bring the new disk back if it only lost its cable, else detach the new half "
            "by its guid. The old disk is an ordinary member again then."
        )
    else:
        yield (
            f"The old half {_named(old)} is {old.state} as well. What the two should hold is read from the other disks of {one.top.name}. Bring back either of "
            "the two if it is only loose. If not, detach the new half by its guid: it was never filled. Only then is the old member "
            "an ordinary lost member, and can be dealt with as one."
        )
    yield _words.margin_sentence(one.pool, one.top)


def _named(vdev: VdevFacts) -> str:
    was = f", was {vdev.was}" if vdev.was else ""
    return f"{_cures.guid(vdev)}{f' ({vdev.name}{was})' if vdev.name != _cures.guid(vdev) else f' ({was[2:]})' if was else ''}"


def _cures_of(one: Dead) -> Iterator[Cure]:
    pool, old, new = one.pool, one.old, one.new
    yield _cures.reseat(f"the new disk {_named(new)}")
    yield _cures.online(pool, new)
    if not one.old_serves and not old.children:
        yield _cures.online(pool, old)
    if one.old_serves:
        needs = f"The old half {_cures.guid(old)} is ONLINE, or DEGRADED and readable."
        yield _cures.detach(pool, new, f"Detach the new half {_cures.guid(new)}. {_cures.guid(old)} stays as the member it was.", needs)
        return
    needs = f"{one.top.name} serves without both halves, and neither disk can be brought back."
    text = f"Detach the new half {_cures.guid(new)}, which was never filled. {_cures.guid(old)} is left as one lost member; then look at the pool again."
    yield _cures.detach(pool, new, text, needs)
