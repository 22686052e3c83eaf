"""What pages and tasks may do with runs. Every act asks for the right, takes the row, compares the version, decides and
writes state, orders, locks and ledger in one transaction; the ledger last.
"""

import logging
import secrets
from dataclasses import fields as fields_of
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from app.accounts import rights
from app.accounts.models import User
from app.accounts.proof import FRESH_SECONDS, is_fresh
from app.core.compiled_queries import ModelsWrittenOnce, WrittenOnce, among, in_one_go, together
from app.core.database import unhurried
from app.fleet.ingest import history
from app.fleet.models import Node
from app.fleet.services import facts_near
from app.ledger import services as ledger
from app.realtime.publish import ring
from app.runs import in_hand
from app.runs.apply_decision import Asker, apply
from app.runs.models import OpenLoop, Order, Plan, Run
from app.runs.ordering import locks, plan_approvals, sealing
from app.runs.rights import APPROVE, BREAK_GLASS, MANUAL, OPERATE, may
from workflows.engine import events as ev
from workflows.engine import plans
from workflows.engine.core import DecideStep, Option, Step, Verdict, ask
from workflows.engine.decide import Refused
from workflows.engine.lint import definition_digest
from workflows.engine.state import RunState
from workflows.facts import FleetFacts
from workflows.runbooks import RUNBOOKS

NEEDS = {
    ev.HandsDone: MANUAL,
    ev.Corrected: MANUAL,
    ev.Approved: APPROVE,
    ev.Denied: APPROVE,
    ev.GlassBroken: BREAK_GLASS,
}  # every other act needs OPERATE
NEEDS_PROOF = (ev.Approved, ev.GlassBroken, ev.ExecuteAsked, ev.ByHandAsked)
WITHOUT_THE_DEFINITION = (ev.Settled, ev.Aborted, ev.LoopClosed)  # what people may still do when the runbook has changed under a run
CHANGED = "This runbook has changed since the run began. End this run and start a new one."
LOOK_SOURCES_MAX = 20
log = logging.getLogger(__name__)


class RunRefused(Exception):
    """Nothing was done. `reason` is for the person who asked; `verdicts` holds every answer of the guards; `recorded`: in the ledger too."""

    def __init__(self, reason: str, verdicts: tuple[Verdict, ...] = (), recorded: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.verdicts, self.recorded = reason, verdicts, recorded


class RunMoved(RunRefused):
    """This run has moved on since the page was loaded."""


class NotAllowed(RunRefused):
    """This person may not do this."""


class SignInIsOld(RunRefused):
    """This act needs a password typed within the last minutes. Typed again, everything else stands as it was."""


def start_run(user: User, runbook: str, params: dict[str, str], situation_key: str = "") -> Run:
    """Begin a run. When the situation has an open run already, that one is returned: a second click begins nothing.

    Raises RunRefused, which the ledger keeps, and LedgerDown.
    """
    ledger.refuse_if_broken()
    try:
        return _start(user, runbook, params, situation_key)
    except RunRefused as refused:
        body = {"runbook": runbook, "params": dict(params), "reason": refused.reason, "verdicts": _lines(refused.verdicts)}
        with transaction.atomic():
            ledger.record("run.start-refused", body, user.username or "nobody", node=params.get("node", ""))
        raise


def _start(user: User, runbook: str, params: dict[str, str], situation_key: str) -> Run:
    need(user, OPERATE, params.get("node", ""))
    if runbook not in RUNBOOKS:
        raise RunRefused(f"There is no runbook {runbook}.")
    if not Node.objects.filter(name=params.get("node", "")).exists():
        raise RunRefused(f"There is no node {params.get('node') or 'without a name'}.")
    open_runs = Run.objects.filter(situation_key=situation_key, ended_at__isnull=True).exclude(situation_key="")
    try:
        with transaction.atomic():
            in_hand.alone()
            return open_runs.first() or _begin(user, runbook, params, situation_key)
    except IntegrityError:
        # The other click was faster; the constraint kept it to one run.
        return open_runs.get()


def _begin(user: User, runbook: str, params: dict[str, str], situation_key: str) -> Run:
    now = timezone.now()
    if why := in_hand.why_not(runbook, params):
        raise RunRefused(why)
    run = Run.objects.create(
        runbook=runbook,
        definition_digest=definition_digest(RUNBOOKS[runbook]),
        params=params,
        node=params["node"],
        requester=user,
        owner=user,
        situation_key=situation_key,
        state=RunState(params=params, requester=user.username).to_json(),
        status="new",
        created_at=now,
    )
    refused = apply(run, ev.Start(at=now.timestamp(), by=user.username), Asker(user.username, user), now)
    if refused is not None:
        raise RunRefused(refused.reason, refused.verdicts)
    return run


def act(run_id: int, version: int, kind: type[ev.Event], user: User, *, proved_at: datetime | None = None, **fields: Any) -> Run:
    """A person's act: `act(run.pk, version, ev.Chosen, request.user, value=wwid)`. `at`, `by` and `facts` are filled in here.

    `proved_at` is when this person last typed the password, as far as its browser can show. Raises RunMoved when the page was old,
    NotAllowed, SignInIsOld, RunRefused (which the ledger keeps), LedgerDown.
    """
    ledger.refuse_if_broken()
    with transaction.atomic():
        now = timezone.now()
        run = Run.objects.select_for_update().get(pk=run_id)
        need(user, NEEDS.get(kind, OPERATE), run.node)
        if kind in NEEDS_PROOF:
            need_proof(proved_at, now)
        if run.version != version:
            raise RunMoved("This run has moved on since you loaded the page. Read its present state.")
        refused = attempt(run, kind, Asker(user.username, user, proved_at), now, fields)
    if refused is not None:
        raise RunRefused(refused.reason, refused.verdicts, recorded=True)
    return run


def attempt(run: Run, kind: type[ev.Event], asker: Asker, now: datetime, fields: dict[str, Any]) -> Refused | None:
    """One act on a run whose row the caller has locked. A refusal is returned, and is in the ledger."""
    refused = _try(run, kind, asker, now, fields)
    if refused is not None:
        body = {"event": kind.__name__, "step": run.step, "reason": refused.reason, "verdicts": _lines(refused.verdicts)}
        ledger.record("run.refused", body, asker.name, run=str(run.pk), node=run.node)
    return refused


def _try(run: Run, kind: type[ev.Event], asker: Asker, now: datetime, fields: dict[str, Any]) -> Refused | None:
    """The refusal, and the database as it was before; or None, and all of it done."""
    if kind not in WITHOUT_THE_DEFINITION and definition_changed(run):
        return Refused(CHANGED)
    if why := _not_now(run, kind, asker.person, now):
        return Refused(why)
    try:
        with transaction.atomic():
            return apply(run, event(kind, now, asker.name, fields, run), asker, now)
    except (locks.Held, sealing.CannotSeal) as held:
        run.refresh_from_db()
        return Refused(str(held))
    except IntegrityError:
        if kind is not ev.GlassBroken:
            raise
        run.refresh_from_db()  # the same person broke another one at the same moment
        return Refused("You broke the glass in another run just now. Until another person has reviewed that, you cannot do it again.")


def _not_now(run: Run, kind: type[ev.Event], person: User | None, now: datetime) -> str:
    """What the portal has and the engine does not: settings, rights of others, open reviews."""
    plan_digest = run.here.plan_digest
    if kind is ev.GlassBroken:
        if person is None:
            return "The request has no signed-in person to break the glass. Sign in, and try again."
        before = plan_approvals.open_glass_of(person)
        if before is not None:
            return (
                f"You broke the glass in run {before.run_id}, and no other person has reviewed that yet. Until then you cannot do it again."
            )
        return plan_approvals.why_no_glass(person, str((run.here.plan or {}).get("operation", "")), run.node)
    if (
        kind in (ev.ExecuteAsked, ev.ByHandAsked)
        and plan_digest
        and run.here.step == run.step
        and step_of(run).kind == "EXECUTE"
        and step_of(run).destructive
    ):
        return plan_approvals.of(plan_digest, person, now).why_not
    return ""


def event(kind: type[ev.Event], now: datetime, by: str, fields: dict[str, Any], run: Run) -> ev.Event:
    """The event with what the portal adds: the time, the person and, where guards are asked, the facts of this moment."""
    if "facts" in {f.name for f in fields_of(kind)} and "facts" not in fields:
        fields = {**fields, "facts": facts_for(run, now, *(value for value in fields.values() if isinstance(value, str)))}
    if "nonce" in {f.name for f in fields_of(kind)}:
        fields = {**fields, "nonce": secrets.token_hex(16)}  # of this showing alone; no caller sends one
    return kind(at=now.timestamp(), by=by, **fields)


def facts_for(run: Run, now: datetime | None = None, *typed: str) -> FleetFacts:
    """All that bears on what this run is about, and on what was just typed or scanned."""
    ever = tuple(one for typed_text in typed for one in history.ever(typed_text))
    about = [run.node, *run.params.values(), *run.here.params.values(), *typed, *(one.wwid for one in ever)]
    return replace(facts_near(about, now), ever=ever)


def definition_changed(run: Run) -> bool:
    return run.runbook not in RUNBOOKS or definition_digest(RUNBOOKS[run.runbook]) != run.definition_digest


def need(user: User, right: str, node: str) -> None:
    if why := rights.why_not(user, right, node):
        raise NotAllowed(why)


def need_proof(proved_at: datetime | None, now: datetime) -> None:
    if not is_fresh(proved_at, now):
        raise SignInIsOld(
            f"This needs your password, typed within the last {FRESH_SECONDS // 60} minutes. Type it once more; nothing else is lost."
        )


# --- what no person does


def apply_event(run: Run, kind: type[ev.Event], actor: str, now: datetime, **fields: Any) -> Refused | None:
    """An event from a node or from time, on a run whose row the caller has locked."""
    try:
        with transaction.atomic():
            return apply(run, event(kind, now, "", fields, run), Asker(actor), now)
    except (locks.Held, sealing.CannotSeal) as held:
        log.warning("Run %s cannot go on: %s", run.pk, held)
        run.refresh_from_db()
        return Refused(str(held))


def tick(run_id: int) -> None:
    """Look at a waiting run again. Harmless however often it is rung."""
    with transaction.atomic():
        run = Run.objects.select_for_update().filter(pk=run_id, status="waiting").first()
        if run is not None:
            apply_event(run, ev.FactsArrived, "portal", timezone.now())


def waiting_on(node: str) -> list[int]:
    return list(Run.objects.filter(node=node, status="waiting").values_list("pk", flat=True))


@WrittenOnce
def _moved_by(node: str) -> QuerySet[Run, Any]:
    left_on = OpenLoop.objects.filter(node=node, run__ended_at__isnull=False)
    return Run.objects.filter(node=node, status="waiting").values_list("pk").union(left_on.values_list("run"), all=True)


def concerns_us(node: str) -> bool:
    """Whether what this node says can move anything: a run that waits, or something an ended run left switched on."""
    return bool(_moved_by(node))


def advance_from_facts(node: str) -> None:
    """The node said something: look at every run that waits for it."""
    for run_id in waiting_on(node):
        tick(run_id)


# --- looking


@WrittenOnce
def looks_out(node: str, now: datetime) -> QuerySet[Order, Any]:
    out = Order.objects.filter(node=node, operation="look", run=None, status__in=("SEALED", "OFFERED"), expires_at__gt=now)
    return out.values_list("pk", "canonical")


def ledger_is_well() -> bool:
    """Whether what is done can be recorded. Looking goes on without; ask before a transaction, not in one."""
    try:
        ledger.refuse_if_broken()
    except ledger.LedgerDown as down:
        log.error("%s", down)
        return False
    return True


def look(user: User, node: str, sources: tuple[str, ...]) -> Order:
    """Have a node look again. While the same question is out, that order is returned. A broken ledger does not stop it."""
    now = timezone.now()
    roles, out, keys = together((rights.roles_with(OPERATE), (user.pk, node)), (looks_out, (node, now)), (sealing.live_keys, (node,)))
    if not rights.gives_right(roles, OPERATE, node):
        need(user, OPERATE, node)  # which says why not
    is_well = ledger_is_well()
    listed = ",".join(sorted(set(sources)))
    if not listed or len(sources) > LOOK_SOURCES_MAX:
        raise RunRefused("Say which sources the node should look at.")
    for pk, asked in out:
        if f'"sources":"{listed}"' in asked:
            return Order.objects.get(pk=pk)
    try:
        with transaction.atomic(), in_one_go():
            unhurried()  # the receipt, which waits for the disk, takes the question along
            order = sealing.look(sealing.key_in(keys), node, listed, user, now, keep=is_well)
            if is_well:
                ordered = {"order": order.id, "operation": "look", "digest": order.digest}
                ledger.record("order.sealed", ordered, user.username, node=node, known=[order.digest])
            ring(f"orders:{node}")
    except sealing.CannotSeal as error:
        raise RunRefused(str(error)) from None
    return order


def step_of(run: Run) -> Step:
    return RUNBOOKS[run.runbook].step(run.step)


def options(run: Run) -> tuple[Option, ...]:
    """What may be chosen at a DECIDE step, and what refuses each."""
    step = step_of(run)
    return step.options(facts_for(run), run.here.params) if isinstance(step, DecideStep) else ()


def verdicts_now(run: Run) -> tuple[Verdict, ...]:
    """What this step's guards would say at this moment. For showing; acting asks them again."""
    return ask(step_of(run).guards, facts_for(run), run.here.params)


def plan_changes(run: Run) -> tuple[tuple[str, str, str], ...]:
    """How the newest plan differs from the one before it, fact by fact: (what, before, now)."""
    newest, before = plan_and_the_one_before(run)
    if newest is None or before is None:
        return ()
    return tuple(change for change in plans.differences(before.body, newest.body) if change[0] != "round")


def plan_and_the_one_before(run: Run) -> tuple[Plan | None, Plan | None]:
    """The newest plan, and the one it took the place of: for the same operation, and not carried out."""
    newest, before = [*Plan.objects.filter(run=run).order_by("-round")[:2], None, None][:2]
    if newest is None or before is None or newest.body.get("operation") != before.body.get("operation"):
        return newest, None
    carried_out = Order.objects.filter(plan=before, status="SUCCEEDED").exists()
    return newest, None if carried_out else before


def approvals_for(user: User) -> tuple[list[Run], list[Run]]:
    """Runs that wait for an approver: those this person may judge, and those only another person may."""
    waiting = [run for run in _open_at(list(approve_steps())) if run.runbook in RUNBOOKS and step_of(run).kind == "APPROVE"]
    able = {node: may(user, APPROVE, node) for node in {run.node for run in waiting}}
    yours = [run for run in waiting if able[run.node] and user.username not in run.here.hands]
    return yours, [run for run in waiting if run not in yours]


@ModelsWrittenOnce
def _open_at(steps: RawSQL) -> QuerySet[Run]:
    return Run.objects.filter(among("runs_run.step", steps), status="open").select_related("requester", "owner")


@cache
def approve_steps() -> frozenset[str]:
    return frozenset(step.slug for runbook in RUNBOOKS.values() for step in runbook.steps if step.kind == "APPROVE")


def _lines(verdicts: tuple[Verdict, ...]) -> list[list[str]]:
    return [[v.guard, v.outcome, v.reason] for v in verdicts]
