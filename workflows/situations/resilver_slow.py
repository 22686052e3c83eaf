"""A resilver moves, but so slowly that the pool stays exposed for days. How slow is measured between two looks, not read off the page."""

from workflows.engine.core import Situation
from workflows.facts import FleetFacts, known
from workflows.situations import _words
from workflows.situations._resilver import Running, running

SLUG = "resilver-slow"
MANUALS: tuple[str, ...] = ("resilver-tuning",)
RUNBOOK = "resilver-tuning"


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for one in running(fleet) if one.slow)


def _situation(one: Running) -> Situation:
    return Situation(
        slug=SLUG,
        key=one.key(SLUG),
        node=one.node.node,
        severity="watch",
        title=f"{one.pool.name}: the resilver is slow{_left(one)}",
        meaning=_meaning(one),
        evidence=(one.line(),),
        answers=_words.pool_answers(
            one.node, one.pool, RUNBOOK, "It gives one tunable another value for a while, and measures whether it helps."
        ),
        subject=_words.subject(one.node, one.pool),
    )


def _left(one: Running) -> str:
    """How long it still takes at this rate, at least."""
    advance, left = one.scan.advance, one.scan.left
    if not known(advance) or not known(left) or advance.bytes_per_second.high <= 0:
        return ""
    hours = left.low / advance.bytes_per_second.high / 3600
    return f", at least {hours / 24:.0f} days to go" if hours >= 48 else f", at least {hours:.0f} h to go" if hours >= 1 else ""


def _meaning(one: Running) -> str:
    sentences = [f"{one.pool.name}: {one.done()}. {one.speed()}", one.to_go()]
    sentences.append("First look for one disk that is slower than its peers, the new one above all: it sets the pace of every other.")
    sentences.append("Then for load: a busy pool resilvers slowly by design. A scrub of small or old blocks can be slow without any fault.")
    margin = one.worst_margin()
    if margin is not None and margin <= 0:
        sentences.append("Meanwhile one more loss in its weakest vdev loses the pool, so keep every disk of it connected, the old one too.")
    return " ".join(sentences)
