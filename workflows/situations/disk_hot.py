"""A disk is hotter than it may be, or nearly. Fans, filters and the air around it come before the disk."""

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts
from workflows.situations import _ill
from workflows.situations._ill import Ill

SLUG = "disk-hot"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(ill) for ill in _ill.ills(fleet, "hot"))


def _situation(ill: Ill) -> Situation:
    found = ill.of("hot")
    over = any(one.severity == "act" for one in found)
    comes = "Above its limit a disk slows down or switches itself off, and it ages faster. Replacing it cools nothing."
    return _ill.situation(
        ill,
        SLUG,
        "hot",
        severity="act" if over else "watch",
        title=f"{ill.name} is {'too hot' if over else 'near its limit of temperature'}: {found[0].words}",
        next_=comes,
        cures=(
            Cure(
                "cooling",
                "Look at the fans of the enclosure, at its filters and blanking plates, and at the temperature of the room; compare the disks "
                "beside it. If they are all warm it is the air, and if it is this one alone it is its bay or the disk.",
            ),
        ),
    )
