"""Letting a node in, and shutting it out, as pages."""

from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents.packaging import deb, zipapp
from agents.transport import LOOPBACK
from app.accounts import rights
from app.accounts.asking import needs
from app.accounts.rights import ENROL
from app.fleet.models import Node
from app.htmx import live, minute, render_page
from app.nodes import downloads, keys
from app.nodes.forms import AddNode, Revoke
from app.nodes.models import EnrolToken, NodeKey


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """The token is in the answer to this POST and nowhere else, ever."""
    if not rights.may_somewhere(request.user, ENROL):
        raise PermissionDenied(rights.why_not(request.user, ENROL))
    form = AddNode(request.POST) if request.method == "POST" else AddNode(initial={"name": request.GET.get("name", "")})
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "nodes/add.html", {"section": "fleet", "form": form}, status=status)
    name = form.cleaned_data["name"]
    if why := rights.why_not(request.user, ENROL, name):  # a new node belongs to no team yet
        raise PermissionDenied(why)
    token = keys.issue_token(name, request.user.get_username(), request.user)
    node = Node.objects.get(name=name)
    return render(request, "nodes/add.html", {"section": "fleet", "topics": f"node:{name}"} | _agent(node) | _line(request, name, token))


def _line(request: HttpRequest, name: str, token: str) -> dict:
    portal = request.build_absolute_uri("/").rstrip("/")
    parts = urlsplit(portal)
    file, digest = zipapp.NAME, downloads.digest(zipapp.NAME)
    enrol = f"--portal {portal} --node {name} --token={token}"
    fetch = f'curl -fsSO {portal}/agent/{file} && echo "{digest}  {file}" | sha256sum -c'
    package = f'curl -fsSO {portal}/agent/{deb.NAME} && echo "{downloads.digest(deb.NAME)}  {deb.NAME}" | sha256sum -c'
    return {
        "token": token,
        "line": f"{fetch} && sudo python3 {file} install {enrol}",
        "package_line": f"{package} && sudo apt install ./{deb.NAME} && sudo slotlight-agent enrol {enrol} && "
        "sudo systemctl restart slotlight-agent",
        "minutes": keys.TOKEN_SECONDS // 60,
        "unsafe": parts.scheme != "https" and parts.hostname not in LOOPBACK,
        "portal": portal,
    }


def agent_stamp(request: HttpRequest, name: str) -> Any:
    said = NodeKey.objects.filter(node__name=name).order_by("pk").values_list("pk", "revoked_at", "doubled_at", "held", "nonce_at")
    tokens = EnrolToken.objects.filter(node__name=name, used_at=None).values_list("pk")
    return list(said), list(tokens), list(Node.objects.filter(name=name).values_list("mode", "version")), minute()


@login_required
@require_safe
@live(agent_stamp)
def agent(request: HttpRequest, name: str) -> HttpResponse:
    node = get_object_or_404(Node, name=name)
    context = {"section": "fleet", "topics": f"node:{name}", "form": Revoke(node=node)} | _agent(node)
    return render_page(request, "nodes/agent.html", context, partial="agent")


def _agent(node: Node) -> dict:
    return {
        "node": node,
        "key": node.keys.filter(revoked_at__isnull=True).first(),
        "old_keys": node.keys.filter(revoked_at__isnull=False).order_by("-revoked_at")[:20],
        "open_tokens": node.tokens.filter(used_at__isnull=True, expires_at__gt=timezone.now()).count(),
    }


@needs(ENROL, of="name")
@require_POST
def revoke(request: HttpRequest, name: str) -> HttpResponse:
    node = get_object_or_404(Node, name=name)
    form = Revoke(request.POST, node=node)
    if not form.is_valid():
        context = {"section": "fleet", "topics": f"node:{name}", "form": form} | _agent(node)
        return render_page(request, "nodes/agent.html", context, partial="agent", status=422)
    keys.revoke(node, request.user.get_username(), timezone.now())
    return redirect("node-agent", name)
