"""What the run pages show of a run: where it stands in words and tone, its steps, its plan, who did what."""

import itertools
import json
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404
from django.utils import timezone

from agents.collectors import COLLECTORS
from app.accounts.models import User
from app.core.compiled_queries import WrittenOnce
from app.ledger.models import Blob, LedgerEvent
from app.ledger.services import blob
from app.ledger.words import phrase
from app.runs import services
from app.runs.models import Order, Run
from app.runs.pages import by_hand, ending, look_again, panels, phases, safety
from app.runs.pages.look_again import Look
from app.runs.people import approval_requests, run_sharing
from app.runs.rights import APPROVE, MANUAL, OPERATE, may, rests
from workflows.engine import lint_paths, plan_losses
from workflows.engine.core import END, ApproveStep, Option, Runbook, Step, Verdict, blockers, goes_by_hand
from workflows.engine.decide import PLAN_AGE_SECONDS_MAX
from workflows.engine.manual_answers import correctable
from workflows.engine.state import ENDED, Finished, RunState
from workflows.runbooks import RUNBOOKS

STANDING = {
    "new": ("has not begun", "idle"),
    "open": ("action needed", "info"),
    "planning": ("the node makes its plan", "info"),
    "ordered": ("the order is under way", "info"),
    "unknown": ("outcome unknown", "watch"),
    "waiting": ("watches the node", "info"),
    "stopped": ("stopped", "bad"),
    "done": ("done", "good"),
    "aborted": ("ended by a person", "idle"),
}
BACK_TO = ("DECIDE", "CHECK", "PLAN", "MANUAL")


def line(run: Run) -> dict[str, Any]:
    """One run in a list."""
    words, tone = standing(run.here, RUNBOOKS.get(run.runbook))
    return {"pk": run.pk, "title": title(run), "standing": words, "tone": tone, "run": run, "argv": argv(run.here.plan)}


def lines(runs: Iterable[Run]) -> list[dict[str, Any]]:
    return [line(run) for run in runs]


def title(run: Run) -> str:
    return RUNBOOKS[run.runbook].title if run.runbook in RUNBOOKS else run.runbook


def standing(state: RunState, runbook: Runbook | None) -> tuple[str, str]:
    words, tone = STANDING[state.status]
    if state.status == "open" and runbook is not None and runbook.step(state.step).kind == "APPROVE":
        return "waits for approval", "watch"
    if state.status == "waiting" and runbook is not None and runbook.step(state.step).at_the_rack:
        return "waits for hands at the rack", "info"
    return words, tone


def argv(plan: Any) -> str:
    """The command as it would be typed. The node never sees this text: it runs the words."""
    return shlex.join(plan["argv"]) if plan else ""


def detail(run: Run, user: User) -> dict[str, Any]:
    """Everything the page of one run shows to one reader."""
    state, runbook = run.here, RUNBOOKS[run.runbook]
    step = runbook.step(state.step)
    words, tone = standing(state, runbook)
    return {
        "section": "runs",
        "topics": f"run:{run.pk}",
        "run": run,
        "ledger_down": panels.ledger_down(run),
        "runbook": runbook,
        "state": state,
        "standing": words,
        "tone": tone,
        "note_tone": "bad" if just_failed(state) else tone,
        **stepper(runbook, state),
        **place(runbook, state),
        "plan": state.plan,
        "plan_in_step": bool(state.plan) and step.kind in ("CONFIRM", "APPROVE", "EXECUTE") and state.status in ("open", "stopped"),
        "plan_used": state.plan_digest in state.sealed,
        **panels.planned(state.plan or {}),
        "plan_changes": panels.changes(run) if state.plan else (),
        "plan_again": bool(state.plan and services.plan_and_the_one_before(run)[1]),
        "argv": argv(state.plan),
        "events": events(run),
        "ended": state.status in ENDED,
        "rack": state.status in ("open", "waiting") and step.at_the_rack,
        "can_abort": may(user, OPERATE, run.node) and state.status not in ENDED and not state.order_is_out,
        **acting(run, state, step, user),
        **judging(run, state, user),
        **correcting(runbook, state),
        "may_correct": may(user, MANUAL, run.node),
        **panels.beside(run, state, step, user),
        **by_hand.shown(run, state, step, user),
        **safety.answers(run, state, step),
        "lost": safety.lost(run, state, step),
        "plan_lost": plan_losses.lost(state.plan or {}),
        "must_accept": plan_losses.to_accept(state.plan or {}),
        "warned": safety.warned(run, state, step),
        "afterwards": safety.afterwards(state.plan),
        "truth": ending.truth(run, state),
        "stopping": "" if state.status in ENDED else safety.stopping(run, state, step),
        **run_sharing.around(run, user),
    }


def correcting(runbook: Runbook, state: RunState) -> dict[str, Any]:
    """The step whose answer may still be corrected, and what that was."""
    step = correctable(runbook, state)
    return {"correct": step, "correct_from": state.params.get(step.param, "") if step else ""}


def inbox(yours: list[Run], others: list[Run], user: User) -> dict[str, Any]:
    """The page of approvals: plans to judge, and what was done without an approval."""
    return {
        "section": "approvals",
        "topics": "fleet",
        "yours": [waits(run, user) for run in yours],
        "others": [waits(run, user) for run in others],
        "reviews": panels.reviews(user),
    }


def waits(run: Run, user: User) -> dict[str, Any]:
    """A plan that waits for an approval: since when, until when it can be judged, what is new in it, and why not by this reader."""
    state = run.here
    step = RUNBOOKS[run.runbook].step(state.step)
    until = datetime.fromtimestamp(state.planned_at, UTC) + timedelta(seconds=PLAN_AGE_SECONDS_MAX)
    return line(run) | {
        "since": datetime.fromtimestamp(state.since, UTC),
        "until": until,
        "too_old": until <= timezone.now(),
        "lost": plan_losses.lost(state.plan or {}),
        "changes": panels.changes(run),
        "approvers": approval_requests.approvers(run, state),
        "given": [one.by for one in state.approvals],
        "needed": step.approvals if isinstance(step, ApproveStep) else 1,
        **judging(run, state, user),
    }


def place(runbook: Runbook, state: RunState) -> dict[str, Any]:
    """Where this is: which phase of how many, a count that no choice changes; on the way back which step of how many."""
    here, back = runbook.place(state.step), runbook.place(runbook.undo) if runbook.undo else len(runbook.steps)
    if here >= back:
        return {"phase": "", "place": here - back + 1, "places": len(runbook.steps) - back}
    named = [(name, [slug for slug, _ in group]) for name, group in itertools.groupby(phases.of(runbook).items(), lambda pair: pair[1])]
    number = next(i for i, (_, slugs) in enumerate(named, 1) if state.step in slugs)
    return {"phase": named[number - 1][0], "place": number, "places": len(named)}


def stepper(runbook: Runbook, state: RunState) -> dict[str, Any]:
    """The way forward and, apart from it, the way back."""
    lines = steps(runbook, state)
    back = runbook.place(runbook.undo) if runbook.undo else len(lines)
    walked = any(line["finished"] for line in lines[back:])
    listed = parts(lines[:back])
    return {
        "steps": lines[:back],
        "parts": listed,
        "phases": phases.grouped(runbook, listed, bool(state.ending) or state.status == "aborted"),
        "way_back": lines[back:],
        "back_walked": walked,
    }


def parts(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps as they are listed: those done, the one now, those that may come. What this run does not take, and an order that was not
    needed, is one line each that can be opened.
    """
    found: list[dict[str, Any]] = []
    for (_, why), group in itertools.groupby(lines, lambda line: (line["phase"], _folded_for(line))):
        several = list(group)
        if why is None or (why and len(several) == 1):
            found += [{"line": line} for line in several]
        else:
            found.append(
                {"folded": several, "why": why, "slug": several[0]["step"].slug, "no_return": any(one["no_return"] for one in several)}
            )
    return found


def _folded_for(line: dict[str, Any]) -> str | None:
    """Why a step is folded away with its neighbours: "" when the run does not take it, the reason when it was passed over; else None."""
    if line["aside"]:
        return ""
    return line["finished"].note if line["finished"] and line["finished"].passed_over else None


def steps(runbook: Runbook, state: RunState) -> list[dict[str, Any]]:
    finished = {f.step: f for f in state.finished}
    coming = frozenset() if state.status in ENDED else lint_paths.ahead(runbook, state.step)
    named = phases.of(runbook)
    return [
        {
            "step": step,
            "phase": named.get(step.slug, ""),
            "now": step.slug == state.step and state.status not in ENDED,
            "finished": finished.get(step.slug),
            "when": datetime.fromtimestamp(finished[step.slug].at, UTC) if step.slug in finished else None,
            "no_return": step.slug == runbook.point_of_no_return,
            "css": css(step, state, finished.get(step.slug)),
            "aside": step.slug not in (*finished, *coming, state.step),
        }
        for step in runbook.steps
    ]


def css(step: Step, state: RunState, finished: Finished | None) -> str:
    if finished is not None and finished.failed:
        return "failed"
    if finished is not None:
        return "passed" if finished.passed_over else "done"
    if step.slug != state.step:
        return ""
    if state.alarm:
        return "stopped"
    return {"stopped": "stopped", "unknown": "unknown", "aborted": "stopped"}.get(state.status, "now")


def just_failed(state: RunState) -> bool:
    """Whether the run stands where it stands because the order before failed."""
    return state.status not in ENDED and bool(state.finished) and state.finished[-1].failed


def acting(run: Run, state: RunState, step: Step, user: User) -> dict[str, Any]:
    """What the current step offers to this reader."""
    able = may(user, OPERATE, run.node)
    hands = step.kind == "MANUAL" and state.status == "open" and may(user, MANUAL, run.node)
    may_not = "" if able else rests(user, OPERATE, run.node) or "Your account may look. Acting needs the operator's right on this node."
    shown = {"may_act": able or hands, "may_not": may_not}
    if not able or state.status not in ("open", "stopped", "unknown"):
        return shown
    shown["can_go_back"] = earlier(RUNBOOKS[run.runbook], state) if state.status == "open" else None
    if step.kind == "DECIDE":
        shown |= listed([choice(option, RUNBOOKS[run.runbook]) for option in services.options(run)])
    if step.kind == "EXECUTE" and any(a.by == user.get_username() for a in state.approvals):
        shown["judged"] = True  # whoever approved a plan does not carry it out: the button is not for this reader
    return shown


def earlier(runbook: Runbook, state: RunState) -> Step | None:
    """The nearest step this run took that a person can go back to, if no command was given since. On the way back only its own."""
    walked = {f.step for f in state.finished if not f.passed_over}
    begin = runbook.place(runbook.undo) if state.ending else 0
    for step in reversed(runbook.steps[begin : runbook.place(state.step)]):
        if step.slug in walked and step.kind in ("EXECUTE", *BACK_TO):
            return None if step.kind == "EXECUTE" else step
    return None


def listed(options: list[dict[str, Any]]) -> dict[str, Any]:
    """What may be taken, and how much else there is: the page folds away what cannot."""
    fitting = sum(option["fit"] for option in options)
    by_hand = any(option["by_hand"] for option in options)
    return {"options": options, "fitting": fitting, "others": len(options) - fitting, "some_by_hand": by_hand}


def choice(option: Option, runbook: Runbook) -> dict[str, Any]:
    against = blockers(option.verdicts)
    by_hand = goes_by_hand(option.verdicts)
    shown: dict[str, Any] = {"value": option.value, "title": option.title, "detail": option.detail, "against": first_words(against)}
    shown |= {"fit": not against or by_hand, "by_hand": by_hand}
    if option.leads_to == END:
        return shown | {"leads_to": "the end of the run"}
    return shown | {"leads_to": runbook.step(option.leads_to).title if option.leads_to else ""}


def first_words(against: tuple[Verdict, ...]) -> str:
    """The weightiest reason, and how many more there are; choosing shows them all."""
    if not against:
        return ""
    first = next((v for v in against if v.outcome == "refuse"), against[0])
    return first.reason if len(against) == 1 else f"{first.reason} And {len(against) - 1} more."


def judging(run: Run, state: RunState, user: User) -> dict[str, Any]:
    why = ""
    if user.get_username() in state.hands:
        why = "You took part in this run. Another person must approve it; there is no exception."
    elif not may(user, APPROVE, run.node):
        why = rests(user, APPROVE, run.node) or "Approving needs the approver's right on this node."
    elif any(a.by == user.get_username() for a in state.approvals):
        why = "You have approved this plan. Another person must be the next."
    return {"may_approve": not why, "may_not_approve": why}


def events(run: Run) -> list[dict[str, Any]]:
    """The run's ledger events, newest first."""
    found = LedgerEvent.objects.filter(run=str(run.pk)).order_by("-run_seq")[:100]
    return [
        {"pk": e.pk, "at": e.at, "when": e.at[11:19], "actor": e.actor, "words": phrase(e.type, e.parsed["body"]), "comment": commented(e)}
        for e in found
    ]


def commented(event: LedgerEvent) -> str:
    return event.parsed["body"].get("text", "") if event.type == "run.comment" else ""


def for_node(node: str) -> dict[str, Any]:
    return {"look_node": node, "look_sources": [look_again.EVERY, *sorted(COLLECTORS)]}


@WrittenOnce
def _looks(order_id: str) -> QuerySet[Order, Any]:
    is_on_record = Exists(Blob.objects.filter(pk=OuterRef("digest")))
    return Order.objects.filter(pk=order_id, operation="look").annotate(is_on_record=is_on_record).values_list(*Look._fields)


def answer(order_id: str) -> dict[str, Any]:
    """One look, as far as it has come."""
    order = next((Look(*row) for row in _looks(order_id)), None)
    if order is None:
        raise Http404(f"There is no look {order_id}.")
    shown = {"section": "fleet", "topics": f"looks:{order.node}", "pk": order.pk, "node_name": order.node, "sources": sources(order)}
    if order.status in ("SEALED", "OFFERED"):
        now = timezone.now()
        line = look_again.under_way(order, look_again.usually(order.node), now)
        return shown | {"waiting": True, "line": line, "silent": look_again.silent(order.node, now)}
    if order.status != "SUCCEEDED" or order.ended_at is None:
        return shown | {"reason": order.reason or f"The look is {order.status}."}
    took = (order.ended_at - order.sealed_at).total_seconds() * 1000
    captures = [capture(c) for c in json.loads(order.receipt or "{}").get("captures", [])]
    return shown | {"milliseconds": round(took), "captures": captures, "evidence": order.receipt_digest, "look": order}


def sources(order: Look) -> str:
    asked: str = json.loads(order.canonical)["params"]["sources"]
    return asked


def capture(fields: dict[str, str]) -> dict[str, str]:
    """What one source said, from the evidence; a capture that failed says why."""
    body = json.loads(blob(fields["digest"]))
    name = fields["source"] + (f"/{fields['key']}" if fields.get("key") else "")
    return {"source": name, "digest": fields["digest"], "text": body["text"] or body["reason"] or body["stderr"]}
