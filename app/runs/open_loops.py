"""What runs have switched on that is not switched off yet: who sees it, and how it is closed once its run has ended.

While a run is under way its own steps close what they opened. Afterwards it is closed by facts that are newer than the run's end,
or by a person who states what shows it; where the node shows that it is not over, a person's statement does not count.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from app.accounts.models import User
from app.runs import services
from app.runs.models import OpenLoop, Run
from app.runs.rights import OPERATE, may
from workflows.engine import events as ev
from workflows.engine.core import Runbook, WaitStep
from workflows.facts import FleetFacts, known
from workflows.guards.bay import place_of
from workflows.runbooks import RUNBOOKS

FILTERS = ("node", "of", "kind")
KINDS = {  # of the loops that runbooks open, in the words of the filter
    "offline": "a member out of service",
    "filling": "a disk filled beside another",
    "resting": "a member out of service for a mode",
    "lit": "a bay's light",
    "raised": "a tunable",
    "imported": "a pool imported read-only",
    "unstarted": "a pool imported and not started",
    "away": "a pool exported to be imported again",
    "young": "a pool that writes past what it left",
    "deleted": "a deleted device",
    "copied": "a disk with a copied partition table",
    "scrubbing": "a scrub that runs",
    "returning": "a dead head that must not import its pool",
}


def listed(user: User, asked: Mapping[str, str]) -> dict[str, Any]:
    """The page of open loops: what ended runs left first, the oldest first; it has no owner any more. `asked` narrows it."""
    every = [line(one) for one in OpenLoop.objects.select_related("run__requester", "run__owner")]
    chosen = {name: asked.get(name, "") for name in FILTERS}
    found = [one for one in every if all(one[name] == value for name, value in chosen.items() if value)]
    return {
        "section": "runs",
        "topics": "loops,fleet",
        "left": [one | {"may_act": may(user, OPERATE, one["node"])} for one in found if one["run"].ended_at],
        "under_way": [one for one in found if not one["run"].ended_at],
        "filters": [(name, chosen[name], _values(name, chosen[name], every)) for name in FILTERS],
        "narrowed": any(chosen.values()),
        "here": f"?{urlencode({name: value for name, value in chosen.items() if value})}" if any(chosen.values()) else "",
        "hidden": len(every) - len(found),
    }


def _values(name: str, chosen: str, every: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """What a list can be narrowed to: (value, words)."""
    values = {one[name] for one in every} | ({chosen} - {""})
    return sorted(((value, KINDS.get(value, value) if name == "kind" else value) for value in values), key=lambda pair: pair[1])


def line(one: OpenLoop) -> dict[str, Any]:
    """`of` is the person who is responsible for the run while it is under way, and then for what it left behind."""
    runbook, minder = RUNBOOKS.get(one.run.runbook), one.run.minder.get_username()
    return {
        "loop": one,
        "run": one.run,
        "title": runbook.title if runbook else one.run.runbook,
        "node": one.node,
        "of": minder,
        "kind": one.loop,
        "things": list(_things(one)),
        "back_by": _back_by(one, runbook),
    }


def _things(one: OpenLoop) -> Iterator[tuple[str, str]]:
    """(words, address) of what it is about."""
    params = one.run.here.params
    if params.get("pool"):
        yield f"pool {params['pool']}", reverse("pool", args=[one.node, params["pool"]])
    if place := place_of(params):
        yield f"bay {place[1]}", reverse("enclosure", args=[one.node, place[0]])
    wwid = params.get("old_wwid") or params.get("wwid")
    if wwid:
        yield f"disk {params.get('old_serial') or wwid}", reverse("disk", args=[wwid])


def _back_by(one: OpenLoop, runbook: Runbook | None) -> datetime | None:
    """When the run that is under way puts it back by itself at the latest; None where that takes a person."""
    if runbook is None or one.run.ended_at or one.run.here.ending or not runbook.undo or one.loop not in runbook.loops:
        return None
    opener = next(i for i, step in enumerate(runbook.steps) if step.opens and step.opens.slug == one.loop)
    steps = runbook.steps[opener + 1 : runbook.place(runbook.undo)]
    waits = [step for step in steps if isinstance(step, WaitStep) and step.lasts]
    by_itself = all(step in waits or step.kind == "VERIFY" for step in steps)
    back = all(step.unattended or step.kind == "VERIFY" for step in runbook.steps[runbook.place(runbook.undo) :])
    if not (waits and by_itself and back):
        return None
    return one.at + timedelta(seconds=sum(step.lasts(one.run.here.params) for step in waits if step.lasts))


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
        if runbook is not None and one.loop in runbook.loops and _reported_since(one, runbook, facts):
            _try(one, facts)


def _reported_since(one: OpenLoop, runbook: Runbook, facts: FleetFacts) -> bool:
    """Whether the node was asked what closing this rests on after the run had ended: what it said before proves nothing."""
    node = facts.nodes.get(one.node)
    if node is None or not known(node.ages) or one.run.ended_at is None:
        return False
    sources = {source for step in runbook.steps if one.loop in step.closes for source in step.sources}
    elapsed = (timezone.now() - one.run.ended_at).total_seconds()
    return node.age_seconds < elapsed and all(source in node.ages and node.ages[source] < elapsed for source in sources)


def _try(one: OpenLoop, facts: FleetFacts) -> None:
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=one.run_id)
        services.apply_event(run, ev.LoopClosed, f"node:{one.node}", timezone.now(), loop=one.loop, facts=facts)
