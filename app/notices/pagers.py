"""What services make of a message that begins or ends something: services that keep incidents, webhooks that programs read, and mail.

Apprise sends one message after another and keeps nothing between them, so what belongs together is set on its plugins here: their key is the
one of the notice, whatever the URL says, because a key for all notices would end one trouble with the end of another.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import apprise
import requests
from apprise.plugins.jira import JIRA_API_LOOKUP
from apprise.plugins.opsgenie import OPSGENIE_API_LOOKUP

from app.nodes import vault
from app.notices.models import Channel

DOMAIN = "slotlight.invalid"  # of the id that mails of one thread refer to; no mail has it


class Service(NamedTuple):
    keeps_incidents: bool = False  # or is read by a program: an end is sent by itself, at once
    only_opens: bool = False  # each message opens an incident, and none ends one


class Way(NamedTuple):
    """How a plugin is set: which of its attributes, to which words."""

    key: str
    firing: str
    resolved: str


WAYS: Mapping[str, Way] = {
    **dict.fromkeys(("pagerduty", "firehydrant", "ilert", "incidentio", "squadcast"), Way("dedup", "trigger", "resolve")),
    "goalert": Way("dedup", "trigger", "close"),
    "signl4": Way("external_id", "trigger", "resolve"),
    "pagertree": Way("thirdparty", "create", "resolve"),
    "splunk": Way("entity_id", "map", "recovery"),
    "opsgenie": Way("alias", "new", "close"),
    "jira": Way("alias", "new", "close"),
}
# Apprise ends an alert of these only within the process that opened it, and says "sent" where it has nothing to end.
BY_ALIAS = {"opsgenie": OPSGENIE_API_LOOKUP, "jira": JIRA_API_LOOKUP}
WEBHOOKS = frozenset({"custom_json", "custom_xml", "custom_form"})
ONLY_OPEN = frozenset({"betterstack", "spike", "xmatters", "lfgalarm"})
MAILS = frozenset({"mailgun", "sparkpost", "smtp2go"})  # beside those of SMTP: they take headers


def seal(url: str, mark: str) -> bytes:
    return vault.seal(url.strip().encode(), f"channel:{mark}")


def revealed(channel: Channel) -> str:
    """Its URL. Raises vault.KeyLost."""
    return vault.reveal(bytes(channel.url), f"channel:{channel.mark}").decode()


def of(channel: Channel) -> Service:
    """What is behind a channel. Where its URL cannot be read nothing arrives anyway."""
    try:
        target = apprise.Apprise.instantiate(revealed(channel), suppress_exceptions=True)
    except vault.KeyLost:
        return Service()
    name = _plugin(target) if target is not None else ""
    return Service(name in WAYS or name in WEBHOOKS, name in ONLY_OPEN)


def _plugin(target: apprise.NotifyBase) -> str:
    """By its module: a service may be written in several ways in a URL."""
    return type(target).__module__.removeprefix("apprise.plugins.").partition(".")[0]


def adapt(target: Any, channel: Channel, incident: str, state: str) -> None:
    """Let the plugin say which incident this is and how it stands. Each has attributes of its own for that."""
    name, key = _plugin(target), _short(channel, incident)
    if name in WAYS:
        target.overflow_mode = apprise.OverflowMode.TRUNCATE  # in pieces it would be several incidents
    if name in WEBHOOKS:
        target.payload_extras.update({"state": state, "key": incident})
    if not incident:
        return
    if name in WAYS:
        way = WAYS[name]
        setattr(target, way.key, key)
        target.action = way.resolved if state == "resolved" else way.firing
        if name == "signl4":
            target.status = None  # of the URL; it would be said whatever is so
        if name in BY_ALIAS and state == "resolved":
            target.send = _closing(target, f"{BY_ALIAS[name][target.region_name]}/{quote(key)}/close")
    elif name == "email" or name in MAILS:
        target.headers |= {"In-Reply-To": f"<{key}@{DOMAIN}>", "References": f"<{key}@{DOMAIN}>"}


def _short(channel: Channel, incident: str) -> str:
    """Services take keys of some length only, and two portals or channels may lead to one account."""
    return f"slotlight-{hashlib.sha256(f'{channel.mark} {incident}'.encode()).hexdigest()[:40]}"


def _closing(target: Any, url: str) -> Callable[..., bool]:
    def send(body: str, **_: Any) -> bool:
        closed: bool = target._fetch(requests.post, url, {"source": "Slotlight", "note": body}, {"identifierType": "alias"})[0]
        return closed

    return send
