"""While a resilver runs the status line is about nothing else. What else is wrong is read from the tree here, and named.

Each thing that needs a person is a situation of its own; this one says that the status line cannot be trusted to show it.
"""

from collections.abc import Iterator

from workflows.engine.core import Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.situations import _words

SLUG = "hidden-by-resilver"
MANUALS: tuple[str, ...] = ()
NO_ERRORS = "No known data errors"


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    found = []
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            hidden = tuple(_hidden(pool)) if _speaks_of_resilver(pool) else ()
            if hidden:
                found.append(_situation(node, pool, hidden))
    return tuple(found)


def _speaks_of_resilver(pool: PoolFacts) -> bool:
    return "being resilvered" in pool.status or "being rebuilt" in pool.status


def _hidden(pool: PoolFacts) -> Iterator[str]:
    """What the status line would say if no resilver ran."""
    if pool.errors and pool.errors != NO_ERRORS:
        yield f"errors: {' '.join(pool.errors.split())[:200]}"
    for _, top in pool.tops_read:
        for line in lookup.lineages(top):
            leaf = line[-1]
            if not leaf.children and (trouble := _trouble(leaf, line[-2] if len(line) > 1 else None)):
                yield f"{leaf.name}: {trouble}"


def _trouble(leaf: VdevFacts, parent: VdevFacts | None) -> str:
    if leaf.state in lookup.LOST_STATES:
        return "" if _is_replaced(leaf, parent) else "  ".join(part for part in (leaf.state, leaf.note) if part)
    if leaf.state == "DEGRADED":
        return f"DEGRADED  {leaf.note}".strip()
    if leaf.counted:
        return "read {}, write {}, checksum {} errors".format(*leaf.figures)
    return ""


def _is_replaced(leaf: VdevFacts, parent: VdevFacts | None) -> bool:
    """Whether the resilver is about this very leaf: another takes its place."""
    if parent is None or parent.kind not in ("replacing", "spare"):
        return False
    return any(v is not leaf and v.state in ("ONLINE", "DEGRADED") for v in parent.children)


def _situation(node: NodeFacts, pool: PoolFacts, hidden: tuple[str, ...]) -> Situation:
    meaning = (
        f"The status line of {pool.name} says that it resilvers, and nothing else; OpenZFS prints one thing only, and a resilver comes first. "
        f"The tree shows more: {'; '.join(hidden)}. "
        "Do not take the resilver's end for the end of the trouble, and take no other disk out before it is done."
    )
    lines: tuple[Evidence, ...] = tuple(_words.evidence(node, "zpool_status", line) for line in (f"status: {pool.status}", *hidden))
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}",
        node=node.node,
        severity="watch",
        title=f"{pool.name}: the resilver hides {_words.plural(len(hidden), 'other trouble', 'other troubles')}",
        meaning=meaning,
        evidence=lines,
        subject=_words.subject(node, pool),
    )
