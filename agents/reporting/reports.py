"""Report to the portal what a schedule holds: that nothing changed, or what did; texts only when the portal lacks them."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents import VERSION
from agents.domain.times import iso
from agents.host.host import Host
from agents.orders import policy
from agents.orders.receipts import listed
from agents.orders.write_permission import Standing
from agents.portal.transport import Portal, Reply
from agents.reporting.capture_set import place, set_digest, spoken
from agents.reporting.schedule import Schedule
from agents.reporting.stored_capture import Kept
from agents.trust.identity import Identity, boot_id

EVERYTHING_SECONDS_MAX = 300.0
HEARTBEAT_SECONDS = 15.0
PARCEL_BYTES = 1024 * 1024
log = logging.getLogger("slotlight.agent")


@dataclass(frozen=True)
class ReportedSet:
    """One set of captures on its way to the portal."""

    captures: tuple[Kept, ...]
    places: dict[str, str]  # "zdb_label/sda1" -> digest
    about: dict[str, str]  # boot id, version and mode of this agent
    times: dict[str, Any]  # when it was put together, and how long before that each source was asked
    digest: str


class Me:
    """What an agent says of itself in a report, and hears of itself in the answer. Without a standing it has only its policy."""

    def __init__(self, policy_path: str, standing: Standing | None = None) -> None:
        self._policy_path, self._standing = policy_path, standing

    @property
    def mode(self) -> str:
        return self._standing.rule().mode if self._standing else policy.load(self._policy_path).mode

    @property
    def policy(self) -> str:
        """What the portal's requests would be refused for, before it asks."""
        return (self._standing.rule() if self._standing else policy.load(self._policy_path)).as_text()

    def fields(self) -> dict[str, str]:
        return self._standing.fields() if self._standing else {}

    def take_reply(self, reply: Reply) -> None:
        if self._standing:
            self._standing.take_reply(reply)


class Reporter:
    """Sends the captures of a schedule. Not shared between threads."""

    def __init__(self, host: Host, identity: Identity, portal: Portal, policy_path: str, standing: Standing | None = None) -> None:
        self._host, self._identity, self._portal = host, identity, portal
        self._me = Me(policy_path, standing)
        self._taken: ReportedSet | None = None  # what the portal is known to stand by
        self._last: tuple[str, ...] = ()

    def changed(self, captures: Sequence[Kept]) -> bool:
        return tuple(capture.digest for capture in captures) != self._last

    def send(self, captures: Sequence[Kept], ages: Mapping[str, float]) -> None:
        """Send the portal the shortest report that it understands. Raises PortalDown."""
        current, before = self._reported_set(captures, ages), self._taken
        self._taken = None
        self._taken = replace(current, captures=()) if self._send_until_complete(current, before) else None
        self._last = tuple(capture.digest for capture in captures)

    def _send_until_complete(self, current: ReportedSet, before: ReportedSet | None) -> bool:
        """Whether the portal stands by this set now. After a start it may well do so already, and is first asked."""
        full, wanted = False, set() if before is None else set(current.places.values()) - set(before.places.values())
        lacked = len(current.places) + 1  # texts; each round must leave fewer, or it would go on for ever
        while True:
            reply = self._portal.ask("POST", "/agent/v1/reports", {**self._report(current, before, wanted, full), **self._me.fields()})
            self._me.take_reply(reply)
            missing, in_full = missing_of(reply), reply.value.get("need") == "full"
            if reply.status != 200:
                log.error("the portal does not take the report: %s", reply.reason)
                return False
            if not missing and not in_full:
                return True
            if (in_full and full) or len(missing) >= lacked:
                log.error("the portal is not content with the report; it still asks for %d texts", len(missing))
                return False
            full, wanted, lacked = full or in_full, missing, len(missing) or lacked

    def _reported_set(self, captures: Sequence[Kept], ages: Mapping[str, float]) -> ReportedSet:
        times = {"taken_at": iso(self._host.now()), "ages": spoken(ages)}
        about = {"boot_id": boot_id(self._host), "version": VERSION, "mode": self._me.mode}
        places = {place(c.source, c.key): c.digest for c in captures}
        return ReportedSet(tuple(captures), places, about, times, set_digest(captures=places, **about))

    def _report(self, current: ReportedSet, before: ReportedSet | None, wanted: set[str], full: bool) -> dict[str, Any]:
        """The set's name; with it nothing, what changed since `before`, or all of it."""
        report = {"v": "2", "node": self._identity.node, "set": current.digest, **current.times}
        bodies = {"bodies": parcel(current.captures, wanted)}
        if full:
            return {**report, **current.about, **bodies, "captures": listed(current.captures)}
        if before is None or before.digest == current.digest:
            return report
        changed = [c for c in current.captures if before.places.get(place(c.source, c.key)) != c.digest]
        return {
            **report,
            **current.about,
            **bodies,
            "changed": listed(changed),
            "gone": sorted(before.places.keys() - current.places.keys()),
        }


def missing_of(reply: Reply) -> set[str]:
    """The digests whose texts the portal asks for."""
    asked = reply.value.get("missing")
    return {digest for digest in asked if isinstance(digest, str)} if isinstance(asked, list) else set()


def parcel(captures: Sequence[Kept], wanted: set[str]) -> dict[str, Any]:
    """As many of the wanted texts as one report should carry; the portal then asks for the others. A node with 800 devices would
    otherwise hold all of its texts in memory several times over."""
    found: dict[str, Any] = {}
    size_bytes = 0
    for capture in captures:
        if capture.digest in wanted and capture.digest not in found and (not found or size_bytes + capture.size_bytes <= PARCEL_BYTES):
            found[capture.digest] = capture.body()
            size_bytes += capture.size_bytes
    return found


def everything(host: Host, seconds_max: float = EVERYTHING_SECONDS_MAX) -> tuple[Kept, ...]:
    """What the agent would report first: every source asked once, in the way the agent asks. What never answers is said to."""
    schedule, until = Schedule(host), time.monotonic() + seconds_max
    schedule.round()
    while schedule.under_way and time.monotonic() < until:
        schedule.round()
    schedule.close()
    return schedule.captures()
