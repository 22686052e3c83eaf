"""Who really asks, and how: behind a proxy that we trust, the address and the scheme that it names, and else what the connection itself is.

Nothing else that proxies say is read, neither `Forwarded` nor a host or port: a proxy passes the host on as it came. Uvicorn's own
reading of these headers is off: it accepts them from any client on this machine.
"""

import logging
from collections.abc import Iterable, MutableMapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

Network = IPv4Network | IPv6Network
Scope = MutableMapping[str, Any]
FORWARDED, SCHEME = b"x-forwarded-for", b"x-forwarded-proto"
NAMELESS = (
    "SLOTLIGHT_HTTPS=1 means that a proxy in front serves HTTPS, and SLOTLIGHT_TRUSTED_PROXIES names none, so the scheme of a request is not known."
    " Give the address from which the proxy reaches the portal, such as 127.0.0.1 for one on this machine."
)
LOGGED_MAX = 100
log = logging.getLogger(__name__)
_logged: set[str] = set()  # addresses whose header was not accepted and that were logged


def networks(text: str) -> tuple[Network, ...]:
    """Of addresses and networks, divided by commas. Raises ValueError."""
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())


def behind(scope: Scope, trusted: Iterable[Network]) -> None:
    """Let `scope` name the client and the scheme that it used."""
    peer = scope.get("client")
    schemes = _named(scope, SCHEME)
    if not peer or not _is_one_of(peer[0], trusted):
        if schemes:
            _log_once(peer[0] if peer else "a Unix socket")
        return
    if schemes:
        scope["scheme"] = "https" if all(scheme.lower() == "https" for scheme in schemes) else "http"
    _follow(scope, trusted)


def _follow(scope: Scope, trusted: Iterable[Network]) -> None:
    """Each proxy adds its client at the end, so the last one that is no proxy of ours is the client."""
    for address in reversed(_named(scope, FORWARDED)):
        if not _is_address(address):
            return  # a proxy that sends anything but addresses is used no further
        scope["client"] = (address, 0)
        if not _is_one_of(address, trusted):
            return


def _named(scope: Scope, header: bytes) -> list[str]:
    text = b",".join(value for name, value in scope["headers"] if name == header).decode("latin-1")
    return [part.strip() for part in text.split(",") if part.strip()]


def _log_once(peer: str) -> None:
    """Once for each address: where it is the site's own proxy, all that a browser shows is a redirect without an end."""
    if peer not in _logged and len(_logged) < LOGGED_MAX:
        _logged.add(peer)
        log.warning("X-Forwarded-Proto from %s is not accepted. If that is your proxy, name it in SLOTLIGHT_TRUSTED_PROXIES.", peer)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_one_of(address: str, trusted: Iterable[Network]) -> bool:
    return _is_address(address) and any(ip_address(address) in network for network in trusted)
