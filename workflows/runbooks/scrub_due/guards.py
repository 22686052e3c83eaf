"""What scrub-due alone asks: whether a scrub is due, what it costs, and whether one ended lately."""

from workflows.analysis import read_tail
from workflows.analysis.last_scrub import WARN_DAYS
from workflows.analysis.scrubs import last_scrub
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, known, need
from workflows.guards.scrubbing import a_scrub_is_paused
from workflows.guards.subject import the_pool
from workflows.situations import rebuild_unverified


def a_scrub_is_due(facts: FleetFacts, params: Params) -> Verdict:
    """A scrub slows the pool for hours or days, so it is not begun without need. One that was begun and is paused is to come to its end."""
    if a_scrub_is_paused(facts, params):
        return ok(f"A scrub of {params['pool']} was begun and is paused. It never goes on by itself.")
    pool = the_pool(facts, params)
    if known(pool) and known(pool.scans) and rebuild_unverified.is_unverified(pool):
        return ok(f"{pool.name} was rebuilt without its checksums being checked, and no scrub came after that.")
    last = last_scrub(facts, params)
    if not known(last):
        return unknown(f"When the pool was last scrubbed is not known: {last.reason}")
    if not last.is_old:
        return refuse(f"The last scrub of {params['pool']} {last.words}; one is due after {WARN_DAYS} days. End this run.")
    return ok(f"The last scrub of {params['pool']} {last.words}.")


def how_reads_wait_was_measured(facts: FleetFacts, params: Params) -> Verdict:
    """Two looks at the histogram of reads, before the scrub begins."""
    tail = read_tail.between(read_tail.read(params.get("reads_first", "")), read_tail.read(params.get("reads_before", "")))
    return ok(f"Before the scrub, {tail.words}.") if known(tail) else unknown(f"How reads wait is not measured yet: {tail.reason}")


@guard
def the_pool_was_read_through_lately(facts: FleetFacts, params: Params) -> Verdict:
    last = need(last_scrub(facts, params), "Whether the scrub ended is not known")
    if not last.found or last.is_old:
        return refuse(f"The last scrub of {params['pool']} {last.words}. Wait for the one that was begun, or begin it again.")
    return ok(f"The last scrub of {params['pool']} {last.words}.")
