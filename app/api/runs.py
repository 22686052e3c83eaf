"""What is done about it, through the API: runs, their acts, approvals, open loops. The services are those of the pages."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal

from django.db.models import Q
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Schema, Status
from pydantic import StringConstraints

from app.accounts.models import User
from app.api.acting import by_token
from app.api.auth import Scoped, TokenRequest
from app.api.models import Token
from app.api.problems import Problem, VerdictOut
from app.api.scopes import APPROVE, OPERATE, READ
from app.api.words import NO_NUL, PAGE, Answer, Cursor, Limit, Number, Page, Words, answers, number, paged
from app.fleet.models import Situation
from app.runs import open_loops as loops
from app.runs import perform_action, services
from app.runs.models import OpenLoop, Order, Run
from app.runs.pages import by_hand, manual_start, run_page, safety
from app.runs.pasted import CHARS_MAX
from app.runs.people import takeover
from workflows.engine import plan_losses
from workflows.engine.core import ConfirmStep, ManualStep, Option, Runbook, Step
from workflows.engine.manual_answers import correctable
from workflows.engine.state import ENDED, RunState
from workflows.runbooks import RUNBOOKS

router = Router(tags=["runs"])
# Breaking the glass is not among them: it is for a person before a page that says what it means.
Act = Literal[
    "choose", "check", "hands", "correct", "plan", "confirm", "execute", "settle", "back", "abort", "withdraw", "take-over",
    "check-by-hand", "plan-by-hand", "show-by-hand", "look-by-hand", "paste",
]  # fmt: skip
Printed = Annotated[str, StringConstraints(max_length=CHARS_MAX, pattern=NO_NUL)]
OF_A_STEP = {"DECIDE": "choose", "CHECK": "check", "MANUAL": "hands", "PLAN": "plan", "CONFIRM": "confirm", "EXECUTE": "execute"}


class RunOut(Schema):
    id: int
    runbook: str
    title: str
    node: str
    requester: str
    step: str
    status: str
    standing: str
    version: int
    created_at: datetime
    ended_at: datetime | None


class StepOut(Schema):
    slug: str
    title: str
    kind: str
    now: bool
    finished_at: datetime | None
    finished_by: str
    passed_over: bool


class CorrectOut(Schema):
    step: str
    asks: str
    was: str = Field(description="What was answered")


class OptionOut(Schema):
    value: str
    title: str
    detail: str
    fits: bool
    by_hand: bool = Field(description="It fits, and no order is made here: `choose` takes it with `by_hand`")
    against: str


class ApprovalOut(Schema):
    by: str
    plan_digest: str
    at: datetime


class OrderOut(Schema):
    id: str
    operation: str
    status: str
    reason: str
    sealed_at: datetime
    ended_at: datetime | None


class PastedOut(Schema):
    by: str
    at: datetime
    reads: list[str] = Field(description="What was read in it. It settles nothing")


class ByHandOut(Schema):
    """A command that a person gives, as the portal orders nothing there."""

    by: str = Field(description="Who was shown it")
    until: datetime = Field(description="After this it runs nothing")
    over: bool
    snippet: str = Field(
        description="For a root shell on the node, as it stands; only for `by`, with a token that acts, while its time lasts"
    )
    looking: bool = Field(description="The node has been asked to look, and has not answered yet")
    pasted: list[PastedOut] = Field(description="What was sent of what it printed, newest first")


class RunFull(RunOut):
    situation: str
    params: dict[str, str]
    note: str
    alarm: str
    acts: list[str] = Field(description="What may be asked of it now, by a person with the right")
    guards: list[VerdictOut] = Field(
        description="The verdicts of the guards of this step at this moment; they are evaluated again when it acts"
    )
    warnings: list[str] = Field(description="What must be known before this step, and forbids nothing")
    options: list[OptionOut] = Field(description="What may be chosen, at a step that needs a choice")
    asks: str = Field(
        description="What `hands` must say as evidence, or what `confirm` must be sent as text: to be read off the disk or the plan"
    )
    correctable: CorrectOut | None = Field(description="The answer of an earlier step that `correct` may still replace")
    steps: list[StepOut]
    lost: list[str] = Field(description="What is lost by carrying out the plan, or by the step that comes; the worst first")
    must_accept: str = Field(description="What `approve`, `break-glass` and `execute` must be sent as `accepted`; empty: nothing")
    plan: dict[str, Any] | None
    plan_digest: str
    argv: list[str] = Field(description="The exact command of the plan, word by word")
    approvals: list[ApprovalOut]
    orders: list[OrderOut]
    open_loops: list[str]
    by_hand: ByHandOut | None = Field(
        description="The command that is being given by hand; its outcome is not known until the node shows it"
    )
    held_by: list[int] = Field(description="Runs that hold what this one's order needs now; take-over takes it from one of them")


class WaitingOut(RunOut):
    yours: bool = Field(description="Whether the person of this token may judge it")
    lost: list[str] = Field(description="What is lost by carrying out the plan; the worst first")
    must_accept: str = Field(description="What `approve` must be sent as `accepted`; empty: nothing")
    plan_digest: str
    argv: list[str]


class LoopOut(Schema):
    id: int
    run: int
    run_version: int
    node: str
    what: str
    undo: str
    by: str
    at: datetime
    run_ended: bool


class Start(Schema):
    situation: Number = Field(0, description="The situation to answer, with the runbook that answers it")
    runbook: Words = ""
    offer: Words = Field("", description="Or: the key of what the pages offer on this node, pool or disk")
    node: Words = ""
    pool: Words = ""
    wwid: Words = ""


class Asked(Schema):
    """Which version of the run was read, and what the act needs beside it."""

    version: Number
    value: Words = Field("", description="choose")
    by_hand: Literal["", "yes"] = Field("", description="choose: yes, for an option that fits by hand alone")
    text: Words = Field("", description="confirm: what `asks` of the run asks for")
    evidence: Printed = Field(
        "", description="hands: what shows that it was done, a line or what a command printed; correct: what it is instead"
    )
    outcome: Words = Field("", description="settle: did or did_not")
    step: Words = Field("", description="back: to which step; correct: the step of `correctable`")
    reason: Words = Field("", description="settle, abort, withdraw, take-over")
    accepted: Words = Field("", description="execute, break-glass: `must_accept` of the run, word by word, where it says anything")
    holder: Number = Field(0, description="take-over: the run that holds what is needed")
    output: Printed = Field("", description="paste: what the snippet printed")


class Judged(Schema):
    version: Number
    plan_digest: Words
    reason: Words = ""
    accepted: Words = Field("", description="approve: `must_accept` of the run, word by word, where it says anything")


class Closed(Schema):
    version: Number
    evidence: Words


def run_line(run: Run) -> Answer:
    words, _ = run_page.standing(run.here, RUNBOOKS.get(run.runbook))
    plain = {name: getattr(run, name) for name in ("runbook", "node", "step", "status", "version", "created_at", "ended_at")}
    return plain | {"id": run.pk, "title": run_page.title(run), "requester": run.requester.username, "standing": words}


def found_run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("requester"), pk=pk)


@router.get("/runs", response=answers(Page[RunOut]), auth=Scoped(READ), url_name="api-runs")
def runs(
    request: TokenRequest, node: Words = "", status: Words = "", ended: bool | None = None, cursor: Cursor = "", limit: Limit = PAGE
) -> Answer:
    """Runs, newest first."""
    wanted = Q(**{name: value for name, value in (("node", node), ("status", status)) if value})
    if ended is not None:
        wanted &= Q(ended_at__isnull=not ended)
    if number(cursor):
        wanted &= Q(pk__lt=number(cursor))
    found = Run.objects.filter(wanted).select_related("requester").order_by("-pk")[: limit + 1]
    listed, more = paged(found, limit, lambda run: run.pk)
    return {"items": [run_line(run) for run in listed], "next": more}


@router.get("/runs/{int:pk}", response=answers(RunFull), auth=Scoped(READ), url_name="api-run")
def run(request: TokenRequest, pk: Number) -> Answer:
    """Where one run stands, what its guards say now, its plan with the exact command, and what may be asked of it."""
    return full(found_run(pk), request.auth)


def full(run: Run, token: Token) -> Answer:
    state = run.here
    book = RUNBOOKS.get(run.runbook)
    open_now = book is not None and state.status == "open"
    step = book.step(state.step) if book is not None and open_now else None
    is_there = book is not None and state.step in {one.slug for one in book.steps}  # a runbook may have changed under a run
    can_be_corrected = correctable(book, state) if book is not None and is_there else None
    hand = by_hand.shown(run, state, book.step(state.step), token.person) if book is not None and is_there else by_hand.NOTHING
    return run_line(run) | {
        "situation": run.situation_key,
        "params": run.params | dict(state.params),
        "note": state.note,
        "alarm": state.alarm,
        "acts": acts(state, step, can_be_corrected, hand),
        "guards": services.verdicts_now(run) if open_now else state.verdicts,
        "warnings": safety.warned(run, state, step) if step else [],
        "options": [option(one, book) for one in services.options(run)] if book is not None and step and step.kind == "DECIDE" else [],
        "asks": asks(step),
        "correctable": correctable_line(can_be_corrected, state) if can_be_corrected else None,
        "steps": [step_line(line) for line in run_page.steps(book, state)] if book else [],
        "lost": safety.lost(run, state, step) if step else [],
        "must_accept": plan_losses.to_accept(state.plan or {}),
        "plan": state.plan,
        "plan_digest": state.plan_digest,
        "argv": list((state.plan or {}).get("argv", ())),
        "approvals": [{"by": a.by, "plan_digest": a.plan_digest, "at": datetime.fromtimestamp(a.at, UTC)} for a in state.approvals],
        "orders": [order_line(order) for order in Order.objects.filter(run=run).exclude(effect="pure")],
        "open_loops": [one.what for one in state.loops],
        "by_hand": given_by_hand(hand["hand"], token),
        "held_by": sorted({lock.run_id for lock in takeover.in_the_way(run)}) if step and step.kind == "EXECUTE" else [],
    }


def asks(step: Step | None) -> str:
    """What must be typed at this step; "" where nothing must."""
    return step.phrase_hint if isinstance(step, ConfirmStep) else step.asks if isinstance(step, ManualStep) else ""


def correctable_line(step: ManualStep, state: RunState) -> Answer:
    return {"step": step.slug, "asks": step.asks, "was": state.params.get(step.param, "")}


def acts(state: RunState, step: Step | None, can_be_corrected: Step | None, hand: Answer) -> list[str]:
    if state.status in ENDED:
        return []
    for_a_person = step is not None and step.kind == "EXECUTE" and hand["plan_is_by_hand"]
    found = [OF_A_STEP[step.kind]] if step is not None and step.kind in OF_A_STEP and not for_a_person else []
    found += ["show-by-hand"] if for_a_person else []
    found += ["approve", "reject"] if step is not None and step.kind == "APPROVE" else []
    found += {"stopped": ["plan"], "unknown": ["settle"], "ordered": ["withdraw"]}.get(state.status, [])
    found += ["check-by-hand" if step is not None and step.kind == "CHECK" else "plan-by-hand"] if hand["by_hand_way"] else []
    found += ["look-by-hand", "paste"] if hand["hand"] else []
    found += ["correct"] if can_be_corrected else []
    return [*found, *([] if state.order_is_out else ["abort"])]


def given_by_hand(hand: Answer | None, token: Token) -> Answer | None:
    """A token that only reads is shown no command for a root shell."""
    if hand is None:
        return None
    found = {name: hand[name] for name in ("by", "until", "over", "looking", "pasted")}
    return found | {"snippet": hand["snippet"] if OPERATE in token.scopes else ""}


def option(one: Option, book: Runbook) -> Answer:
    fields = run_page.choice(one, book)
    return {name: fields[name] for name in ("value", "title", "detail", "against", "by_hand")} | {"fits": fields["fit"]}


def step_line(line: Answer) -> Answer:
    step, done = line["step"], line["finished"]
    plain = {"slug": step.slug, "title": step.title, "kind": step.kind, "now": line["now"], "finished_at": line["when"]}
    return plain | {"finished_by": done.by if done else "", "passed_over": bool(done and done.passed_over)}


def order_line(order: Order) -> Answer:
    return {name: getattr(order, name) for name in ("id", "operation", "status", "reason", "sealed_at", "ended_at")}


@router.post("/runs", response=answers(RunFull, 201), auth=Scoped(OPERATE), url_name="api-run-start")
def start(request: TokenRequest, body: Start) -> Status[Answer]:
    """Begin a run: for a situation with one of the runbooks that answer it, or for what the pages offer. A second one begins nothing."""
    begin = partial(manual_start.begin, request.auth.person, body.offer, {"node": body.node, "pool": body.pool, "wwid": body.wwid})
    begun = by_token(request.auth, "run.start", begin if body.offer else partial(_answer, request.auth.person, body))
    return Status(201, full(found_run(begun.pk), request.auth))


def _answer(person: User, body: Start) -> Run:
    situation = Situation.objects.filter(pk=body.situation, closed_at=None).first()
    if situation is None:
        raise services.RunRefused("There is no open situation of this number. Read the list of situations again.")
    answer = next((one for one in situation.data["answers"] if one["runbook"] == body.runbook), None)
    if answer is None:
        listed = ", ".join(one["runbook"] for one in situation.data["answers"]) or "none"
        raise services.RunRefused(f"Situation {situation.pk} has no such runbook. Its runbooks: {listed}.")
    return services.start_run(person, answer["runbook"], answer["params"], situation.key)


@router.post("/runs/{int:pk}/acts/{str:act}", response=answers(RunFull), auth=Scoped(OPERATE), url_name="api-run-act")
def act(request: TokenRequest, pk: Number, act: Act, body: Asked) -> Answer:
    """One act on a run as its reader saw it. An old version is answered 409; then the run is to be read again, and nothing was done."""
    fields = body.dict(exclude={"version", "holder"}) | {"holder": str(body.holder)}
    return _done(request.auth, pk, body.version, act, fields)


def _done(token: Token, pk: int, version: int, act: str, fields: dict[str, str]) -> Answer:
    run = found_run(pk)
    what = partial(perform_action.do, pk, version, act, token.person, token.proved_at, fields)
    by_token(token, f"run.{act}", what, run=str(pk), node=run.node)
    return full(found_run(pk), token)


@router.get("/approvals", response=answers(list[WaitingOut]), auth=Scoped(READ), url_name="api-approvals")
def approvals(request: TokenRequest) -> list[Answer]:
    """Plans that wait for another person, those that you may judge first."""
    yours, others = services.approvals_for(request.auth.person)
    return [waiting(run, True) for run in yours] + [waiting(run, False) for run in others]


def waiting(run: Run, yours: bool) -> Answer:
    state = run.here
    plan = state.plan or {}
    fields = {"lost": list(plan_losses.lost(plan)), "must_accept": plan_losses.to_accept(plan), "argv": list(plan.get("argv", ()))}
    return run_line(run) | fields | {"yours": yours, "plan_digest": state.plan_digest}


@router.post("/approvals/{int:pk}/approve", response=answers(RunFull), auth=Scoped(APPROVE), url_name="api-approve")
def approve(request: TokenRequest, pk: Number, body: Judged) -> Answer:
    """Say yes to exactly this plan. It takes a person who took no part in the run, and a password typed within 15 minutes."""
    return _done(request.auth, pk, body.version, "approve", {"plan_digest": body.plan_digest, "accepted": body.accepted})


@router.post("/approvals/{int:pk}/reject", response=answers(RunFull), auth=Scoped(APPROVE), url_name="api-reject")
def reject(request: TokenRequest, pk: Number, body: Judged) -> Answer:
    """Say no to this plan, and why."""
    return _done(request.auth, pk, body.version, "deny", {"plan_digest": body.plan_digest, "reason": body.reason})


@router.get("/open-loops", response=answers(list[LoopOut]), auth=Scoped(READ), url_name="api-loops")
def open_loops(request: TokenRequest) -> list[Answer]:
    """What runs have switched on and what is not switched off yet, oldest first."""
    return [loop_line(one) for one in OpenLoop.objects.select_related("run")]


def loop_line(one: OpenLoop) -> Answer:
    plain = {name: getattr(one, name) for name in ("node", "what", "undo", "by", "at")}
    return plain | {"id": one.pk, "run": one.run_id, "run_version": one.run.version, "run_ended": one.run.ended_at is not None}


@router.post("/open-loops/{int:pk}/close", response=answers(list[LoopOut]), auth=Scoped(OPERATE), url_name="api-loop-close")
def close_loop(request: TokenRequest, pk: Number, body: Closed) -> list[Answer]:
    """State that it is over, and what shows it. Where the node shows that it is not, a person's statement does not count."""
    one = OpenLoop.objects.filter(pk=pk).first()
    if one is None:
        raise Problem("not-found", f"There is no open loop {pk}. Perhaps it is closed already.")
    what = partial(loops.close, pk, body.version, request.auth.person, body.evidence)
    by_token(request.auth, "loop.close", what, run=str(one.run_id), node=one.node)
    return open_loops(request)
