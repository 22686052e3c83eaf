"""What pages of other apps show of notices, so that those apps need not know notices."""

from django import template

from app.notices.models import OutsideAlert

register = template.Library()
SHOWN = 50


@register.inclusion_tag("notices/_outside.html")
def outside_alerts(node: str = "") -> dict:
    """What other watchers say of this node; without one, of the fleet."""
    found = OutsideAlert.objects.filter(resolved_at=None, **({"node__name": node} if node else {}))
    return {"alerts": found.select_related("node", "hook")[:SHOWN]}
