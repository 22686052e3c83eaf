"""What makes each guard that scrub-due alone asks refuse, and not know."""

from __future__ import annotations

from agents.orders.policy import Policy
from workflows.facts import ScanFacts
from workflows.tests.bends import UNREAD, Bad, as_it_is, both, node, pool

NOW = "scrub repaired 0B in 00:01:00 with 0 errors on Sat Nov 21 08:01:00 2026"
OLD = "scrub repaired 0B in 00:01:00 with 0 errors on Thu Jan  1 08:01:00 2026"


def scrubbed(text: str):
    return pool(scans=(ScanFacts("scrub", "finished", text, errors=0),))


def a_scan(function: str, state: str, text: str = ""):
    return pool(scans=(ScanFacts(function, state, text or f"{function} {state}"),))


CLOSED = Policy("operate", ("zpool_scrub", "zpool_scrub_pause"), ("*",), path="policy.json", scrub_hours=("Mon 00:00-00:01",))

RUNNING = a_scan("scrub", "running", "scrub in progress since Sat Nov 21 08:01:00 2026")
PAUSED = a_scan("scrub", "paused", "scrub paused since Sat Nov 21 08:01:00 2026")
UNREAD_SCANS = pool(scans=UNREAD)

REFUSED = (
    Bad("a_scrub_is_due", "one is due after 35 days", scrubbed(NOW)),
    Bad("nothing_but_a_paused_scrub_is_under_way", "A scrub of", RUNNING),
    Bad("the_scrub_goes_on_in_its_hours", "was paused by a person or a program", PAUSED),
    Bad("the_scrub_goes_on_in_its_hours", "allows scrubs are over", both(RUNNING, node(policy=CLOSED))),
    Bad("the_scrub_is_over", "is running", RUNNING),
    Bad("the_scrub_came_to_its_end", "was cancelled", a_scan("scrub", "canceled")),
    Bad("no_scrub_runs", "still runs", RUNNING),
    Bad("the_pool_was_read_through_lately", "Wait for the one that was begun", both(scrubbed(OLD), node(histories={}))),
)
UNSURE = (
    Bad("a_scrub_is_due", "is not known", pool(guid=UNREAD)),
    *(
        Bad(guard, "was not read", UNREAD_SCANS)
        for guard in (
            "nothing_but_a_paused_scrub_is_under_way",
            "the_scrub_goes_on_in_its_hours",
            "the_scrub_is_over",
            "the_scrub_came_to_its_end",
            "no_scrub_runs",
        )
    ),
    Bad("how_reads_wait_was_measured", "is not measured yet", as_it_is),
    Bad("the_pool_was_read_through_lately", "is not known", pool(guid=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {  # (guard, outcome) that cannot be -> why
    ("how_reads_wait_was_measured", "refuse"): "What is not measured is not known; the wait goes on without after a time.",
}
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
