"""The one thing to do before the rack now, for somebody with a phone in one hand and a disk in the other."""

from typing import Any

from app.accounts.models import User
from app.runs import pages, services
from app.runs.models import Run
from app.runs.panels import at_the_rack
from app.runs.rights import MANUAL, may
from workflows.core import Params
from workflows.facts import FleetFacts, known
from workflows.guards.answers import the_bay_that_blinks
from workflows.guards.bay import the_bay
from workflows.runbooks import RUNBOOKS
from workflows.state import ENDED

ASKED_OF_THE_EYE = (the_bay_that_blinks,)  # nothing on the page may tell the answer: a light is never trusted alone


def waiting() -> list[Run]:
    """Open runs that wait for hands."""
    found = Run.objects.filter(ended_at=None, status__in=("open", "waiting")).select_related("requester")
    return [run for run in found if run.runbook in RUNBOOKS and at_the_rack(services.step_of(run))]


def line(run: Run) -> dict[str, Any]:
    return pages.line(run) | {"step": services.step_of(run)}


def now(run: Run, user: User) -> dict[str, Any]:
    state, runbook = run.here, RUNBOOKS[run.runbook]
    step = runbook.step(state.step)
    words, tone = pages.standing(state, runbook)
    here = state.status not in ENDED and at_the_rack(step)
    by_eye = here and step.judges in ASKED_OF_THE_EYE
    told = not by_eye and not state.alarm  # while a wrong disk is out, no other bay is named large: it would be put in there
    return {
        "section": "runs",
        "bare": True,
        "topics": f"run:{run.pk},node:{run.node}",
        "run": run,
        "state": state,
        "step": step,
        "standing": words,
        "tone": tone,
        "ended": state.status in ENDED,
        "here": here,
        "asks": here and step.kind == "MANUAL" and state.status == "open",
        "may_act": may(user, MANUAL, run.node),
        "by_eye": by_eye,
        "bay": state.params.get("slot", "") if told else "",
        "enclosure": state.params.get("enclosure", ""),
        "disks": disks(state.params, state.status == "done") if told else [],
        "quiet": not here or step.kind == "MANUAL",  # the bay is large where hands go to it now
        "light": light(services.facts_now(), state.params) if here and told and step.kind == "WAIT" else "",
    }


def disks(params: Params, done: bool) -> list[tuple[str, str]]:
    """What is printed on the disks this is about."""
    named = (("Came out" if done else "Comes out", "old_serial"), ("Went in" if done else "Goes in", "spare_serial"))
    return [(words, params[name]) for words, name in named if params.get(name)]


def light(facts: FleetFacts, params: Params) -> str:
    """The bay's light as the enclosure reads it back."""
    if not params.get("slot"):
        return ""
    bay = the_bay(facts, params)
    if not known(bay) or not known(bay.locate):
        return f"Whether its light is on is not known: {bay.reason if not known(bay) else bay.locate.reason}"
    return "Its light blinks." if bay.locate else "Its light is off."
