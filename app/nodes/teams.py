"""Which team has which node: who acts there follows from it at once."""

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from app.accounts.asking import needs, user_of
from app.accounts.changing import changing, fresh
from app.accounts.models import Team, User
from app.accounts.rights import PEOPLE
from app.fleet.models import Node
from app.ledger import services as ledger
from app.realtime.publish import ring


def hand_over(by: User, node: str, team: Team | None) -> None:
    """Orders that are out are asked again with the new team before the node may start them."""
    with transaction.atomic():
        found = Node.objects.select_for_update(of=["self"]).select_related("team").get(name=node)
        before = found.team
        if before == team:
            return
        found.team = team
        found.save(update_fields=["team"])
        for topic in ("fleet", f"node:{node}"):
            ring(topic)
        ledger.record("node.handed-over", {"from": before.name if before else "", "to": team.name if team else ""}, by.username, node=node)


@needs(PEOPLE)
@require_safe
def teams(request: HttpRequest) -> HttpResponse:
    nodes = Node.objects.select_related("team").order_by("team__name", "name")
    return render(request, "nodes/teams.html", {"section": "account", "nodes": nodes, "teams": Team.objects.all()})


@needs(PEOPLE)
@require_POST
@fresh
@changing
def node_team(request: HttpRequest, name: str) -> HttpResponse:
    wanted = request.POST.get("team", "")
    get_object_or_404(Node, name=name)
    hand_over(user_of(request), name, get_object_or_404(Team, name=wanted) if wanted else None)
    return redirect("teams")
