"""What pages of other apps show of notices, so that those apps need not know notices."""

from typing import Any

from django import template
from django.utils import timezone

from app.fleet.severity import SEVERITY_TONES, SEVERITY_WORDS
from app.notices import alarms
from app.notices.models import OutsideAlert

register = template.Library()
SHOWN = 50


@register.inclusion_tag("notices/_outside.html")
def outside_alerts(node: str = "") -> dict[str, Any]:
    """What other watchers say of this node; without one, of the fleet."""
    found = OutsideAlert.objects.filter(resolved_at=None, **({"node__name": node} if node else {}))
    return {"alerts": found.select_related("node", "hook")[:SHOWN]}


@register.inclusion_tag("notices/_alarms.html")
def standing_alarms() -> dict[str, Any]:
    """What threatens what the whole portal says."""
    found = alarms.standing(timezone.now())
    shown = [(one, SEVERITY_TONES[one.severity], SEVERITY_WORDS[one.severity]) for one in found[:SHOWN]]
    return {"alarms": shown, "more": len(found) - len(shown)}
