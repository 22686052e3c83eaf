"""A hot spare stands in for a member. The pool is whole again, or on its way, and the next failure will find no spare.

It is over when the lost member is replaced by a new disk (the spare goes back), or detached (the spare stays for good).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.situations import _cures, _replacements, _words
from workflows.situations._lost import how_filled, is_distributed

SLUG = "spare-in-use"
IN_SERVICE = ("ONLINE", "DEGRADED")
MANUALS: tuple[str, ...] = ("spare-return", "finish-replacement")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for one in _stand_ins(fleet))


@dataclass(frozen=True)
class StandIn:
    """A `spare` vdev: the member, and the spares that were put in for it, one after the other. The last that serves is the one that counts."""

    node: NodeFacts
    pool: PoolFacts
    role: str
    line: tuple[VdevFacts, ...]  # from the top-level vdev down to the spare vdev

    @property
    def top(self) -> VdevFacts:
        return self.line[0]

    @property
    def original(self) -> VdevFacts:
        return self.line[-1].children[0]

    @property
    def spare(self) -> VdevFacts:
        spares = self.line[-1].children[1:]
        return next((one for one in reversed(spares) if one.state in IN_SERVICE), spares[-1])

    @property
    def dead(self) -> tuple[VdevFacts, ...]:
        """Spares that were put in and serve nothing."""
        return tuple(one for one in self.line[-1].children[1:] if one.state in lookup.LOST_STATES)

    @property
    def member_serves(self) -> bool:
        return any(leaf.state in IN_SERVICE for leaf in self.original.leaves())

    @property
    def spare_serves(self) -> bool:
        return self.spare.state in IN_SERVICE

    @property
    def filling(self) -> bool:
        return self.spare.resilvering or self.spare.awaiting_resilver


def _stand_ins(fleet: FleetFacts) -> Iterator[StandIn]:
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            for role, top in pool.tops_read:
                for line in lookup.lineages(top):
                    if line[-1].kind == "spare" and len(line[-1].children) > 1:
                        yield StandIn(node, pool, role, line)


def _situation(one: StandIn) -> Situation:
    original, spare = one.original, one.spare
    dead = not one.spare_serves
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{one.node.node}:{_cures.guid(original)}",
        node=one.node.node,
        severity="watch",
        title=f"{one.pool.name}: the spare {spare.short} {'that stands in' if dead else 'stands in'} for {original.short}{f' is {spare.state}' if dead else ''}",
        meaning=_meaning(one),
        evidence=tuple(_evidence(one.node, one.pool, one.line[-1])),
        answers=_answers(one),
        subject=_words.subject(one.node, one.pool, one.top, original) | {"spare_guid": _cures.guid(spare)},
        cures=tuple(_cures_of(one)),
        vdevs=tuple(_cures.guid(vdev) for vdev in (original, spare, *one.dead)),
    )


def _answers(one: StandIn) -> tuple[Answer, ...]:
    """None while the two cannot be distinguished by guid, or when it is itself being replaced. Of several spares in one place the lost one goes first."""
    node, pool, original, spare = one.node, one.pool, one.original, one.spare
    if not (known(pool.guid) and known(original.guid) and known(spare.guid)) or original.children:
        return ()
    if len(one.line[-1].children) > 2:
        return (
            _replacements.finished(node, pool, one.line[-1], "It takes a lost spare out of the place that several spares stand in.")
            if one.dead
            else ()
        )
    params = {"node": node.node, "pool": pool.name, "pool_guid": str(pool.guid), "vdev_guid": str(original.guid)}
    return (Answer("spare-return", {**params, "spare_guid": str(spare.guid)}, "It gives the spare back, or makes it a member for good."),)


def _meaning(one: StandIn) -> str:
    pool, original, spare = one.pool, one.original, one.spare
    free = [s for s in pool.spares if s.state == "AVAIL"]
    sentences = [
        f"In {one.top.name} of {pool.name} the spare {spare.short} stands in for the member {_cures.guid(original)} ({original.state})."
    ]
    if not one.spare_serves:
        sentences.append(f"The spare itself is {spare.state}: it does not help.")
    elif one.filling:
        sentences.append("It is still being filled and does not count until that is done. Detach neither of the two now.")
    elif one.member_serves and original.state == "ONLINE":
        sentences.append("The member is back in service. When it is resilvered and trusted, detaching the spare makes it free again.")
    else:
        sentences.append(f"It serves in the member's place{how_filled(pool)}")
    others = [vdev.short for vdev in one.dead if vdev is not spare]
    if others:
        sentences.append(
            f"{', '.join(others)}, which stood in before, {'is' if len(others) == 1 else 'are'} lost too; that asks for no further disk."
        )
    if is_distributed(spare):
        sentences.append(f"{spare.short} is no disk: it is space kept free on the disks of {one.top.name}.")
    sentences.append(f"{_words.plural(len(free), 'spare')} of {pool.name} {'is' if len(free) == 1 else 'are'} free for the next failure.")
    sentences.append(_words.margin_sentence(pool, one.top))
    return " ".join(sentences)


def _cures_of(one: StandIn) -> Iterator[Cure]:
    pool, original, spare = one.pool, one.original, one.spare
    if one.filling and one.spare_serves:
        yield _cures.wait(f"Wait until {spare.short} is filled; `zpool status` says how far it is. Detach neither of the two before.")
        return
    for dead in one.dead if one.member_serves or one.spare_serves else ():
        text = f"Detach the spare {_cures.guid(dead)}, which serves nothing. Another half of {one.line[-1].name} holds the data."
        yield _cures.detach(pool, dead, text, f"Another half of {one.line[-1].name} is ONLINE.")
    if one.member_serves and original.state == "ONLINE" and one.spare_serves:
        needs = f"A resilver ended with 0 errors after {_cures.guid(original)} came back, and it counts no errors since."
        yield _cures.detach(pool, spare, f"Give the spare back: detach {_cures.guid(spare)}. It is AVAIL again then.", needs)
    elif not original.children and not one.member_serves:
        yield _cures.reseat(f"the disk of {_cures.guid(original)}")
        text = (
            f"Replace the member {_cures.guid(original)} by its guid with a new disk; when that is filled, the spare goes back by itself."
        )
        yield _cures.replace(pool, original, _cures.BY_GUID, text)
        if one.spare_serves and not is_distributed(spare):
            text = f"Or let the spare stay for good: detach the lost member {_cures.guid(original)}. {spare.short} is a member then, and a spare no more."
            yield _cures.detach(pool, original, text, f"{spare.short} is ONLINE and was filled with 0 errors.")


def _evidence(node: NodeFacts, pool: PoolFacts, vdev: VdevFacts) -> Iterator[Evidence]:
    for row in (vdev, *vdev.children, *pool.spares):
        yield _words.evidence(node, "zpool_status", "  ".join(part for part in (row.name, row.state, row.note) if part))
