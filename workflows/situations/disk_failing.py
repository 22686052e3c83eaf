"""A disk says, or its numbers say, that it is failing, while ZFS still uses it: the time to act is before it is given up.

Its own prediction, a failed self-test and an NVMe warning are certain. Numbers are weighed by `workflows.facts.read.thresholds`.
"""

from collections.abc import Iterator
from dataclasses import replace

from workflows.engine.core import Answer, Cure, Severity, Situation
from workflows.facts import FleetFacts
from workflows.situations import _ill
from workflows.situations._ill import Ill

SLUG = "disk-failing"
MANUALS: tuple[str, ...] = ("replace-in-place", "blink-and-replace", "slow-disk-triage", "replace-boot-member")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(ill) for ill in _ill.ills(fleet, "failing"))


def severity(ill: Ill) -> Severity:
    """A disk that no pool relies on causes no outage. Places that cannot be read weigh more where no other disk holds them."""
    found = ill.of("failing")
    acts = any(one.severity == "act" for one in found) or (ill.bare and any(one.lost for one in found))
    if not acts:
        return "watch"
    return "watch" if ill.free or ill.aside else "act"


def _situation(ill: Ill) -> Situation:
    how, found = severity(ill), ill.of("failing")
    made = _ill.situation(
        ill,
        SLUG,
        "failing",
        severity=how,
        title=f"{ill.name} {'is failing' if any(one.certain for one in found) else 'has defects'}: {found[0].words}",
        next_=_what_comes(ill, any(one.certain for one in found)),
        cures=tuple(_cures(ill, how)),
    )
    return replace(made, answers=_answers(ill) if how == "act" else ())


def _what_comes(ill: Ill, certain: bool) -> str:
    if ill.seat is None:
        if ill.free:
            return "Do not put it into a pool."
        return "It may stop at any time." if certain else "Disks with such numbers fail more often than others."
    if not ill.serves:
        return "ZFS has faulted it already, and the situation of this member lists what to do. This one states that the disk itself is the reason."
    if ill.seat.role == "spare":
        return "No data is on it now. It could not stand in for a lost disk for long."
    if ill.seat.role == "cache":
        return "No data is lost with a cache device; the pool reads from its disks instead."
    if ill.leaving:
        return "Another disk takes its place already. Wait until that is done, and do not put this one into a pool again."
    if ill.gated:
        return f"Replace nothing now: {ill.seat.pool.name} itself must serve first."
    if certain:
        return "It may stop at any time; then its vdev has one disk less, and a resilver puts load on the others."
    return "Disks with such numbers fail more often than others. If the number grows, it is failing."


def _cures(ill: Ill, how: Severity) -> Iterator[Cure]:
    yield from filter(None, (_ill.find_it(ill), _ill.pool_first(ill)))
    if ill.bare and not ill.gated:
        yield Cure("restore", "Back up what only this vdev holds before anything else: no other disk can rebuild it.")
    scrub = _ill.scrub_first(ill)
    if scrub is not None:
        yield scrub
    if how == "watch" or not any(one.certain for one in ill.of("failing")):
        yield _ill.self_test(ill)
    replacing = _ill.replace_beside(ill)
    if replacing is not None and (how == "act" or any(one.certain for one in ill.of("failing"))):
        yield replacing
    elif ill.seat is not None and replacing is not None:
        yield Cure("look", "Look at the numbers again in a week. If they have grown, replace the disk while it still serves.")


def _answers(ill: Ill) -> tuple[Answer, ...]:
    """The runbook that replaces it in its bay, where it is known by label, serial number and bay."""
    lost = ill.lost()
    return lost.planned() if lost is not None and not ill.gated and ill.serves else ()
