"""What makes each guard that finish-replacement alone asks refuse, and not know."""

from __future__ import annotations

from workflows.engine.core import Params
from workflows.facts import FleetFacts, ScanFacts
from workflows.tests.bends import UNREAD, Bad, above, as_it_is, every_leaf, leaf, one_sibling, pool, siblings

LOST = {"state": "REMOVED"}
WITH_ERRORS = ScanFacts("resilver", "finished", "resilvered 1G in 00:01:00 with 3 errors on Sat Nov 21 08:01:00 2026", errors=3)


def still_there(facts: FleetFacts, params: Params) -> FleetFacts:
    """Another member has the guid of the disk that went."""
    return one_sibling(guid=int(params.get("goes_guid") or 1))(facts, params)


REFUSED = (
    Bad("one_of_its_disks_serves", "begin with many-disks-offline", every_leaf(**LOST)),
    Bad("only_the_newest_is_taken_out", "Begin again from the situation", above(kind="spare")),
    Bad("the_one_that_stays_is_fit", "Nothing of it is detached", leaf("keeps_guid", **LOST)),
    Bad("the_one_that_stays_misses_nothing", "misses data from before txg 99", leaf("keeps_guid", rebuilding_since_txg=99)),
    Bad("the_scan_that_filled_it_was_clean", "finished with 3 errors", pool(scans=(WITH_ERRORS,))),
    Bad("its_vdev_keeps_its_data", "bring its other lost disks back first", siblings(**LOST)),
    Bad("the_one_that_stays_is_a_member", "Look at its bay and its cable", leaf("keeps_guid", **LOST)),
    Bad("its_vdev_has_lost_nothing", "Get help before anything else", every_leaf(**LOST)),
    Bad("what_is_filled_serves_meanwhile", "begin it again, and take that disk out", leaf("new_guid", **LOST)),
    Bad("the_one_that_goes_is_out", "see what the command answered", still_there),
    Bad("the_replacement_is_finished", "still holds 2 disks", as_it_is),
)
UNSURE = (
    *tuple(
        Bad(guard, "are not known", pool(tops=UNREAD))
        for guard in (
            "a_replacement_is_unfinished",
            "one_of_its_disks_serves",
            "only_the_newest_is_taken_out",
            "the_one_that_stays_is_fit",
            "the_one_that_stays_misses_nothing",
            "its_vdev_keeps_its_data",
            "the_one_that_goes_is_out",
            "the_one_that_stays_is_a_member",
            "its_vdev_has_lost_nothing",
            "the_replacement_is_finished",
            "what_is_filled_serves_meanwhile",
        )
    ),
    Bad("the_scan_that_filled_it_was_clean", "are not known", pool(scans=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {  # (guard, outcome) that cannot be -> why
    ("a_replacement_is_unfinished", "refuse"): "What is not there is not known, and its sentence says to end the run.",
}
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
