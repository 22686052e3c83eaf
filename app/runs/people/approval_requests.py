"""While a plan waits for an approver: who may judge it, who was notified and when, and a reminder."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from app.accounts.models import User
from app.core import outbox
from app.core.outbox import Happening
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.realtime.publish import ring
from app.runs import services
from app.runs.models import Run
from app.runs.rights import APPROVE, OPERATE, holders, may
from workflows.engine.state import RunState

REMIND_SECONDS = 300
WANTED = "approval-wanted"


class Notified(NamedTuple):
    """One message about this plan: to which channel, what became of it, and when."""

    channel: str
    words: str
    at: datetime
    arrived: bool


def approvers(run: Run, state: RunState) -> list[str]:
    """Who could approve this plan now: the right on this node, no hand in the run, and no approval of it given yet."""
    given = {one.by for one in state.approvals if one.plan_digest == state.plan_digest}
    return [name for name in holders(APPROVE, run.node).values_list("username", flat=True) if name not in {*state.hands, *given}]


def notified(run_id: int, plan_digest: str) -> list[Notified]:
    """`notices` keeps it, which this app does not know."""
    return [Notified(*row) for row in import_string(settings.NOTIFIED_OF)(WANTED, run_id, f"{WANTED}:{run_id}:{plan_digest}")]


def around(run: Run, state: RunState, user: User) -> dict[str, Any]:
    return {
        "approvers": approvers(run, state),
        "notified": notified(run.pk, state.plan_digest),
        "may_remind": may(user, OPERATE, run.node),
        "remind_after": _remind_after(run, state),
    }


def _remind_after(run: Run, state: RunState) -> datetime | None:
    """Until when another reminder would only be noise; None when one may be sent."""
    last = _reminders(run.pk, state.plan_digest)[-1:]
    until = last[0] + timedelta(seconds=REMIND_SECONDS) if last else None
    return until if until and until > timezone.now() else None


def _reminders(run_id: int, plan_digest: str) -> list[datetime]:
    found = LedgerEvent.objects.filter(run=str(run_id), type="run.reminded").order_by("run_seq")
    return [datetime.fromisoformat(one.at) for one in found if one.parsed["body"]["plan_digest"] == plan_digest]


def remind(run_id: int, version: int, user: User) -> None:
    """Remind the approvers. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        services.need(user, OPERATE, run.node)
        state = run.here
        if run.version != version:
            raise services.RunMoved("This run has moved on since you loaded the page. Read its present state.")
        if state.status != "open" or services.step_of(run).kind != "APPROVE":
            raise services.RunRefused("The run waits for no approval now, so there is no one to remind.")
        if _remind_after(run, state):
            raise services.RunRefused(
                f"They were reminded less than {REMIND_SECONDS // 60} minutes ago. Call one of them, or send them the link."
            )
        number = len(_reminders(run_id, state.plan_digest)) + 1
        key = f"{WANTED}:{run_id}:{state.plan_digest}:{number}"
        outbox.put([Happening(WANTED, key, run.node, run_id, {"plan": state.plan_digest})])
        ring(f"run:{run_id}")
        ledger.record("run.reminded", {"plan_digest": state.plan_digest}, user.username, run=str(run_id), node=run.node)
