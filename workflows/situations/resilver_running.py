"""A resilver runs: data is being written to a disk again, and until it is done the pool survives fewer losses. Nothing to do but wait."""

from __future__ import annotations

from workflows.engine.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import _cures, _words
from workflows.situations._resilver import Running, running

SLUG = "resilver-running"
MANUALS: tuple[str, ...] = ("resilver-tuning",)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for one in running(fleet))


def _situation(one: Running) -> Situation:
    margin = one.worst_margin()
    return Situation(
        slug=SLUG,
        key=one.key(SLUG),
        node=one.node.node,
        severity="info" if margin is not None and margin > 0 else "watch",
        title=f"{one.pool.name} resilvers" + (f", {one.scan.percent} % done" if one.scan.percent else ""),
        meaning=_meaning(one, margin),
        evidence=(one.line(),),
        subject=_words.subject(one.node, one.pool),
        cures=(_cures.wait(f"Wait until the {one.scan.function} has ended; then look at the pool again."),),
    )


def _meaning(one: Running, margin: int | None) -> str:
    filling = ", ".join(leaf.short for leaf in one.filling())
    sentences = [f"{one.pool.name}: {one.done()}. {one.speed()}", one.to_go()]
    if filling:
        sentences.append(f"It fills {filling}.")
    calm = "Nothing is lost by it. " if margin is not None and margin >= 0 else ""
    sentences.append(
        f"{calm}Wait: until it is done take no disk out of this pool, do not reboot, and start no other replacement in the same vdev."
    )
    if margin is None:
        sentences.append("How many more losses the pool survives meanwhile is not known.")
    elif margin > 0:
        sentences.append(f"Meanwhile the pool survives {_words.plural(margin, 'more loss', 'more losses')}.")
    elif margin < 0:
        sentences.append("A vdev of it lacks more disks than it can do without: that comes first, and the resilver does not mend it.")
    else:
        sentences.append("Meanwhile one more loss in its weakest vdev loses the pool.")
    return " ".join(sentences)
