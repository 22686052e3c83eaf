"""Every way in which a guard of some runbook is made to refuse or not to know, and which guards never do one of the two.

To add a guard: list it in `tests/bad.py` of the runbook that alone asks it, or else in `bad_disks`, `bad_imports` or `bad_pools`, once under
REFUSED and once under UNSURE. A guard that is in neither, and not in NEVER with the reason, fails a test.
"""

from __future__ import annotations

from workflows.engine.core import Runbook
from workflows.runbooks._parts import parts
from workflows.tests import bad_disks, bad_imports, bad_pools
from workflows.tests.bends import Bad
from workflows.tests.moments import guards_of

REFUSE, UNKNOWN = "refuse", "unknown"
OF_RUNBOOKS = tuple(part for _, part in parts("tests.bad"))
TABLES = (bad_disks, bad_imports, bad_pools, *OF_RUNBOOKS)

_AGE = "It asks how old facts are, and facts that are too old are not known."
_NO_WRONG_ANSWER = "It asks whether something can be told at all: there is no wrong answer, only none."
NEVER: dict[tuple[str, str], str] = {
    **dict.fromkeys(
        (
            (f"{name}_fresh", REFUSE)
            for name in (
                "facts_are",
                "what_a_mass_event_reads_is",
                "what_a_suspension_reads_is",
                "what_can_be_imported_is",
                "what_link_triage_reads_is",
                "what_the_audit_reads_is",
                "what_triage_reads_is",
                "what_tuning_reads_is",
            )
        ),
        _AGE,
    ),
    **dict.fromkeys(
        (
            (name, REFUSE)
            for name in (
                "every_disk_told_its_uberblocks",
                "its_bay_is_known",
                "the_disk_sits_in_a_known_bay",
                "the_listing_shows_the_pool_once",
                "the_log_says_where_it_came_in",
                "the_spare_stands_in_for_the_member",
            )
        ),
        _NO_WRONG_ANSWER,
    ),
    ("it_is_still_imported", REFUSE): "That it is gone says not by what; what became of it is not known then.",
    ("it_may_be_put_back", UNKNOWN): "It reads no fact: only the time that was chosen, or a person, ends the wait.",
    **{never: why for part in OF_RUNBOOKS for never, why in part.NEVER.items()},
}


def _by_guard(bads: tuple[Bad, ...]) -> dict[str, tuple[Bad, ...]]:
    return {name: tuple(bad for bad in bads if bad.guard == name) for name in dict.fromkeys(bad.guard for bad in bads)}


BAD = {
    REFUSE: _by_guard(tuple(bad for table in TABLES for bad in table.REFUSED)),
    UNKNOWN: _by_guard(tuple(bad for table in TABLES for bad in table.UNSURE)),
}


def guards_in(runbook: Runbook) -> dict[str, None]:
    return dict.fromkeys(name for step in runbook.steps for name in guards_of(step))


def possible(runbook: Runbook, outcome: str) -> tuple[str, ...]:
    """The guards of this runbook that can answer so."""
    return tuple(name for name in guards_in(runbook) if (name, outcome) not in NEVER)
