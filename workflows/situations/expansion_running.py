"""A raidz takes in one more disk and moves its data. It goes on after a reboot; nothing to do but wait."""

from workflows.engine.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import _pools
from workflows.situations._expansions import Expansion, expansions
from workflows.situations._pools import Wording, cure

SLUG = "expansion-running"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for one in expansions(fleet) if not one.is_stuck)


def _situation(one: Expansion) -> Situation:
    node, pool = one.node, one.pool
    meaning = (
        f"{one.top or 'A raidz'} of {pool.name} on {node.node} takes in one more disk{one.done}. All its data is moved meanwhile; the redundancy stays as it was. The new space comes at the "
        "end. Until then another attach and a checkpoint are refused. A disk that fails is replaced as ever, and the expansion waits for it. It cannot be cancelled, and goes on "
        "after a reboot."
    )
    wording = Wording(
        "info",
        f"{pool.name}: a raidz is being expanded{one.done}",
        meaning,
        (_pools.line(node, "expand", one.text),),
        (
            *one.replacing(),
            cure("wait", "Wait until it has ended.", ("zpool", "wait", "-t", "raidz_expand", pool.name), releases="2.3 and newer"),
            cure("scrub", "ZFS scrubs the pool by itself afterwards; see that it found no errors."),
        ),
    )
    return _pools.situation(SLUG, node, pool, wording, subject={"top": one.top} if one.top else {})
