"""A pool that `zpool import -D` lists: it was destroyed, and its labels are left. Whether it can come back, and what its disks are now, decide what is said."""

from collections.abc import Iterator

from workflows.engine.core import Cure
from workflows.facts import VdevFacts
from workflows.situations._blocked import Blocked


def is_ruined(one: Blocked) -> bool:
    """Whether it could not be imported even so."""
    return one.listed is not None and one.listed.state in ("FAULTED", "UNAVAIL")


def taken(one: Blocked) -> tuple[str, ...]:
    """Names of its members that another pool of the listing has as well: to bring back the one damages the other."""
    others = {leaf.name for pool in one.node.importable_read if not pool.destroyed for _, top in pool.tops for leaf in top.leaves()}
    return tuple(sorted({leaf.name for leaf in _leaves(one)} & others))


def _leaves(one: Blocked) -> Iterator[VdevFacts]:
    for _, top in one.listed.tops if one.listed else ():
        yield from top.leaves()


def title(one: Blocked) -> str:
    """What is said of it in one line, behind its name."""
    if taken(one):
        return "was destroyed on purpose, and its disks are another pool's"
    return (
        "was destroyed on purpose, and cannot be brought back as it is"
        if is_ruined(one)
        else "was destroyed on purpose, and could be brought back"
    )


def meaning(one: Blocked) -> Iterator[str]:
    """The same in sentences."""
    yield f"{one.name} (id {one.id}) was destroyed with `zpool destroy`, and labels of it are still on these disks."
    names = taken(one)
    if names:
        yield f"The listing names {', '.join(names[:4])} in another pool as well. To import the destroyed one would write over what that pool has there: leave it alone."
    elif is_ruined(one):
        yield f"It is {one.listed.state if one.listed else 'down'}: too many of its disks are away, or carry something else by now. Nothing need be done, if it is not wanted."
    else:
        yield f"It can be brought back as it was: `zpool import -D {one.id}`."
        yield "That is right only if it was destroyed by mistake, and before these disks are used for anything else. If it is not wanted, nothing need be done."


def cures(one: Blocked) -> Iterator[Cure]:
    """What helps; an import only where it can be right."""
    yield Cure("wait", "If it is not wanted back, nothing is to be done.")
    if taken(one):
        return
    if is_ruined(one):
        yield Cure(
            "reseat",
            "If it was destroyed by mistake, find the disks first that the listing lacks, and see by their labels (`zdb -l`) whose they are now.",
        )
        return
    yield Cure(
        "import",
        "If it was destroyed by mistake, bring it back as it was, before anything is written to these disks.",
        (("zpool", "import", "-D", "-N", "-d", "/dev/disk/by-id", str(one.guid)),),
        needs="No other host has it imported. None of its disks was given to another pool since, and its id is the one above: a name can be another pool's.",
        save_first="Its listing by `zpool import -D`.",
    )
