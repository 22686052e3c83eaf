"""What a look at a page about runs asks before anything is made: equal for as long as the page would say the same."""

from typing import Any

from django.db.models import Max, QuerySet
from django.http import HttpRequest

from app.core.compiled_queries import WrittenOnce
from app.core.pages import minute
from app.fleet.models import Node
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import BrokenGlass, OpenLoop, ResourceLock, Run
from app.runs.people import approval_requests, presence
from workflows.engine.state import ENDED
from workflows.runbooks import RUNBOOKS

RUNS_SHOWN = 200


def beside() -> Any:
    """What pages of other apps show of runs: which are open, on what, what they hold, and what they have left switched on."""
    return _open(), loops_open(), locks()


@WrittenOnce
def _open() -> QuerySet[Run, Any]:
    return Run.objects.filter(ended_at=None).order_by("pk").values_list("pk", "version")


@WrittenOnce
def loops_open() -> QuerySet[OpenLoop, Any]:
    return OpenLoop.objects.order_by("pk").values_list("pk")


def runs(request: HttpRequest) -> Any:
    return list(Run.objects.values_list("pk", "version", "status", "step", "owner", "handed_by")[:RUNS_SHOWN]), locks(), loops_open()


def run(request: HttpRequest, pk: int) -> Any:
    own = Run.objects.filter(pk=pk).values("version", "state", "runbook", "step", "status", "node", "owner", "handed_by").first()
    newest = LedgerEvent.objects.filter(run=str(pk)).aggregate(Max("run_seq"))
    glasses = list(BrokenGlass.objects.filter(run=pk).values_list("pk", "reviewed_at"))
    looking = presence.others(pk, request.user.get_username()) if own else ()
    if own is None:
        return None, newest, glasses, locks(), services.ledger_is_well(), None, None, looking
    is_asked = own["status"] in ("open", *ENDED) and own["runbook"] in RUNBOOKS
    facts = _what_is_asked_of_facts(own["node"]) if is_asked else _when_it_was_brought(own["node"])
    waits = own["status"] == "open" and own["step"] in services.approve_steps()
    notified = approval_requests.notified(pk, own["state"]["plan_digest"]) if waits else None
    return own, newest, glasses, locks(), services.ledger_is_well(), facts, notified, looking


def _what_is_asked_of_facts(node: str) -> Any:
    """What an open step offers and what its questions are answered with follow from what the node says; so does what is true at the end."""
    return list(Node.objects.filter(name=node).values_list("set_at"))


def _when_it_was_brought(node: str) -> Any:
    """A run that waits for an archive says of which moment the newest is."""
    return list(Node.objects.filter(name=node, state=Node.State.BROUGHT).values_list("last_report_at"))


def now(request: HttpRequest, pk: int) -> Any:
    return hands(pk), locks(), list(Node.objects.filter(name__in=Run.objects.filter(pk=pk).values("node")).values_list("set_at"))


def hands(pk: int) -> Any:
    """What the page at the rack shows of the run."""
    own = Run.objects.filter(pk=pk).values("version", "state", "step", "status").first()
    return own, services.ledger_is_well()


@WrittenOnce
def locks() -> QuerySet[ResourceLock, Any]:
    return ResourceLock.objects.order_by("pk").values_list("key", "fence", "run")


def loops(request: HttpRequest) -> Any:
    asked = sorted((name, value) for name, value in request.GET.items() if name != "seen")
    return list(OpenLoop.objects.order_by("pk").values_list("pk", "run__version", "run__ended_at", "run__owner")), asked, minute()


def approvals(request: HttpRequest) -> Any:
    waiting = Run.objects.filter(status="open", step__in=services.approve_steps()).order_by("pk").values_list("pk", "version")
    return list(waiting), list(BrokenGlass.objects.filter(reviewed_at=None).values_list("pk")), minute()
