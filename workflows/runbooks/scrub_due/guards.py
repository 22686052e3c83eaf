"""What scrub-due alone asks: whether a scrub is due, and whether one ended."""

from __future__ import annotations

from workflows.analysis.last_scrub import WARN_DAYS
from workflows.analysis.scrubs import last_scrub
from workflows.engine.core import Params, Verdict, ok, refuse, unknown
from workflows.facts import FleetFacts, known


def a_scrub_is_due(facts: FleetFacts, params: Params) -> Verdict:
    """A scrub slows the pool for hours or days, so it is not begun without need."""
    last = last_scrub(facts, params)
    if not known(last):
        return unknown(f"When the pool was last scrubbed is not known: {last.reason}")
    if not last.is_old:
        return refuse(f"The last scrub of {params['pool']} {last.words}; one is due after {WARN_DAYS} days. End this run.")
    return ok(f"The last scrub of {params['pool']} {last.words}.")


def the_pool_was_read_through_lately(facts: FleetFacts, params: Params) -> Verdict:
    last = last_scrub(facts, params)
    if not known(last):
        return unknown(f"Whether the scrub ended is not known: {last.reason}")
    if not last.found or last.is_old:
        return refuse(f"The last scrub of {params['pool']} {last.words}. Wait for the one that was begun, or begin it again.")
    return ok(f"The last scrub of {params['pool']} {last.words}.")
