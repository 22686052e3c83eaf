"""What the tests really walked, runbook by runbook: good ends, refusals, ends on the way, crashes. Printed when a test run is over.

A walk tells what happened to it while it happens; what a test told counts when the test passed. With pytest-xdist it travels to the
controller with the test's own report, in its properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

PROPERTY = "runbook"
GOOD, REFUSED, UNKNOWN, ENDED, CRASHED = "good end", "refused", "not known", "ended", "crashed"
Counted = tuple[str, str, str]  # runbook, one of the kinds above, what: a guard, a step, an order and how it died
COUNTED: set[Counted] = set()


def count(runbook: str, kind: str, what: str) -> None:
    COUNTED.add((runbook, kind, what))


def take() -> list[Counted]:
    """What was told since it was asked for last."""
    lines = sorted(COUNTED)
    COUNTED.clear()
    return lines


def of_report(properties: Iterable[Any]) -> Iterator[Counted]:
    for name, value in properties:
        if name == PROPERTY:
            yield tuple(value)


def table(counted: set[Counted]) -> list[str]:
    """A line for each runbook, those without any walk included: `12 of 14` is of what its definition has."""
    from workflows.runbooks import RUNBOOKS

    rows = [("runbook", "good ends", "guards refused", "guards not knowing", "ended at steps", "died at")]
    rows += [_row(slug, runbook, counted) for slug, runbook in RUNBOOKS.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def deaths(runbook: Any) -> set[str]:
    """Where an agent can die in it: before and after each order has its effect, and while it plans or looks."""
    forward = runbook.steps[: runbook.place(runbook.undo)] if runbook.undo else runbook.steps
    orders = {f"{step.slug} {crash}" for step in runbook.steps if step.kind == "EXECUTE" for crash in ("before", "after")}
    return orders | {f"{step.slug} lost" for step in forward if step.kind in ("PLAN", "VERIFY")}


def _row(slug: str, runbook: Any, lines: set[Counted]) -> tuple[str, ...]:
    from workflows.tests import bad

    forward = runbook.steps[: runbook.place(runbook.undo)] if runbook.undo else runbook.steps
    refusing, unsure = (set(bad.possible(runbook, outcome)) for outcome in (bad.REFUSE, bad.UNKNOWN))
    whole = {REFUSED: refusing, UNKNOWN: unsure, ENDED: {step.slug for step in forward}, CRASHED: deaths(runbook)}

    def of(kind: str) -> str:
        found = {what for book, how, what in lines if (book, how) == (slug, kind)}
        return f"{len(found & whole[kind])} of {len(whole[kind])}" if kind in whole else str(len(found))

    return (slug, *map(of, (GOOD, REFUSED, UNKNOWN, ENDED, CRASHED)))
