"""What pages of other apps show of runs, so that those apps need not know runs."""

from datetime import datetime
from typing import Any

from django import template
from django.template import Context
from django.utils import timezone

from app.fleet.models import Situation
from app.fleet.pages import rows
from app.runs import in_hand
from app.runs import open_loops as loops
from app.runs.models import Run
from app.runs.pages import manual_start, panels, run_page
from app.runs.pages import runs_of_disk as touched
from app.runs.rights import OPERATE, may
from workflows.facts import lookup
from workflows.runbooks import RUNBOOKS

register = template.Library()


@register.filter
def ago(moment: datetime) -> str:
    """How long ago, in the words all pages use for it."""
    return rows.ago((timezone.now() - moment).total_seconds())


@register.filter
def place(params: dict[str, str]) -> str:
    """Where the disk that goes sits: "bay 68", "PCIe port 0000:00:03.1", "place 0/2:5 of sas3ircu"; "" where the run names no place."""
    enclosure, slot = params.get("enclosure", ""), params.get("slot", "")
    if not slot or slot == lookup.NO_BAY:
        return ""
    return lookup.place_in_words(enclosure, slot) if lookup.is_a_light(enclosure) else f"bay {slot}"


@register.filter
def arrows(states: str) -> str:
    """The states of a runbook, as a page shows them: `->` would be broken at the end of a line."""
    return states.replace("->", "→")


@register.simple_tag(takes_context=True)
def head(context: Context) -> dict[str, Any]:
    """What must not be overlooked: a wrong pull, a use of break glass that is not reviewed, two machines with one key; and what waits for
    this reader's judgement. Asked once for all places of a page that show it."""
    here = context.get("run")
    return panels.head(context["request"].user, here.pk if isinstance(here, Run) else None)


@register.inclusion_tag("runs/_loops_badge.html")
def open_loops() -> dict[str, Any]:
    """How many things runs have switched on that are not switched off yet."""
    return {"count": loops.count()}


@register.inclusion_tag("runs/_answers.html", takes_context=True)
def answers(context: Context, situation: Situation) -> dict[str, Any]:
    """The runbooks that answer a situation, or the run that is open on it."""
    known = [a for a in situation.data["answers"] if a["runbook"] in RUNBOOKS]
    return {
        "request": context["request"],
        "csrf_token": context["csrf_token"],
        "situation": situation,
        "answers": [{**a, "title": RUNBOOKS[a["runbook"]].title, "purpose": RUNBOOKS[a["runbook"]].purpose} for a in known],
        "open_run": in_hand.on_situation(situation),
        "may_start": may(context["request"].user, OPERATE, situation.node),
    }


@register.inclusion_tag("runs/_offers.html", takes_context=True)
def offers(context: Context, node: str = "", pool: str = "", wwid: str = "") -> dict[str, Any]:
    """The runbooks that may be begun here."""
    shown = manual_start.panel(context["fleet_facts"], {"node": node, "pool": pool, "wwid": wwid}, context["request"].user)
    return {"csrf_token": context["csrf_token"], **shown}


@register.inclusion_tag("runs/_look.html", takes_context=True)
def look_panel(context: Context, node: str) -> dict[str, Any]:
    """Ask the node now."""
    user = context["request"].user
    return {"csrf_token": context["csrf_token"], "may_look": may(user, OPERATE, node), **run_page.for_node(node)}


@register.inclusion_tag("runs/_held.html")
def held_of_node(name: str) -> dict[str, Any]:
    """Who holds what on this node."""
    return {"held": panels.held_of_node(name)}


@register.inclusion_tag("runs/_held.html")
def held_of_pool(guid: str) -> dict[str, Any]:
    """Who holds this pool."""
    return {"held": panels.held_of_pool(guid)}


@register.inclusion_tag("runs/_held.html")
def held_of_disk(wwid: str) -> dict[str, Any]:
    """Who holds this disk, or the bay it sits in."""
    return {"held": panels.held_of_disk(wwid)}


@register.inclusion_tag("runs/_in_hand.html")
def in_hand_of_node(name: str) -> dict[str, Any]:
    """Which runs have something of this node in hand."""
    return {"in_hand": in_hand.of_node(name)}


@register.inclusion_tag("runs/_in_hand.html")
def in_hand_of_pool(guid: str) -> dict[str, Any]:
    """Which runs have a member of this pool in hand."""
    return {"in_hand": in_hand.of_pool(str(guid))}


@register.inclusion_tag("runs/_in_hand.html")
def in_hand_of_disk(wwid: str) -> dict[str, Any]:
    """Which runs have this disk, its bay or its member in hand."""
    return {"in_hand": in_hand.of_disk(wwid)}


@register.inclusion_tag("runs/_in_hand.html")
def in_hand_of_enclosure(enclosure: str) -> dict[str, Any]:
    """Which runs have a bay of this enclosure in hand."""
    return {"in_hand": in_hand.of_enclosure(enclosure)}


@register.inclusion_tag("runs/_touched.html")
def runs_of_disk(wwid: str) -> dict[str, Any]:
    """The runs that were about this disk."""
    return {"touched": touched.of_disk(wwid)}
