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
from agents.portal.transport import LOOPBACK
from app.accounts import proof, rights
from app.accounts.asking import needs, user_of
from app.accounts.rights import ENROL
from app.core.pages import live, minute, render_page
from app.fleet.models import Node
from app.fleet.pages.overview import handed_out
from app.fleet.services import facts_of
from app.nodes import downloads, keys
from app.nodes.forms import AddNode, Revoke
from app.nodes.models import EnrolToken, NodeKey
from workflows.facts import known

CA = "ca.pem"  # where the page says to put a site's own authority: beside what is fetched


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """The token is in the answer to this POST and nowhere else, ever."""
    if not rights.may_somewhere(user_of(request), ENROL):
        raise PermissionDenied(rights.why_not(user_of(request), ENROL))
    form = AddNode(request.POST) if request.method == "POST" else AddNode(initial={"name": request.GET.get("name", "")})
    if request.method != "POST" or not form.is_valid():
        return _ask(request, form)
    name = form.cleaned_data["name"]
    if why := rights.why_not(user_of(request), ENROL, name):  # a new node belongs to no team yet
        raise PermissionDenied(why)
    if wrong := proof.lacks(request, form.cleaned_data["password"]):
        form.add_error("password", wrong)
        return _ask(request, form)
    token = keys.issue_token(name, user_of(request).get_username(), user_of(request))
    node = Node.objects.get(name=name)
    return render(request, "nodes/add.html", {"section": "fleet", "topics": f"node:{name}"} | _agent(node) | _line(request, name, token))


def _ask(request: HttpRequest, form: AddNode) -> HttpResponse:
    asks_password = not proof.is_fresh(proof.proved_at(request), timezone.now())
    context = {"section": "fleet", "form": form, "asks_password": asks_password}
    return render(request, "nodes/add.html", context, status=422 if form.is_bound else 200)


def _line(request: HttpRequest, name: str, token: str) -> dict[str, Any]:
    portal = request.build_absolute_uri("/").rstrip("/")
    parts = urlsplit(portal)
    enrol = f"--portal {portal} --node {name} --token={token}"
    return {
        "token": token,
        "lines": [way(portal, enrol) for way in WAYS],
        "private_lines": [way(portal, f"{enrol} --ca {CA}", CA) for way in WAYS],
        "minutes": keys.TOKEN_SECONDS // 60,
        "unsafe": parts.scheme != "https" and parts.hostname not in LOOPBACK,
        "portal": portal,
    }


def _one_file(portal: str, enrol: str, ca: str = "") -> str:
    return f"{_fetch(portal, zipapp.NAME, ca)} && sudo python3 {zipapp.NAME} install {enrol}"


def _package(portal: str, enrol: str, ca: str = "") -> str:
    return f"{_fetch(portal, deb.NAME, ca)} && sudo apt install ./{deb.NAME} && sudo slotlight-agent install {enrol}"


def _bare(portal: str, enrol: str, ca: str = "") -> str:
    """For root on a system without curl and sudo: the Python that the agent needs fetches it."""
    cafile = f'"{ca}"' if ca else "None"
    read = f'urllib.request.urlopen("{portal}/agent/{zipapp.NAME}", context=ssl.create_default_context(cafile={cafile})).read()'
    fetch = f"""python3 -c 'import ssl, urllib.request; open("{zipapp.NAME}", "wb").write({read})'"""
    return f"{fetch} && {_checked(zipapp.NAME)} && python3 {zipapp.NAME} install {enrol}"


WAYS = (_one_file, _package, _bare)


def _fetch(portal: str, file: str, ca: str) -> str:
    trust = f"--cacert {ca} " if ca else ""
    return f"curl {trust}-fsSO {portal}/agent/{file} && {_checked(file)}"


def _checked(file: str) -> str:
    return f'echo "{downloads.digest(file)}  {file}" | sha256sum -c'


def agent_stamp(request: HttpRequest, name: str) -> Any:
    rows = NodeKey.objects.filter(node__name=name).order_by("pk").values_list("pk", "revoked_at", "doubled_at", "held", "nonce_at")
    tokens = EnrolToken.objects.filter(node__name=name, used_at=None).values_list("pk")
    return list(rows), list(tokens), list(Node.objects.filter(name=name).values_list("mode", "version")), minute()


@login_required
@require_safe
@live(agent_stamp)
def agent(request: HttpRequest, name: str) -> HttpResponse:
    node = get_object_or_404(Node, name=name)
    context = {"section": "fleet", "topics": f"node:{name}", "form": Revoke(node=node)} | _agent(node)
    return render_page(request, "nodes/agent.html", context, partial="agent")


def _policy(node: Node) -> dict[str, Any]:
    """What the owner of the node lets the portal do there, as its agent reports it; the pools by name where this node has them."""
    facts = facts_of(node)
    if facts is None:
        return {"policy_unknown": "It has not reported yet."}
    if not known(facts.policy):
        return {"policy_unknown": facts.policy.reason}
    names = {str(pool.guid): pool.name for pool in facts.pools_read if known(pool.guid)}
    return {"policy": facts.policy, "policy_pools": [(guid, names.get(guid, "")) for guid in facts.policy.pools]}


def _agent(node: Node) -> dict[str, Any]:
    return {
        "node": node,
        **_policy(node),
        "handed_out": handed_out(),
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
    keys.revoke(node, user_of(request).get_username(), timezone.now())
    return redirect("node-agent", name)
