"""Data came damaged over the cable of a SATA disk. That is the cable, the plug or the backplane first, and seldom the disk.

The counter is never set back: it shows that something was. A member that counts errors in its pool besides is looked at from the first one.
"""

from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import ConditionFacts, FleetFacts, known
from workflows.facts.read import thresholds as at
from workflows.facts.read.disk_health import crc
from workflows.situations import _ill
from workflows.situations._ill import Ill

SLUG = "link-crc"
MANUALS: tuple[str, ...] = ("sas-link-triage",)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(ill) for ill in _found(fleet))


def _found(fleet: FleetFacts) -> Iterator[Ill]:
    for node in fleet.nodes.values():
        for ill in _ill.reported(node, lambda condition: crc(condition) >= at.LINK_CRC_WITH_ERRORS):
            if ill.of("link") or _counts_errors(ill):
                yield ill


def _counts_errors(ill: Ill) -> bool:
    errors = ill.seat.leaf.errors if ill.seat is not None else None
    return errors is not None and known(errors) and any(errors)


def _situation(ill: Ill) -> Situation:
    words = _words(ill.condition)
    return _ill.situation(
        ill,
        SLUG,
        "link",
        severity="watch",
        title=f"The cable of {ill.name} damages data on its way: {words}",
        next_="These do not reach ZFS as long as sending again helps. If the number grows, commands fail next, and the disk is dropped.",
        cures=(
            Cure("reseat", "Write the number down. Reseat the cable and the disk, then change the cable or the bay, one thing at a time."),
            Cure("look", "Look again after a day of work. Where the number stays, the cause is gone; it never goes back to 0."),
        ),
        words=words,
        line=f"UDMA_CRC_Error_Count {crc(ill.condition)}",
    )


def _words(condition: ConditionFacts) -> str:
    count = crc(condition)
    return f"{count:,} {'transfer was' if count == 1 else 'transfers were'} damaged since it is in use"
