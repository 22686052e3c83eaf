"""What makes each guard that add-redundancy alone asks refuse, and not know."""

from __future__ import annotations

from dataclasses import replace

from workflows.engine.core import Params
from workflows.facts import FleetFacts
from workflows.tests.bends import UNREAD, Bad, above, leaf, node, pool


def under_a_raidz(facts: FleetFacts, params: Params) -> FleetFacts:
    """What stands alone is the first disk of the raidz by its guid."""
    guid = int(params.get("vdev_guid") or 1)

    def moved(tops):
        (role, first), *rest = tops
        children = (replace(first.children[0], guid=guid), *first.children[1:]) if first.children else ()
        return ((role, replace(first, children=children)), *(pair for pair in rest if pair[1].guid != guid))

    return pool(tops=moved)(facts, params)


REFUSED = (
    Bad("it_is_one_disk_that_can_be_mirrored", "only a disk by itself or in a mirror gets another one", under_a_raidz),
    Bad("it_is_one_disk_that_can_be_mirrored", "its situation says what helps", leaf(state="FAULTED")),
    Bad("what_gets_a_mirror_has_its_disk_alone", "is not its mirror", leaf(name="/dev/disk/by-id/wwn-0x5000c500a65bfff1-part3", was=None)),
    Bad("both_stand_in_one_mirror", "see what the command answered", above(kind="raidz")),
    Bad("the_new_disk_mirrors_it", "see what the command answered", above(kind="raidz")),
    Bad("the_first_disk_serves_meanwhile", "bring it back with `zpool online", leaf(state="REMOVED")),
)
UNSURE = (
    Bad("it_is_one_disk_that_can_be_mirrored", "are not known", pool(tops=UNREAD)),
    Bad("what_gets_a_mirror_has_its_disk_alone", "shares its disk with other partitions is not known", node(disks=UNREAD)),
    Bad("both_stand_in_one_mirror", "are not known", pool(tops=UNREAD)),
    Bad("the_new_disk_mirrors_it", "are not known", pool(tops=UNREAD)),
    Bad("the_first_disk_serves_meanwhile", "are not known", pool(tops=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
