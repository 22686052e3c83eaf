"""What pages of other apps show of runs, so that those apps need not know runs."""

from django import template

from app.fleet.models import Situation
from app.runs import loops, pages, panels, services
from app.runs.models import Run
from app.runs.rights import OPERATE, may
from workflows.runbooks import RUNBOOKS

register = template.Library()


@register.inclusion_tag("runs/_approvals_badge.html", takes_context=True)
def approvals_badge(context) -> dict:
    """How many plans this reader may judge now."""
    yours, _ = services.approvals_for(context["request"].user)
    return {"count": len(yours)}


@register.inclusion_tag("runs/_loops_badge.html")
def open_loops() -> dict:
    """How many things runs have switched on and nobody has switched off."""
    return {"count": loops.count()}


@register.inclusion_tag("runs/_alarms.html", takes_context=True)
def alarms(context) -> dict:
    """What nobody may overlook: a wrong pull, a broken glass that nobody has reviewed, two machines with one key."""
    shown, here = panels.alarms(), context.get("run")
    own = here.pk if isinstance(here, Run) else None  # its own page says it at its own head
    return shown | {"alarm_runs": [run for run in shown["alarm_runs"] if run["pk"] != own]}


@register.inclusion_tag("runs/_answers.html", takes_context=True)
def answers(context, situation: Situation) -> dict:
    """The runbooks that answer a situation, or the run that is open on it."""
    known = [a for a in situation.data["answers"] if a["runbook"] in RUNBOOKS]
    return {
        "request": context["request"],
        "csrf_token": context["csrf_token"],
        "situation": situation,
        "answers": [{**a, "title": RUNBOOKS[a["runbook"]].title, "purpose": RUNBOOKS[a["runbook"]].purpose} for a in known],
        "open_run": Run.objects.filter(situation_key=situation.key, ended_at__isnull=True).first(),
        "may_start": may(context["request"].user, OPERATE),
    }


@register.inclusion_tag("runs/_look.html", takes_context=True)
def look_panel(context, node: str) -> dict:
    """Ask the node now."""
    user = context["request"].user
    return {"csrf_token": context["csrf_token"], "may_look": may(user, OPERATE), **pages.for_node(node)}


@register.inclusion_tag("runs/_held.html")
def held_of_node(name: str) -> dict:
    """Who holds what on this node."""
    return {"held": panels.held_of_node(name)}


@register.inclusion_tag("runs/_held.html")
def held_of_pool(guid: str) -> dict:
    """Who holds this pool."""
    return {"held": panels.held_of_pool(guid)}


@register.inclusion_tag("runs/_held.html")
def held_of_disk(wwid: str) -> dict:
    """Who holds this disk, or the bay it sits in."""
    return {"held": panels.held_of_disk(wwid)}
