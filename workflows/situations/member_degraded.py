"""A member is DEGRADED and its row does not say why. It still serves.

One that says why ("too many errors", "too many slow I/Os") is a `disk-faulted`.
"""

from workflows.engine.core import Situation
from workflows.facts import FleetFacts, known, lookup
from workflows.situations import _words, disk_faulted
from workflows.situations._lost import Lost

SLUG = "member-degraded"
MANUALS: tuple[str, ...] = ("slow-disk-triage", "replace-in-place", "replace-boot-member")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(Lost(node, pool, role, line))
        for node in fleet.nodes.values()
        for pool in node.pools_read
        for role, top in pool.tops_read
        for line in lookup.lineages(top)
        if not line[-1].children and line[-1].state == "DEGRADED" and not disk_faulted.names_a_reason(line[-1])
    )


def _situation(lost: Lost) -> Situation:
    leaf = lost.leaf
    counted = "read {}, write {}, checksum {}".format(*leaf.errors) if known(leaf.errors) else "its counters are not known"
    note = f", and only {leaf.note!r} stands beside it" if leaf.note else ", and its row does not say why"
    meaning = (
        f"The member {lost.guid} of {lost.top.name} in {lost.pool.name} is DEGRADED ({counted}){note}. It still serves what it can read: leave it in. "
        f"ZFS, or ZED for it, found fault with it; `zpool events -v` and the kernel's log of that time say with what. Look at its cable, port and "
        f"slot, then at its SMART. {lost.margin_sentence()}"
    )
    return Situation(
        slug=SLUG,
        key=lost.key(SLUG),
        node=lost.node.node,
        severity="watch",
        title=f"{lost.pool.name}: the member {leaf.name.rsplit('/', 1)[-1]} is DEGRADED and does not say why",
        meaning=meaning,
        evidence=(lost.tree_line(),),
        answers=lost.beside(),
        subject=_words.subject(lost.node, lost.pool, lost.top, leaf) | {"was": lost.path},
        cures=disk_faulted.of_a_serving_member(lost),
    )
