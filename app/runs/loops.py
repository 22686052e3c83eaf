"""What runs have switched on and nobody has switched off: who sees it, and how it is closed once its run has ended.

While a run is under way its own steps close what they opened. Afterwards it is closed by facts that are newer than the run's end,
or by a person who says by what that can be told; where the node shows that it is not over, a person's word does not count.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone

from app.accounts.models import User
from app.fleet.services import fleet_facts
from app.runs import services
from app.runs.models import OpenLoop, Run
from app.runs.rights import OPERATE, may
from workflows import events as ev
from workflows.core import Runbook
from workflows.facts import FleetFacts, known
from workflows.runbooks import RUNBOOKS


def listed(user: User) -> dict[str, Any]:
    """The page of open loops: what ended runs left first, the oldest first; it is nobody's any more."""
    found = list(OpenLoop.objects.select_related("run__requester"))
    left = [line(one) | {"may_act": may(user, OPERATE, one.node)} for one in found if one.run.ended_at]
    return {
        "section": "runs",
        "topics": "loops,fleet",
        "left": left,
        "under_way": [line(one) for one in found if not one.run.ended_at],
    }


def line(one: OpenLoop) -> dict[str, Any]:
    runbook = RUNBOOKS.get(one.run.runbook)
    return {"loop": one, "run": one.run, "title": runbook.title if runbook else one.run.runbook}


def count() -> int:
    return OpenLoop.objects.count()


def close(pk: int, version: int, user: User, evidence: str) -> None:
    """By a person's word. Raises what `services.act` raises."""
    one = OpenLoop.objects.filter(pk=pk).first()
    if one is None:
        raise services.RunMoved("This is closed already. Read the list again.")
    services.act(one.run_id, version, ev.LoopClosed, user, loop=one.loop, evidence=evidence)


def close_by_facts(node: str) -> None:
    """The node said something: is what ended runs left switched on there over by now?"""
    found = list(OpenLoop.objects.filter(node=node, run__ended_at__isnull=False).select_related("run"))
    if not found:
        return
    facts = fleet_facts()
    for one in found:
        runbook = RUNBOOKS.get(one.run.runbook)
        if runbook is not None and one.loop in runbook.loops and _heard_since(one, runbook, facts):
            _try(one, facts)


def _heard_since(one: OpenLoop, runbook: Runbook, facts: FleetFacts) -> bool:
    """Whether the node was asked what closing this rests on after the run had ended: what it said before proves nothing."""
    node = facts.nodes.get(one.node)
    if node is None or not known(node.ages):
        return False
    sources = {source for step in runbook.steps if one.loop in step.closes for source in step.sources}
    elapsed = (timezone.now() - one.run.ended_at).total_seconds()
    return node.age_seconds < elapsed and all(source in node.ages and node.ages[source] < elapsed for source in sources)


def _try(one: OpenLoop, facts: FleetFacts) -> None:
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=one.run_id)
        services.tell(run, ev.LoopClosed, f"node:{one.node}", timezone.now(), loop=one.loop, facts=facts)
