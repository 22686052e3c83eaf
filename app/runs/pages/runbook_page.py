"""A runbook as a page: everything it asks, in which order, with the exact commands. Made from the definition that is walked."""

import shlex
from typing import Any

from agents.operations import OPERATIONS
from app.runs.pages import guard_refusals
from workflows.engine.core import END, ExecuteStep, Guard, PlanStep, Runbook, Step, WaitStep, Warns
from workflows.engine.lint import definition_digest
from workflows.facts import FleetFacts
from workflows.rehearsal.play import WHO

NO_NODES = FleetFacts({})
WWID = "naa:5000c500a65b207b"  # a command is built from a real one, and shown with a name in its place
KINDS = {
    "CHECK": "guards only",
    "PLAN": "the node reports what it would do",
    "CONFIRM": "typed by the operator",
    "APPROVE": "another person",
    "EXECUTE": "one order",
    "WAIT": "until the node shows it",
    "VERIFY": "looked at again afterwards",
    "MANUAL": "hands at the rack",
    "DECIDE": "a person chooses",
}

SENTENCES = {  # of guards whose name is stored and is no plain sentence
    "it_alone_tells_another_story": "it alone contradicts the other disks",
    "no_disk_tells_another_story": "no disk contradicts the others",
    "every_disk_told_its_uberblocks": "every disk gave its uberblocks",
    "the_log_says_where_it_came_in": "the log shows at which txg it came in",
}


def page(runbook: Runbook) -> dict[str, Any]:
    back = runbook.place(runbook.undo) if runbook.undo else len(runbook.steps)
    lines = [line(runbook, number, step) for number, step in enumerate(runbook.steps, 1)]
    return {
        "runbook": runbook,
        "digest": definition_digest(runbook),
        "forward": lines[:back],
        "back": lines[back:],
        "loops": [{"what": _named(loop.what(_names(runbook))), "undo": loop.undo} for loop in runbook.loops.values()],
    }


def line(runbook: Runbook, number: int, step: Step) -> dict[str, Any]:
    return {
        "number": number,
        "step": step,
        "kind": KINDS[step.kind],
        "who": WHO[step.kind],
        "argv": argv(runbook, step),
        "guards": [guard_text(guard) for guard in step.guards],
        "warns": [guard_text(warns) for warns in step.warns],
        "until": guard_text(step.until) if isinstance(step, WaitStep) else None,
        "alarm": guard_text(step.alarm) if isinstance(step, WaitStep) and step.alarm else None,
        "needed": guard_text(step.needed) if step.needed else None,
        "leads": [_title(runbook, slug) for slug in step.branches],
        "then": _title(runbook, step.then) if step.then else "",
        "fails_to": _title(runbook, step.fails_to) if step.fails_to else "",
        "hours": round(step.deadline_seconds / 3600, 1) if isinstance(step, WaitStep) else None,
        "no_return": step.slug == runbook.point_of_no_return,
    }


def guard_text(guard: Guard | Warns) -> dict[str, Any]:
    """A guard's name is a sentence, unless SENTENCES has a plainer one; its docstring says why it is asked, and its code with which words it refuses."""
    sentence = SENTENCES.get(guard.__name__) or guard.__name__.replace("_", " ")
    why = " ".join((guard.__doc__ or "").split("\n\n")[0].split())
    return {"sentence": f"{sentence[0].upper()}{sentence[1:]}.", "why": why, "refusals": guard_refusals.of(guard)}


def _title(runbook: Runbook, slug: str) -> str:
    return "the end of the run" if slug == END else runbook.step(slug).title


def argv(runbook: Runbook, step: Step) -> str:
    """The command of a step, with names where a run puts its parameters."""
    if not isinstance(step, ExecuteStep | PlanStep):
        return ""
    operation = OPERATIONS[step.operation]
    asked = {name: value for name, value in step.params(NO_NODES, _names(runbook)).items() if value}
    params = {name: asked.get(name) or (WWID if "wwid" in name else f"<{name}>") for name in operation.PARAMS}
    words = [_named(word) for word in operation.argv(params)]
    return " ".join(word if "<" in word else shlex.quote(word) for word in words)


def _named(text: str) -> str:
    return text.replace(WWID, "<wwid>").replace(WWID[4:], "<wwid>")


def _names(runbook: Runbook) -> dict[str, str]:
    """A run's parameters, each named by itself."""
    chosen = [name for step in runbook.steps for name in (step.param, *step.learned) if name]
    return {name: WWID if "wwid" in name else f"<{name}>" for name in (*runbook.params, *chosen)}
