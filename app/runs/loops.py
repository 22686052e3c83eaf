"""What runs have switched on and nobody has switched off: who sees it, and how it is closed once its run has ended.

While a run is under way its own steps close what they opened. Afterwards it is closed by facts that are newer than the run's end,
or by a person who says by what that can be told; where the node shows that it is not over, a person's word does not count.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.utils import timezone

from app.accounts.models import User
from app.runs import services
from app.runs.models import OpenLoop, Run
from app.runs.rights import OPERATE, may
from workflows import events as ev
from workflows.core import Runbook
from workflows.facts import FleetFacts, known
from workflows.runbooks import RUNBOOKS

FILTERS = ("node", "of", "kind")


def listed(user: User, asked: Mapping[str, str]) -> dict[str, Any]:
    """The page of open loops: what ended runs left first, the oldest first; it is nobody's any more. `asked` narrows it."""
    every = [line(one) for one in OpenLoop.objects.select_related("run__requester", "run__owner")]
    chosen = {name: asked.get(name, "") for name in FILTERS}
    found = [one for one in every if all(one[name] == value for name, value in chosen.items() if value)]
    return {
        "section": "runs",
        "topics": "loops,fleet",
        "left": [one | {"may_act": may(user, OPERATE, one["node"])} for one in found if one["run"].ended_at],
        "under_way": [one for one in found if not one["run"].ended_at],
        "filters": [(name, chosen[name], sorted({one[name] for one in every} | ({chosen[name]} - {""}))) for name in FILTERS],
        "narrowed": any(chosen.values()),
        "here": f"?{urlencode({name: value for name, value in chosen.items() if value})}" if any(chosen.values()) else "",
        "hidden": len(every) - len(found),
    }


def line(one: OpenLoop) -> dict[str, Any]:
    """`of` sees to it: to the run while that is under way, and to what it left behind."""
    runbook, minder = RUNBOOKS.get(one.run.runbook), one.run.minder.get_username()
    return {
        "loop": one,
        "run": one.run,
        "title": runbook.title if runbook else one.run.runbook,
        "node": one.node,
        "of": minder,
        "kind": one.loop,
    }


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
    for one in found:
        runbook, facts = RUNBOOKS.get(one.run.runbook), services.facts_for(one.run)
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
