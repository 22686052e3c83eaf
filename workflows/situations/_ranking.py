"""Which situation explains which: 27 lost disks behind one HBA are one thing to do, not 27.

An explained situation keeps its evidence, points at its cause, is never more urgent than "watch", offers no runbook, and advises
no replacement: acting on a consequence makes an outage worse. Only what stands still for people stays urgent for them: a suspended pool, whatever suspended it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from workflows.engine.core import SEVERITIES, Cure, Situation
from workflows.situations._cures import DOES

Explains = Callable[[Situation, Situation], bool]  # (cause, other) -> whether the first explains the second


def ranked(
    found: Iterable[Situation], rules: Iterable[tuple[str, Explains]], urgent: frozenset[str] = frozenset()
) -> tuple[Situation, ...]:
    """Causes first, worst first, each followed by what it explains. `rules` pairs a cause's slug with its question; `urgent` slugs stay urgent."""
    listed = list(found)
    for slug, explains in rules:
        for cause in [s for s in listed if s.slug == slug and not s.cause]:
            listed = [_under(s, cause, s.slug in urgent) if _may_be_explained(s, slug) and explains(cause, s) else s for s in listed]
    explaining = {s.cause for s in listed}
    roots = sorted((s for s in listed if not s.cause), key=lambda s: (_urgency(s), s.key not in explaining))
    below: dict[str, list[Situation]] = {}
    for situation in listed:
        if situation.cause:
            below.setdefault(situation.cause, []).append(situation)
    return tuple(each for root in roots for each in (root, *sorted(below.get(root.key, ()), key=_urgency)))


def _may_be_explained(situation: Situation, slug: str) -> bool:
    """A cause is not explained by its own kind, and nothing is explained twice or through another: one step is what a reader follows."""
    return not situation.cause and situation.slug != slug


def _under(situation: Situation, cause: Situation, urgent: bool) -> Situation:
    severity = situation.severity if urgent else max(situation.severity, "watch", key=SEVERITIES.index)
    return replace(situation, cause=cause.key, severity=severity, answers=(), cures=_after(cause, situation.cures))


def _after(cause: Situation, cures: tuple[Cure, ...]) -> tuple[Cure, ...]:
    """What is advised of a consequence: no replacement, and its cause first."""
    kept = tuple(cure for cure in cures if "replace" not in (cure.kind, DOES.get(cure.runbook)))
    if kept and kept == cures:
        return cures
    return (Cure("wait", f"First mend its cause: {cause.title.rstrip('.')}. Replace nothing for this before that is settled."), *kept)


def _urgency(situation: Situation) -> int:
    return SEVERITIES.index(situation.severity)
