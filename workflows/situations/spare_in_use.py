"""A hot spare stands in for a member. The pool is whole again, or on its way, and the next failure will find no spare.

It is over when the lost member is replaced by a new disk (the spare goes back), or detached (the spare stays for good).
"""

from __future__ import annotations

from collections.abc import Iterator

from workflows.core import Answer, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known
from workflows.situations import _words

SLUG = "spare-in-use"
MANUALS: tuple[str, ...] = ("spare-return",)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, top, vdev)
        for node in fleet.nodes.values()
        for pool in node.pools_read
        for _, top in pool.tops_read
        for vdev in top.walk()
        if vdev.kind == "spare" and len(vdev.children) > 1
    )


def _situation(node: NodeFacts, pool: PoolFacts, top: VdevFacts, vdev: VdevFacts) -> Situation:
    original, spare = vdev.children[0], vdev.children[-1]
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{_guid(original)}",
        node=node.node,
        severity="watch",
        title=f"{pool.name}: the spare {_short(spare)} stands in for {_short(original)}",
        meaning=_meaning(pool, top, original, spare),
        evidence=tuple(_evidence(node, pool, vdev)),
        answers=_answers(node, pool, original, spare),
        subject=_words.subject(node, pool, top, original) | {"spare_guid": _guid(spare)},
    )


def _answers(node: NodeFacts, pool: PoolFacts, original: VdevFacts, spare: VdevFacts) -> tuple[Answer, ...]:
    """None while the two cannot be told apart by guid, or when it is itself being replaced."""
    if not (known(pool.guid) and known(original.guid) and known(spare.guid)) or original.children:
        return ()
    params = {"node": node.node, "pool": pool.name, "pool_guid": str(pool.guid), "vdev_guid": str(original.guid)}
    return (Answer("spare-return", {**params, "spare_guid": str(spare.guid)}, "It gives the spare back, or makes it a member for good."),)


def _meaning(pool: PoolFacts, top: VdevFacts, original: VdevFacts, spare: VdevFacts) -> str:
    free = [s for s in pool.spares if s.state == "AVAIL"]
    said = [f"In {top.name} of {pool.name} the spare {_short(spare)} stands in for the member {_guid(original)} ({original.state})."]
    if spare.resilvering or spare.awaiting_resilver:
        said.append("It is still being filled and does not count until that is done. Detach neither of the two now.")
    elif spare.state != "ONLINE":
        said.append(f"The spare itself is {spare.state}: it does not help.")
    elif original.state == "ONLINE":
        said.append("The member is back in service. When it is resilvered and trusted, detaching the spare makes it free again.")
    else:
        said.append(
            "Replace the member by its guid with a new disk, and the spare goes back by itself. "
            "Detaching the member instead makes the spare its successor for good; its label is then wiped."
        )
    said.append(f"{_words.plural(len(free), 'spare')} of {pool.name} {'is' if len(free) == 1 else 'are'} free for the next failure.")
    said.append(_words.margin_sentence(pool, top))
    return " ".join(said)


def _evidence(node: NodeFacts, pool: PoolFacts, vdev: VdevFacts) -> Iterator[Evidence]:
    for row in (vdev, *vdev.children, *pool.spares):
        yield _words.evidence(node, "zpool_status", "  ".join(part for part in (row.name, row.state, row.note) if part))


def _guid(vdev: VdevFacts) -> str:
    return str(vdev.guid) if known(vdev.guid) else vdev.name


def _short(vdev: VdevFacts) -> str:
    return vdev.name.rsplit("/", 1)[-1]
