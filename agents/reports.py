"""Tell the portal what a schedule knows: the full list of digests each time, texts only when it lacks them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from agents import VERSION, policy
from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.host import Host
from agents.identity import Identity, boot_id
from agents.receipts import listed
from agents.times import iso
from agents.transport import Portal

HEARTBEAT_SECONDS = 15.0
PARCEL_BYTES = 1024 * 1024
log = logging.getLogger("slotlight.agent")


class Reporter:
    """Sends what a schedule knows. Not shared between threads."""

    def __init__(self, host: Host, identity: Identity, portal: Portal, policy_path: str) -> None:
        self._host, self._identity, self._portal, self._policy_path = host, identity, portal, policy_path
        self._known: set[str] = set()  # digests the portal is known to have
        self._first = True
        self._last: tuple[str, ...] = ()

    def changed(self, captures: Sequence[Capture]) -> bool:
        return tuple(capture.digest for capture in captures) != self._last

    def send(self, captures: Sequence[Capture]) -> None:
        """Raises PortalDown."""
        # After a start the portal knows most of it already, so it is asked what it lacks.
        missing = self._post(captures, set() if self._first else {c.digest for c in captures} - self._known)
        before = len(captures) + 1
        while missing and len(missing) < before:
            before, missing = len(missing), self._post(captures, missing)
        if missing:
            log.error("the portal still misses %d texts after they were sent", len(missing))
        self._known = {capture.digest for capture in captures} - missing
        self._last = tuple(capture.digest for capture in captures)
        self._first = False

    def _post(self, captures: Sequence[Capture], wanted: set[str]) -> set[str]:
        """Send the list and the wanted texts; returns the digests whose texts the portal asks for."""
        report = {
            "v": "1",
            "node": self._identity.node,
            "boot_id": boot_id(self._host),
            "taken_at": iso(self._host.now()),
            "version": VERSION,
            "mode": policy.load(self._policy_path).mode,
            "captures": listed(captures),
            "bodies": parcel(captures, wanted),
        }
        reply = self._portal.ask("POST", "/agent/v1/reports", report)
        if reply.status != 200:
            log.error("the portal does not take the report: %s", reply.reason)
            return set()
        asked = reply.value.get("missing")
        return {digest for digest in asked if isinstance(digest, str)} if isinstance(asked, list) else set()


def parcel(captures: Sequence[Capture], wanted: set[str]) -> dict[str, Any]:
    """As many of the wanted texts as one report should carry; the portal then asks for the others. A node with 800 devices would
    otherwise hold all of its texts in memory several times over."""
    found: dict[str, Any] = {}
    size_bytes = 0
    for capture in captures:
        if capture.digest in wanted and capture.digest not in found and (not found or size_bytes + capture.size_bytes <= PARCEL_BYTES):
            found[capture.digest] = capture.body()
            size_bytes += capture.size_bytes
    return found


def everything(host: Host) -> tuple[Capture, ...]:
    """What every source says now."""
    return tuple(capture for module in COLLECTORS.values() for capture in module.collect(host))
