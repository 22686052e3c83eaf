"""What a person may do to orders and locks of a run that stands in the way: withdraw an order, take over what it holds.

Neither touches a command that may have run: what was started is settled first, by the node or by two people.
"""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from app.accounts.models import User
from app.ledger import services as ledger
from app.realtime.publish import ring
from app.runs import services
from app.runs.models import Order, ResourceLock, Run
from app.runs.ordering import locks, orders
from app.runs.rights import OPERATE
from workflows.runbooks import RUNBOOKS

NOT_STARTED = ("SEALED", "OFFERED", "CLAIMED")
UNCLAIMED = ("SEALED", "OFFERED")


def withdraw(run_id: int, version: int, user: User, reason: str) -> None:
    """Take back an order that the node has not claimed. Its plan is used up. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    text = _reason(reason)
    with transaction.atomic():
        run = _at(run_id, version, user)
        order = _out(run)
        if order is None or order.status not in UNCLAIMED:
            stands = f"The order is {order.status}" if order else "No order is out"
            raise services.RunRefused(f"{stands}; only one that the node has not claimed can be withdrawn.")
        now = timezone.now()
        orders.end_unstarted(order, f"{user.username} withdrew it: {text}", user.username, now)
        body = {"order": order.pk, "digest": order.digest, "reason": text}
        ledger.record("order.withdrawn", body, user.username, run=str(run.pk), node=run.node)


def needs(run: Run) -> tuple[str, ...]:
    """What this run would hold if its order were sealed now; empty when that is not known."""
    runbook = RUNBOOKS.get(run.runbook)
    if runbook is None or runbook.locks is None:
        return ()
    return tuple(sorted(runbook.locks(services.facts_for(run), run.here.params)))


def in_the_way(run: Run) -> list[ResourceLock]:
    """What other runs hold of what this run needs next."""
    return list(locks.holders(run, needs(run)))


def take_over(run_id: int, version: int, holder_id: int, user: User, reason: str, proved_at: datetime | None) -> None:
    """Move what `holder_id` holds to this run, under a higher fence. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    text = _reason(reason)
    with transaction.atomic():
        locked = {run.pk: run for run in Run.objects.select_for_update().filter(pk__in=(run_id, holder_id)).order_by("pk")}
        for concerned in locked.values():  # also of the one that something is taken from
            services.need(user, OPERATE, concerned.node)
        run, holder = locked.get(run_id), locked.get(holder_id)
        if run is None or holder is None or run == holder or run.version != version:
            raise services.RunMoved("This run has moved on since you loaded the page. Read its present state.")
        services.need_proof(proved_at, timezone.now())
        if run.status != "open" or services.step_of(run).kind != "EXECUTE":
            raise services.RunRefused("This run does not stand before its order, so it has nothing to take over yet.")
        keys = tuple(sorted({lock.key for lock in in_the_way(run) if lock.run_id == holder.pk}))
        if not keys:
            raise services.RunRefused(f"Run {holder.pk} does not hold anything this run needs any more. Read the step again.")
        locks.alone()
        _stop_orders_of(holder, run, user, timezone.now())
        fence = _move(holder, run, keys)
        body = {"from": holder.pk, "to": run.pk, "keys": list(keys), "fence": fence, "reason": text}
        for concerned in (holder, run):
            ledger.record("locks.taken-over", body, user.username, run=str(concerned.pk), node=concerned.node)
            ring(f"run:{concerned.pk}")


def _stop_orders_of(holder: Run, run: Run, user: User, now: datetime) -> None:
    if holder.here.is_by_hand:
        raise services.RunRefused(
            f"The command of run {holder.pk} is given by hand: it may be running, or be run yet. Its end must be known first; open that run."
        )
    order = _out(holder)
    if order is None:
        return
    if order.status not in NOT_STARTED:
        raise services.RunRefused(
            f"The order of run {holder.pk} is {order.status}: its command may be running. Its end must be known first; open that run and settle it."
        )
    orders.end_unstarted(order, f"{user.username} took over for run {run.pk}.", user.username, now)


def _move(holder: Run, run: Run, keys: tuple[str, ...]) -> int:
    fence = locks.next_fence()
    locks.give_back(holder)
    ResourceLock.objects.bulk_create(ResourceLock(key=key, run=run, fence=fence, taken_at=timezone.now()) for key in keys)
    return fence


def _at(run_id: int, version: int, user: User) -> Run:
    run = Run.objects.select_for_update().get(pk=run_id)
    services.need(user, OPERATE, run.node)
    if run.version != version:
        raise services.RunMoved("This run has moved on since you loaded the page. Read its present state.")
    return run


def _out(run: Run) -> Order | None:
    """The run's order that has not ended, behind the run's row."""
    order = (
        Order.objects.select_for_update()
        .filter(run=run, status__in=("SEALED", "OFFERED", "CLAIMED", "STARTED", "UNKNOWN"))
        .exclude(effect="pure")
        .first()
    )
    if order is not None:
        order.run = run
    return order


def _reason(text: str) -> str:
    if not text.strip():
        raise services.RunRefused("Say why; whoever reads the ledger will ask.")
    return text.strip()
