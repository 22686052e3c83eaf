"""Runbooks begun at a node, a pool or a disk, by a person who finds it is time: offered where the facts make one fit."""

from collections.abc import Mapping
from typing import Any

from app.accounts.models import User
from app.runs import services
from app.runs.models import Run
from app.runs.rights import OPERATE, may
from workflows import offers
from workflows.facts import FleetFacts
from workflows.offers import Offer

SCOPE = ("node", "pool", "wwid")  # where it is offered: what a form may say, and all it may say


def offered(fleet: FleetFacts, scope: Mapping[str, str]) -> tuple[Offer, ...]:
    if scope.get("wwid"):
        return offers.of_disk(fleet, scope["wwid"])
    if scope.get("pool"):
        return offers.of_pool(fleet, scope.get("node", ""), scope["pool"])
    return offers.of_node(fleet, scope.get("node", ""))


def panel(fleet: FleetFacts, scope: Mapping[str, str], user: User) -> dict[str, Any]:
    found = offered(fleet, scope)
    under_way = list(Run.objects.filter(ended_at=None, runbook__in={one.runbook.slug for one in found})) if found else []
    able = {node: may(user, OPERATE, node) for node in {one.params["node"] for one in found}}
    lines = [
        {"offer": one, "fits": not one.against, "run": _about_the_same(one, under_way), "may_start": able[one.params["node"]]}
        for one in found
    ]
    lines.sort(key=lambda line: (line["run"] is None, not line["fits"]))
    return {"lines": lines, "scope": {name: scope.get(name, "") for name in SCOPE}}


def begin(user: User, key: str, scope: Mapping[str, str]) -> Run:
    """Begin what is offered there now under this key. Raises what `services.start_run` raises."""
    found = next((one for one in offered(services.facts_now(), scope) if one.key == key), None)
    if found is None:
        raise services.RunRefused("What this run would be about is not as it was when you opened the page. Open it again.")
    under_way = _about_the_same(found, list(Run.objects.filter(ended_at=None, runbook=found.runbook.slug)))
    return under_way or services.start_run(user, found.runbook.slug, dict(found.params), found.key)


def _about_the_same(offer: Offer, runs: list[Run]) -> Run | None:
    """An open run of this runbook on the same thing, whether a person or a situation began it."""
    same = (run for run in runs if run.runbook == offer.runbook.slug)
    return next((run for run in same if all(run.params.get(name) == value for name, value in offer.params.items())), None)
