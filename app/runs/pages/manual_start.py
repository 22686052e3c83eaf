"""Runbooks begun at a node, a pool or a disk, by a person who finds it is time: offered where the facts make one fit."""

from collections.abc import Mapping
from typing import Any

from app.accounts.models import User
from app.fleet.services import facts_near
from app.runs import in_hand, services
from app.runs.models import Run
from app.runs.rights import OPERATE, may
from workflows.analysis import manual_start
from workflows.analysis.manual_start import Offer
from workflows.facts import FleetFacts

SCOPE = ("node", "pool", "wwid")  # where it is offered: what a form may say, and all it may say


def offered(fleet: FleetFacts, scope: Mapping[str, str]) -> tuple[Offer, ...]:
    if scope.get("wwid"):
        return manual_start.of_disk(fleet, scope["wwid"])
    if scope.get("pool"):
        return manual_start.of_pool(fleet, scope.get("node", ""), scope["pool"])
    return manual_start.of_node(fleet, scope.get("node", ""))


def panel(fleet: FleetFacts, scope: Mapping[str, str], user: User) -> dict[str, Any]:
    found = offered(fleet, scope)
    under_way = in_hand.open_runs() if found else []
    able = {node: may(user, OPERATE, node) for node in {one.params["node"] for one in found}}
    lines = [
        {
            "offer": one,
            "fits": not one.against or one.by_hand,
            "run": _about_the_same(one, under_way),
            "beside": in_hand.run_on(in_hand.wanted(one.runbook.slug, one.params), under_way),
            "may_start": able[one.params["node"]],
        }
        for one in found
    ]
    lines.sort(key=lambda line: (line["run"] is None, not line["fits"]))
    return {"lines": lines, "scope": {name: scope.get(name, "") for name in SCOPE}}


def begin(user: User, key: str, scope: Mapping[str, str]) -> Run:
    """Begin what is offered there now under this key. Raises what `services.start_run` raises."""
    found = next((one for one in offered(facts_near(scope.values()), scope) if one.key == key), None)
    if found is None:
        raise services.RunRefused("What this run would be about is not as it was when you opened the page. Open it again.")
    return _about_the_same(found, in_hand.open_runs()) or services.start_run(user, found.runbook.slug, dict(found.params), found.key)


def _about_the_same(offer: Offer, runs: list[Run]) -> Run | None:
    """An open run of this runbook on the same thing, whether a person or a situation began it."""
    same = (run for run in runs if run.runbook == offer.runbook.slug)
    return next((run for run in same if all(run.params.get(name) == value for name, value in offer.params.items())), None)
