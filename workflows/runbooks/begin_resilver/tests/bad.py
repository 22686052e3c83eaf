"""What makes each guard that begin-resilver alone asks refuse, and not know."""

from __future__ import annotations

from workflows.engine.core import Params
from workflows.facts import FleetFacts, LeafChange, ScanFacts, VdevFacts
from workflows.tests.bends import UNREAD, Bad, both, every_leaf, node, pool, properties, vdevs

ENDED = ScanFacts("scrub", "finished", "scrub repaired 0B in 00:01:00 with 0 errors on Sat Nov 21 08:01:00 2026", errors=0)
WITH_ERRORS = ScanFacts("resilver", "finished", "resilvered 1G in 00:01:00 with 3 errors on Sat Nov 21 08:01:00 2026", errors=3)


def alone(vdev: VdevFacts, params: Params) -> bool:
    return vdev.kind == "replacing"


NOTHING_LEFT = both(
    vdevs(alone, kind="mirror", name="mirror-2"), every_leaf(rebuilding_since_txg=None, awaiting_resilver=False), pool(scans=(ENDED,))
)


def restless(facts: FleetFacts, params: Params) -> FleetFacts:
    guid = int(params.get("pool_guid", 0))
    changes = tuple(LeafChange(guid, 100, "ONLINE", "REMOVED", 60.0 * n) for n in range(4))
    return node(leaf_changes=changes)(facts, params)


REFUSED = (
    Bad("something_may_miss_data", "End this run; to read all that it holds, scrub it.", NOTHING_LEFT),
    Bad("no_disk_comes_and_goes", "came and went in the last 30 minutes", restless),
    Bad("zfs_begins_one_when_asked", "A scrub fills what is missing", properties(**{"feature@resilver_defer": "disabled"})),
    Bad("the_resilver_goes_well", "counts 3 errors", pool(scans=(WITH_ERRORS,))),
    Bad("nothing_misses_data", "with 3 errors", pool(scans=(WITH_ERRORS,))),
)
UNSURE = (
    Bad("something_may_miss_data", "are not known", pool(tops=UNREAD)),
    Bad("no_disk_comes_and_goes", "is not known", node(leaf_changes=UNREAD)),
    Bad("zfs_begins_one_when_asked", "is not known", pool(properties=UNREAD)),
    Bad("the_resilver_goes_well", "are not known", pool(scans=UNREAD)),
    Bad("nothing_misses_data", "are not known", pool(tops=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
