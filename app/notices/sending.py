"""Sending one message to one Apprise URL, and why it did not go.

A URL holds secrets, and so may what a library says of it. So nothing it says is passed on: its words are looked through for what
we know, and only our own sentence is kept.
"""

import re
import socket
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

import apprise
from django.conf import settings

from app.nodes import vault
from app.notices import pagers
from app.notices.models import Channel
from app.notices.pagers import revealed, seal

SECONDS_MAX = 30  # for one message, whatever the URL asks for
TYPES = {"act": apprise.NotifyType.FAILURE, "watch": apprise.NotifyType.WARNING, "info": apprise.NotifyType.INFO}
# Where the host of a URL is a site's own address, and no secret: it is shown, so that two channels can be distinguished.
HOSTED = frozenset(
    {
        "json",
        "jsons",
        "xml",
        "xmls",
        "form",
        "forms",
        "mailto",
        "mailtos",
        "ntfys",
        "gotify",
        "gotifys",
        "mmost",
        "mmosts",
        "matrix",
        "matrixs",
    }
)
# What reaches the portal's own machine, and no person.
LOCAL = frozenset({"dbus", "qt", "kde", "glib", "gnome", "windows", "macosx", "syslog", "file"})
WHYS: Mapping[str, str] = {
    r"timed? ?out": "It did not answer in time.",
    r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError": "Its TLS certificate is not one this portal trusts.",
    r"SSL|TLS": "No TLS connection came about.",
    r"Connection refused|Errno 111|ConnectionRefused": "Nothing listens there: the connection was refused.",
    r"NameResolution|Name or service not known|getaddrinfo|Temporary failure in name resolution": "Its host name is not known.",
    r"No route to host|Network is unreachable": "There is no way to it from here.",
    r"authentication|SMTPAuthentication|error=401|error=403": "It refused the sign-in in the URL.",
    r"error=404|error=410": "The address does not exist there (404).",
    r"error=429": "Too much was sent to it (429).",
    r"error=5\d\d": "It failed itself (5xx).",
    r"Remote end closed|Connection aborted|Connection reset|Connection unexpectedly closed|disconnected": "It hung up.",
    r"Connection ?Error|Socket Exception|HTTPConnectionPool|SMTP": "The connection broke down.",
}
CODE = re.compile(r"error=(\d{3})\b")


class BadURL(ValueError):
    """The text is no URL that can be sent to. The message says why, and not what it was."""


class Tried(NamedTuple):
    sent: bool
    reason: str  # what came back, in our words


def read(url: str) -> apprise.NotifyBase:
    """Raises BadURL."""
    scheme = url.strip().partition("://")[0].lower()
    if scheme in LOCAL:
        raise BadURL(f"{scheme}:// reaches the portal's own machine only.")
    found = apprise.Apprise.instantiate(url.strip(), suppress_exceptions=True)
    if found is None:
        raise BadURL("This is no Apprise URL. It begins like mailtos://, slack:// or jsons://; see the table of services of Apprise.")
    if not found.verify_certificate:
        raise BadURL("It switches off the check of the certificate (verify=no). Give the portal your CA with REQUESTS_CA_BUNDLE instead.")
    if not settings.LOCAL_CHANNELS and (where := _local(found)):
        raise BadURL(f"It leads to {where}, on the portal's own machine or link. SLOTLIGHT_LOCAL_CHANNELS=1 lets that be.")
    return found


def _local(target: apprise.NotifyBase) -> str:
    """The loopback or link-local address behind its host, or behind its mail server; "" when there is none. A name is looked up each time."""
    for host in {getattr(target, name, None) for name in ("host", "smtp_host")}:
        for address in _addresses(host) if isinstance(host, str) and host else ():
            real = getattr(address, "ipv4_mapped", None) or address
            if real.is_loopback or real.is_link_local or real.is_unspecified:
                return str(real)
    return ""


def _addresses(host: str) -> list[IPv4Address | IPv6Address]:
    """What the machine makes of it: an address is written in many ways. A name that is not known is reported when it is sent to."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        return []
    return [ip_address(str(address[0]).partition("%")[0]) for *_, address in found]


def shown(url: str) -> str:
    """What everybody may see of it."""
    found, scheme = read(url), url.strip().partition("://")[0].lower()
    service = str(found.service_name)
    host = found.host if scheme in HOSTED and isinstance(found.host, str) else ""
    port = f":{found.port}" if host and found.port else ""
    return f"{service} at {host}{port}" if host else service


class Letter(NamedTuple):
    title: str
    body: str
    severity: str
    state: str = ""  # "firing" or "resolved"; empty of what neither begins nor ends
    incident: str = ""


def send(channel: Channel, written: Letter) -> Tried:
    """At most SECONDS_MAX long. Never raises for what the other side does."""
    try:
        target = read(revealed(channel))
    except vault.KeyLost:
        return Tried(
            False, f"The URL of this channel was not sealed with {vault.key_path()}. Put the right key file back, or enter the URL again."
        )
    except BadURL as bad:
        return Tried(False, str(bad))
    pagers.adapt(target, channel, written.incident, written.state)
    letter = apprise.Apprise()
    letter.add(target)
    result = letter.notify(
        body=written.body,
        title=written.title,
        notify_type=apprise.NotifyType.SUCCESS if written.state == "resolved" else TYPES[written.severity],
        body_format=apprise.NotifyFormat.TEXT,
        timeout=SECONDS_MAX,
        log_level=apprise.logging.DEBUG,
    )
    return Tried(True, "It was taken.") if result else Tried(False, why(" ".join(str(entry.message) for entry in result.logs())))


def why(logged: str) -> str:
    """Our sentence for what a library logged. What we do not know stays unsaid."""
    found = next((sentence for pattern, sentence in WHYS.items() if re.search(pattern, logged, re.IGNORECASE)), "")
    code = CODE.search(logged)
    if found:
        return f"{found} It answered {code[1]}." if code and "(" not in found else found
    return f"It answered {code[1]}." if code else "It was not taken, and the service gave no reason. Try the URL with the apprise command."


__all__ = ["BadURL", "Tried", "read", "seal", "send", "shown", "why"]
