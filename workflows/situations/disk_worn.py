"""An SSD has used up what it is rated for, or nearly so. It works, and it is time to order another one.

By its percentage used (NVMe, SCSI), by what is left of its life (SATA), or by spare blocks near the threshold at which it warns; the numbers stand
in `workflows.facts.read.thresholds`. Below that threshold an NVMe disk raises its critical warning, and is a `disk-failing`.
"""

from collections.abc import Iterator
from dataclasses import replace

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts
from workflows.situations import _ill
from workflows.situations._ill import Ill

SLUG = "disk-worn"
MANUALS: tuple[str, ...] = ("replace-in-place", "blink-and-replace")
ENDS = "At the end of its life an SSD fails writes or makes itself read-only, and its data may not last without power."


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(ill) for ill in _ill.ills(fleet, "worn"))


def _situation(ill: Ill) -> Situation:
    comes = f"It works as before. {ENDS} Disks bought together wear together, so look at those beside it."
    made = _ill.situation(
        ill,
        SLUG,
        "worn",
        severity="watch",
        title=f"{ill.name} is worn: {ill.of('worn')[0].words}",
        next_=comes,
        cures=tuple(_cures_of(ill)),
    )
    return replace(made, answers=_ill.replaced_beside(ill))


def _cures_of(ill: Ill) -> Iterator[Cure]:
    yield from filter(None, (_ill.find_it(ill), _ill.pool_first(ill)))
    if ill.free:
        yield Cure("wait", "Nothing is to be done now: no pool uses it. Give it to none, as a spare neither.")
        return
    if ill.leaving:
        yield Cure("wait", "Another disk takes its place already. Wait until that is done, and do not put this one into a pool again.")
        return
    if ill.bare and not ill.gated:
        yield Cure("restore", "Back up what only this vdev holds: no other disk can rebuild it.")
    yield Cure("other", "Order a replacement, and one for each disk beside it that is as worn. Nothing need be done at night.")
    replacing = _ill.replace_beside(ill)
    if replacing is not None:
        one_by_one = "" if ill.aside else " One disk of a vdev at a time, while all of them serve."
        yield replace(replacing, text=replacing.text + one_by_one)
