"""Pulling a disk to whose bay no light leads: a person scans it in its place before, and once more in the hand."""

from workflows.engine.core import Guard, ManualStep
from workflows.guards.answers import the_disk_meant_in_its_place, the_serial_that_was_pulled

FIND_WHY = "Go to its bay by the number, and scan what is printed on the disk where it sits. Pull nothing before this is right."
FIND_ASKS = "Scan or type the serial number or the WWN on the disk, before it is pulled."
PULL_ASKS = "Scan or type the serial number or the WWN on the disk that was pulled."


def find_and_pull(
    find: str,
    pull: str,
    which: str,
    *,
    unlit: str,
    why: str,
    before: tuple[Guard, ...] = (),
    after: tuple[Guard, ...] = (),
    needed: Guard | None = None,
    then: str = "",
    closes: tuple[str, ...] = (),
    undoes: str = "",
) -> tuple[ManualStep, ManualStep]:
    """Two steps about the disk of `old_wwid` and `old_serial`. `unlit` says why no bay is lit, `before` and `after` what must hold at each scan."""
    return (
        ManualStep(
            slug=find,
            title=f"Find the {which} disk",
            why=f"{unlit} {FIND_WHY}",
            guards=before,
            asks=FIND_ASKS,
            judges=the_disk_meant_in_its_place,
            finds="old_serial",
            needed=needed,
            undoes=undoes,
        ),
        ManualStep(
            slug=pull,
            title=f"Pull the {which} disk",
            why=why,
            guards=(*before, *after),
            asks=PULL_ASKS,
            judges=the_serial_that_was_pulled,
            takes_out="old_serial",
            needed=needed,
            then=then,
            closes=closes,
            undoes=undoes,
        ),
    )
