"""What makes each guard that scrub-due alone asks refuse, and not know."""

from __future__ import annotations

from workflows.facts import ScanFacts
from workflows.tests.bends import UNREAD, Bad, both, node, pool

NOW = "scrub repaired 0B in 00:01:00 with 0 errors on Sat Nov 21 08:01:00 2026"
OLD = "scrub repaired 0B in 00:01:00 with 0 errors on Thu Jan  1 08:01:00 2026"


def scrubbed(text: str):
    return pool(scans=(ScanFacts("scrub", "finished", text, errors=0),))


REFUSED = (
    Bad("a_scrub_is_due", "one is due after 35 days", scrubbed(NOW)),
    Bad("the_pool_was_read_through_lately", "Wait for the one that was begun", both(scrubbed(OLD), node(histories={}))),
)
UNSURE = (
    Bad("a_scrub_is_due", "is not known", pool(guid=UNREAD)),
    Bad("the_pool_was_read_through_lately", "is not known", pool(guid=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
