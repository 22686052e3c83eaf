from django.urls import path

from app.nodes import downloads, pages, teams

urlpatterns = [
    path("add-node/", pages.add, name="add-node"),
    path("nodes/<str:name>/agent/", pages.agent, name="node-agent"),
    path("nodes/<str:name>/agent/revoke/", pages.revoke, name="node-agent-revoke"),
    path("nodes/<str:name>/team/", teams.node_team, name="node-team"),
    path("people/teams/", teams.teams, name="teams"),
    path("agent/<str:name>", downloads.download, name="agent-download"),
]
