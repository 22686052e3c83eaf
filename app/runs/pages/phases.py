"""The way forward of a runbook in about five phases: what people keep in mind, where the steps are what the portal keeps."""

import itertools
from collections.abc import Iterator
from typing import Any

from workflows.engine.core import Runbook, Step

LOOK, PREPARE, RACK, CHANGE, WATCH, FINISH = (
    "Look and check",
    "Prepare",
    "At the rack",
    "Make the change",
    "Wait and verify",
    "Go on and finish",
)


def of(runbook: Runbook) -> dict[str, str]:
    """slug -> phase, for every step before the way back."""
    end = runbook.place(runbook.undo) if runbook.undo else len(runbook.steps)
    steps = runbook.steps[:end]
    return dict(zip((step.slug for step in steps), _named(runbook, steps), strict=True))


def _named(runbook: Runbook, steps: tuple[Step, ...]) -> Iterator[str]:
    phase, changed = LOOK, False
    for step in steps:
        if step.kind == "PLAN":
            is_it = not runbook.point_of_no_return or runbook.point_of_no_return in _until_next(steps, runbook, step)
            phase = FINISH if changed else CHANGE if is_it else PREPARE
        elif phase == CHANGE and changed and step.kind in ("WAIT", "VERIFY"):
            phase = WATCH
        elif step.at_the_rack and phase not in (LOOK, CHANGE, WATCH, FINISH):
            phase = RACK
        changed = changed or (phase == CHANGE and step.kind == "EXECUTE")
        yield phase


def _until_next(steps: tuple[Step, ...], runbook: Runbook, plan: Step) -> frozenset[str]:
    """The order of a PLAN and what is waited for and verified after it."""
    order = runbook.order_of(plan)
    after = steps[runbook.place(order[-1].slug) + 1 :]
    return frozenset(one.slug for one in (*order, *itertools.takewhile(lambda one: one.kind in ("WAIT", "VERIFY"), after)))


def grouped(runbook: Runbook, parts: list[dict[str, Any]], turned: bool = False) -> list[dict[str, Any]]:
    """The listed parts by phase, each with how far it is. Where a run turned back or was ended, the phase it was in is not done."""
    names = of(runbook)
    found = []
    for name, group in itertools.groupby(parts, lambda part: names[_first(part)]):
        several = list(group)
        lines = [line for part in several for line in part.get("folded") or (part["line"],)]
        coming = [line for line in lines if not line["aside"]]
        is_now = any(line["now"] for line in lines)
        found.append(
            {
                "name": name,
                "parts": several,
                "now": is_now,
                "failed": any(line["finished"] and line["finished"].failed for line in lines),
                "done": sum(bool(line["finished"]) for line in coming),
                "of": len(coming),
                "over": bool(coming) and all(line["finished"] for line in coming),
                "ended": False,
                "left": not lines[-1]["finished"],
            }
        )
    reached = [phase for phase in found if phase["done"]]
    if turned and reached and reached[-1]["left"]:
        reached[-1].update(over=False, ended=True)
    return found


def _first(part: dict[str, Any]) -> str:
    return str((part["line"] if "line" in part else part["folded"][0])["step"].slug)
