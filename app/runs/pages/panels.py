"""What pages show beside a run's steps: who stands behind its plan, what it holds, who is in its way, what waits for review."""

import difflib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT
from django.utils import timezone

from app.accounts.models import User
from app.core.compiled_queries import WrittenOnce
from app.core.pages import stamped
from app.fleet.models import Node, Sighting
from app.runs import services
from app.runs.models import Approval, BrokenGlass, Order, ResourceLock, Run
from app.runs.ordering import break_glass_review, locks, plan_approvals, unattended
from app.runs.pages import look_again
from app.runs.people import approval_requests, owners, takeover
from app.runs.rights import OPERATE, may
from workflows.analysis import import_wait
from workflows.by_hand.disk import ANY, NONE
from workflows.by_hand.grounds import IN_PLAN, Grounds
from workflows.engine.core import Step
from workflows.engine.state import RunState


def beside(run: Run, state: RunState, step: Step, user: User) -> dict[str, Any]:
    able = may(user, OPERATE, run.node)
    shown: dict[str, Any] = {
        "holds": [lock_line(lock) for lock in ResourceLock.objects.filter(run=run)],
        "broken": BrokenGlass.objects.filter(run=run).select_related("person", "reviewer"),
        "voided": voided(run, state),
        "by_itself": unattended.in_the_way(run),
    }
    if step.kind == "APPROVE" and state.status == "open" and able:
        shown["glass"] = may_break(user, state, run.node)
    if step.kind == "APPROVE" and state.status == "open":
        shown |= approval_requests.around(run, state, user)
    if step.kind == "EXECUTE" and state.status == "open":
        shown["behind"] = behind(state)
        shown["in_the_way"] = by_run(takeover.in_the_way(run))
    if state.status == "ordered" and able:
        order = Order.objects.filter(run=run, status__in=takeover.UNCLAIMED).exclude(effect="pure").first()
        shown["can_withdraw"] = order is not None
    if state.status in ("planning", "waiting"):
        shown["asked"] = look_again.of_run(run, timezone.now())
    if state.status == "waiting":
        shown["bring"] = look_again.to_bring(run)
    if state.status == "ordered" and state.order is not None:
        shown["order_since"] = datetime.fromtimestamp(state.order.at, UTC)  # when the portal learnt of its last move
    if state.status == "ordered" and step.operation.startswith("zpool_import"):
        shown["import_wait"] = import_wait.lines(services.facts_for(run), state.params)
    return shown


def ledger_down(run: Run) -> str:
    """What a reader of this run must know while the ledger cannot be written; "" while it can."""
    if run.ended_at is not None or services.ledger_is_well():
        return ""
    text = "The ledger cannot be written now, so nothing is changed and no order leaves. The run goes on by itself once it can be written again."
    order = Order.objects.filter(run=run, status__in=("CLAIMED", "STARTED")).exclude(effect="pure").first()
    if order is None:
        return text
    since = f" at {order.started_at:%H:%M:%S} UTC" if order.started_at else ""
    began = f"{run.node} started the command{since}" if order.status == "STARTED" else f"{run.node} has taken the order"
    return (
        f"{text} {began}, and how that ends cannot be recorded: even if the node falls silent, the order stays {order.status} here and is not "
        "called UNKNOWN before then. Look at the node itself. Its agent keeps the receipt and sends it again."
    )


SHOWN_APART = ("outgoing", "incoming", "redundancy", "params", "preconditions", IN_PLAN)  # each with a place of its own on the page
SHOWN_ELSEWHERE = ("operation", "round", "run", "given_up", "accept")  # of a plan: not to be read there, or shown with what is lost
KEPT = ("areas", "partition_table")  # of a disk that is wiped: for whoever asks later what was on it, and folded on the page
FIRST = ("serial", "wwid", "model")  # what a person compares with the disk; a plan that was stored has lost its order
OUTGOING = {
    "zpool_offline": "Goes out of service",
    "zpool_online": "Comes back into service",
    "zpool_detach": "Is detached",
    "zpool_detach_new_half": "Is taken out again",
    "zpool_remove": "Is removed",
}


def planned(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan says beside its command, whatever the operation."""
    apart = (*SHOWN_APART, "leaving") if plan.get("outgoing") else SHOWN_APART
    more = [(name.capitalize(), _lines(content)) for name, content in plan.items() if isinstance(content, dict) and name not in apart]
    sentences = [
        (name.replace("_", " ").capitalize(), sentence)
        for name, sentence in plan.items()
        if isinstance(sentence, str) and name not in SHOWN_ELSEWHERE
    ]
    return {
        "plan_words": {"out": OUTGOING.get(str(plan.get("operation")), "Goes out")},
        "plan_more": more,
        "plan_says": sentences,
        "plan_kept": kept(plan),
        "plan_hand": checked_by_hand(plan),
    }


def _lines(content: Mapping[str, Any]) -> list[tuple[str, Any]]:
    names = [*(name for name in FIRST if name in content), *(name for name in content if name not in (*FIRST, *KEPT))]
    return [("WWID" if name == "wwid" else name.replace("_", " ").capitalize(), content[name]) for name in names]


def kept(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the plan keeps of a disk that is wiped: (what, as it was read)."""
    leaving = plan.get("leaving") or {}
    labels = "\n".join(plan.get("labels") or ())
    found = [("Labels, as `zdb -l` printed them", labels), *((name.replace("_", " ").capitalize(), leaving.get(name, "")) for name in KEPT)]
    return [(name, text) for name, text in found if text]


def checked_by_hand(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the snippet of a plan by hand compares before it runs the command: (what, how it must be)."""
    found = Grounds.from_plan(plan)
    if found is None:
        return []
    lines = [("Host id", found.hostid), ("Boot", found.boot_id), ("The pool is imported", "yes" if found.imported else "no")]
    lines += [(f"Member {guid}", "is there" if state == ANY else f"is {state}") for guid, state in found.members]
    label = {NONE: "carries no label", ANY: "its label is not compared"}
    lines += [(disk.path, f"{disk.wwid}, {label.get(disk.label, f'carries the label of {disk.label}')}") for disk in found.disks]
    return lines


def may_break(user: User, state: RunState, node: str) -> dict[str, Any] | None:
    """Offered only where it is allowed at all; what else refuses it is shown in its place."""
    why = plan_approvals.why_no_glass(user, str((state.plan or {}).get("operation", "")), node)
    if why:
        return None
    before = plan_approvals.open_glass_of(user)
    return {"why_not": f"You broke the glass in run {before.run_id}, and that is not reviewed yet." if before else "", "before": before}


def behind(state: RunState) -> list[Approval]:
    return list(Approval.objects.filter(plan_id=state.plan_digest).select_related("approver").order_by("at"))


def voided(run: Run, state: RunState) -> list[Approval]:
    """Approvals of the plan before this one: they count no more."""
    newest, before = services.plan_and_the_one_before(run)
    if newest is None or before is None or newest.digest != state.plan_digest:
        return []
    return list(Approval.objects.filter(plan=before).select_related("approver"))


def changes(run: Run) -> list[tuple[str, str, str]]:
    """How the newest plan differs from the one before it. Of many lines, only those that the other has not."""
    return [(what, *_only_what_differs(before.splitlines(), now.splitlines())) for what, before, now in services.plan_changes(run)]


def _only_what_differs(before: list[str], now: list[str]) -> tuple[str, str]:
    if min(len(before), len(now)) < 2:
        return "\n".join(before), "\n".join(now)
    lines = list(difflib.ndiff(before, now))
    gone, come = ([line[2:] for line in lines if line.startswith(mark)] for mark in ("- ", "+ "))
    return "\n".join(gone), "\n".join(come)


def by_run(held: list[ResourceLock]) -> list[dict[str, Any]]:
    """The runs that hold something, each with all that it holds."""
    runs = {lock.run_id: lock.run for lock in held}
    lines = {pk: [lock_line(lock) for lock in held if lock.run_id == pk] for pk in sorted(runs)}
    return [{"run": runs[pk], "locks": locks, "since": min(lock["since"] for lock in locks)} for pk, locks in lines.items()]


def lock_line(lock: ResourceLock) -> dict[str, Any]:
    kind, _, what = lock.key.partition(":")
    return {"kind": kind, "what": what, "since": lock.taken_at, "fence": lock.fence, "run": lock.run}


def held() -> list[dict[str, Any]]:
    """Everything any run holds, by run."""
    return by_run(list(ResourceLock.objects.select_related("run__requester")))


def held_of_node(name: str) -> list[dict[str, Any]]:
    """What runs hold on this node, and of it as a whole."""
    of_it = Q(run__node=name) | Q(key__in=[f"{kind}:{name}" for kind in locks.OF_A_NODE])
    return _with(ResourceLock.objects.filter(of_it))


def held_of_pool(guid: str) -> list[dict[str, Any]]:
    return _with(ResourceLock.objects.filter(key=f"pool:{guid}"))


def held_of_disk(wwid: str) -> list[dict[str, Any]]:
    """The disk itself, and the bay it sits in."""
    bays = Sighting.objects.filter(disk__wwid=wwid, until__isnull=True).exclude(enclosure_id="").values_list("enclosure_id", "slot")
    keys = [f"disk:{wwid}", *(f"bay:{enclosure}/{slot}" for enclosure, slot in bays)]
    return _with(ResourceLock.objects.filter(key__in=keys))


def _with(found: QuerySet[ResourceLock]) -> list[dict[str, Any]]:
    """The runs that hold these, each with all that it holds."""
    return by_run(list(ResourceLock.objects.filter(run__in=found.values("run")).select_related("run__requester")))


def reviews(user: User) -> list[dict[str, Any]]:
    return [
        {"glass": one, "why_not": break_glass_review.why_not(one, user), "now": timezone.now() < one.expires_at}
        for one in break_glass_review.unreviewed()
    ]


def alarms() -> dict[str, Any]:
    """What every page says at its head until a person has settled it."""
    columns = ("pk", "node", "owner", "requester", "state__alarm")
    ringing = [run for row in _waiting() if (run := dict(zip(columns, row, strict=True)))["state__alarm"]]
    return {"alarm_glasses": break_glass_review.unreviewed(), "alarm_doubled": [name for (name,) in _doubled()], "alarm_runs": ringing}


@WrittenOnce
def _doubled() -> QuerySet[Node, Any]:
    return Node.objects.filter(keys__revoked_at__isnull=True, keys__doubled_at__isnull=False).values_list("name")


@WrittenOnce
def _waiting() -> QuerySet[Run, Any]:
    return Run.objects.filter(status="waiting").order_by("pk").values_list("pk", "node", "owner", "requester", KT("state__alarm"))


def head(user: User, own: int | None) -> dict[str, Any]:
    """The alarms as one reader sees them, the reader's own runs first, and how many plans wait for this reader. The page of run `own`
    says its alarm itself."""
    shown = alarms()
    rings = [run | {"yours": (run["owner"] or run["requester"]) == user.pk} for run in shown["alarm_runs"] if run["pk"] != own]
    to_judge = len(services.approvals_for(user)[0])
    handed = [run for run in owners.handed_to(user.pk) if run.pk != own]
    stamp = rings, [one.pk for one in shown["alarm_glasses"]], shown["alarm_doubled"], to_judge, [run.pk for run in handed]
    mine_first = sorted(rings, key=lambda run: not run["yours"])
    return shown | {"alarm_runs": mine_first, "handed": handed, "own": own, "count": to_judge, "seen": stamped(stamp)}
