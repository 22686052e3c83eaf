"""The one thing to do before the rack now, for a person with a phone in one hand and a disk in the other."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from agents.domain.wwid import scheme
from app.accounts.models import User
from app.runs import services
from app.runs.models import Run
from app.runs.pages import run_page
from app.runs.rights import MANUAL, may
from workflows.engine.core import ManualStep, Params, Runbook, Step, WaitStep, blockers
from workflows.engine.state import ENDED, RunState
from workflows.facts import FleetFacts, known
from workflows.guards.answers import the_bay_that_blinks
from workflows.guards.bay import disks_in, has_no_bay, place_of, the_bay
from workflows.guards.scanned import names
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.replace_in_place.guards import about_the_new_disk, the_bay_of_the_new_disk_that_blinks

ASKED_OF_THE_EYE = (
    the_bay_that_blinks,
    the_bay_of_the_new_disk_that_blinks,
)  # nothing on the page may show the answer: a light alone proves nothing

WWID_OF = {"old_serial": "old_wwid"}  # what a disk is compared by where it reports no serial number


def waiting() -> list[Run]:
    """Open runs that wait for hands."""
    found = Run.objects.filter(ended_at=None, status__in=("open", "waiting")).select_related("requester")
    return [run for run in found if run.runbook in RUNBOOKS and services.step_of(run).at_the_rack]


def line(run: Run) -> dict[str, Any]:
    return run_page.line(run) | {"step": services.step_of(run)}


def now(run: Run, user: User) -> dict[str, Any]:
    return shown(run) | {"may_act": may(user, MANUAL, run.node)}


def shown(run: Run) -> dict[str, Any]:
    """The same for everybody; whether this reader may answer is not said yet."""
    state, runbook = run.here, RUNBOOKS[run.runbook]
    step = runbook.step(state.step)
    words, tone = run_page.standing(state, runbook)
    here = state.status not in ENDED and step.at_the_rack
    by_eye = here and isinstance(step, ManualStep) and step.judges in ASKED_OF_THE_EYE
    is_named = here and not by_eye and not state.alarm  # while a wrong disk is out, no other bay is named large: it would be put in there
    disk, place = in_hand(step, state.params) if is_named else None, bay_of(step, state.params)
    waits = here and step.kind == "WAIT"
    facts = services.facts_for(run) if waits else None
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
        "by_eye": by_eye,
        "bay": place.get("slot", "") if disk and place_of(place) else "",
        "enclosure": "" if has_no_bay(place) else place.get("enclosure", ""),
        "disks": [disk] if disk else moved(runbook, state) if state.status in ENDED else [],
        "quiet": step.kind == "MANUAL",  # the bay is large where hands go to it now
        "light": light(facts, place) if facts is not None and is_named else "",
        "against": [verdict.reason for verdict in blockers(state.verdicts)] if waits and is_named else [],
        "looks": looks(run, facts, step, timezone.now()) if facts is not None else None,
        "mistaken": facts is not None and is_named and holds_another(facts, step, state.params),
        **run_page.correcting(runbook, state),
    }


def bay_of(step: Step, params: Params) -> Params:
    """The run's parameters with the bay of this step under `enclosure` and `slot`: a disk that has a bay of its own is pulled out of that one."""
    looked_for = isinstance(step, ManualStep) and step.judges is the_bay_of_the_new_disk_that_blinks
    pulled = (isinstance(step, WaitStep) and step.takes_out == "spare_serial") or (
        isinstance(step, ManualStep) and step.finds == "spare_serial"
    )
    return about_the_new_disk(params) if looked_for or pulled else params


def holds_another(facts: FleetFacts, step: Step, params: Params) -> bool:
    """Whether a disk is in the bay that goes by another serial number than the one that was scanned to come in."""
    if not isinstance(step, WaitStep) or step.undoes or not step.puts_in:
        return False
    inside = disks_in(facts, params)
    return known(inside) and bool(inside) and known(inside[0].serial) and not names(params.get(step.puts_in, ""), inside[0])


def in_hand(step: Step, params: Params) -> tuple[str, str, str] | None:
    """What is done at this step, with which disk, and by what on its label it is known: the serial number, or the WWN where that is not known."""
    if not isinstance(step, ManualStep | WaitStep):
        return None
    finds = step.finds if isinstance(step, ManualStep) else ""
    found = (("Find", finds), ("Take out", step.takes_out), ("Put back" if step.undoes else "Put in", step.puts_in))
    named = ((words, _on_its_label(name, params)) for words, name in found if name)
    return next(((words, *label) for words, label in named if label), None)


def _on_its_label(name: str, params: Params) -> tuple[str, str] | None:
    if params.get(name):
        return "serial number", params[name]
    wwid = params.get(WWID_OF.get(name, ""), "")
    if not wwid:
        return None
    return ("WWN", wwid.removeprefix("naa:").upper()) if scheme(wwid) == "naa" else ("WWID", wwid)


def moved(runbook: Runbook, state: RunState) -> list[tuple[str, str, str]]:
    """What hands did with which disk in a run that has ended."""
    walked = {one.step for one in state.finished if not one.passed_over}
    done = [in_hand(step, state.params) for step in runbook.steps if step.slug in walked]
    past = {"Find": "Was found", "Take out": "Came out", "Put in": "Went in", "Put back": "Was put back"}
    return [(past[words], kind, value) for words, kind, value in filter(None, done)]


def looks(run: Run, facts: FleetFacts, step: Step, now: datetime) -> dict[str, int | None]:
    """How many seconds ago the node looked at the bays, and in how many it is asked again; None is "not known" and "at this moment"."""
    node = facts.nodes.get(run.node)
    ages = node.ages if node is not None and known(node.ages) else {}
    seen = all(source in ages for source in step.sources)
    left = (run.due_at - now).total_seconds() if run.due_at and run.here.asked is None else 0
    return {"ago": round(max(ages[source] for source in step.sources)) if seen else None, "next": round(left) if left > 0 else None}


def light(facts: FleetFacts, params: Params) -> str:
    """The bay's light as the enclosure reads it back."""
    if place_of(params) is None:
        return ""
    bay = the_bay(facts, params)
    lit = bay.locate if known(bay) else bay
    if not known(lit):
        return f"Whether its light is on is not known: {lit.reason}"
    return "Its light blinks." if lit else "Its light is off."
