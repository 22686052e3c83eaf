"""An SSD has used up what it is rated for, or nearly so. It works, and it is time to order another one."""

from __future__ import annotations

from dataclasses import replace

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts
from workflows.situations import _ill
from workflows.situations._ill import Ill

SLUG = "disk-worn"
MANUALS: tuple[str, ...] = ("replace-in-place", "blink-and-replace")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(ill) for ill in _ill.ills(fleet, "worn"))


def _situation(ill: Ill) -> Situation:
    comes = (
        "It works as before. At the end of its life an SSD fails writes or makes itself read-only, and its data may not last without power. "
        "Disks bought together wear together, so look at those beside it."
    )
    order = Cure("other", "Order a replacement now, and replace one disk of a vdev at a time, beside the old one, while all of them serve.")
    made = _ill.situation(
        ill, SLUG, "worn", severity="watch", title=f"{ill.name} is worn: {ill.of('worn')[0].words}", next_=comes, cures=(order,)
    )
    return replace(made, answers=_ill.replaced_beside(ill))
