"""What makes each guard that stop-scrub alone asks refuse, and not know."""

from __future__ import annotations

from workflows.facts import ScanFacts
from workflows.tests.bends import UNREAD, Bad, pool

ENDED = ScanFacts("scrub", "finished", "scrub repaired 0B in 00:01:00 with 0 errors on Sat Nov 21 08:01:00 2026", errors=0)
RUNS = ScanFacts("scrub", "running", "scrub in progress since Sat Nov 21 08:01:00 2026")

REFUSED = (
    Bad("a_scrub_runs_or_is_paused", "there is none to stop. End this run.", pool(scans=(ENDED,))),
    Bad("no_scrub_runs_or_is_paused", "another may have been begun since", pool(scans=(RUNS,))),
)
UNSURE = (
    Bad("a_scrub_runs_or_is_paused", "was not read", pool(scans=UNREAD)),
    Bad("no_scrub_runs_or_is_paused", "was not read", pool(scans=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
