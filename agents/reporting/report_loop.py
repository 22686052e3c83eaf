"""The reports thread's work, one step at a time: collect, report to the portal, or keep for later what could not be sent.

When the portal comes back it first hears how things are now, and then, one by one, what it missed: late reports are evidence
with their own time, and change nothing of what is so now.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

from agents import VERSION
from agents.domain.times import iso
from agents.host.host import Host
from agents.orders.receipts import listed
from agents.orders.write_permission import Standing
from agents.portal.last_contact import Pulse
from agents.portal.transport import Portal, PortalDown, Reply
from agents.reporting.capture_set import place, set_digest, spoken
from agents.reporting.reports import HEARTBEAT_SECONDS, PARCEL_BYTES, Me, Reporter, missing_of
from agents.reporting.schedule import Schedule
from agents.reporting.spool import Spool, Text
from agents.reporting.stored_capture import Kept
from agents.trust.identity import Identity, boot_id

KEEP_EVERY_SECONDS = 30.0  # while the portal is away; what changes faster than that is kept as it is then
LATE_EVERY_SECONDS = 1.0  # a fleet that comes back with hours of reports must not stand in the way of what is so now
SHORTEST_SECONDS = 0.05
log = logging.getLogger("slotlight.agent")


class Rhythm:
    """Belongs to one thread."""

    def __init__(
        self, host: Host, identity: Identity, portal: Portal, policy_path: str, schedule: Schedule, spool: Spool,
        clock: Callable[[], float] = time.monotonic, standing: Optional[Standing] = None,
    ) -> None:  # fmt: skip
        self._host, self._identity, self._portal = host, identity, portal
        self._me = Me(policy_path, standing)
        self._schedule, self._spool, self._clock = schedule, spool, clock
        self._reporter = Reporter(host, identity, portal, policy_path, standing)
        self._next_report = self._next_keep = self._next_late = 0.0
        self._known_to_portal: frozenset[str] = frozenset()  # digests of texts the portal is known to have
        self._kept: tuple[str, ...] = ()  # digests of the last report that was kept
        self.pulse = Pulse()  # how the last report went

    def step(self) -> float:
        """Ask what is due and report; returns how long nothing has to be done. Raises PortalDown, and has kept the report then."""
        self._schedule.note("spool", self._spool.dropped())
        if self._clock() >= self._next_report:
            self._schedule.note("policy", self._me.policy)
        self._schedule.round()
        captures = self._schedule.captures()
        if self._reporter.changed(captures) or self._clock() >= self._next_report:
            self._report(captures)
        if len(self._spool) and self._clock() >= self._next_late:
            self._send_late()
        dues = [self._next_report, self._schedule.next_due(), *([self._next_late] if len(self._spool) else [])]
        return max(SHORTEST_SECONDS, min(dues) - self._clock())

    def at_once(self) -> None:
        """The next step reports, also when nothing changed."""
        self._next_report = 0.0

    def _report(self, captures: Sequence[Kept]) -> None:
        try:
            self._reporter.send(captures, self._schedule.ages())
        except PortalDown as down:
            self._keep(captures)
            self._feel(captures, self.pulse.taken_at, str(down))
            raise
        self._feel(captures, self._host.now())
        self._known_to_portal = frozenset(kept.digest for kept in captures)
        self._kept = ()
        self._spool.forget_dropped()
        # Not all nodes in the same second, however they were started.
        self._next_report = self._clock() + HEARTBEAT_SECONDS * random.uniform(0.85, 1.0)

    def _feel(self, captures: Sequence[Kept], taken_at: float, trouble: str = "") -> None:
        failing = sorted({place(kept.source, kept.key) for kept in captures if kept.outcome == "failed"})
        self.pulse = Pulse(taken_at, self._host.now(), trouble, len(self._spool), tuple(failing))

    def _keep(self, captures: Sequence[Kept]) -> None:
        digests = tuple(kept.digest for kept in captures)
        if self._clock() < self._next_keep or digests == self._kept or set(digests) == self._known_to_portal:
            return
        self._next_keep = self._clock() + KEEP_EVERY_SECONDS
        self._kept = digests
        self._spool.add(self._late(captures), {kept.digest: kept for kept in captures if kept.digest not in self._known_to_portal})

    def _late(self, captures: Sequence[Kept]) -> dict[str, Any]:
        about = {"boot_id": boot_id(self._host), "version": VERSION, "mode": self._me.mode}
        places = {place(kept.source, kept.key): kept.digest for kept in captures}
        return {
            "v": "2",
            "late": "1",
            "node": self._identity.node,
            "taken_at": iso(self._host.now()),
            "set": set_digest(captures=places, **about),
            "ages": spoken(self._schedule.ages()),
            "captures": listed(captures),
            **about,
        }

    def _send_late(self) -> None:
        """One report of the time when the portal was away. One that it does not take is not pressed on it."""
        self._next_late = self._clock() + LATE_EVERY_SECONDS * random.uniform(0.7, 1.3)
        found = self._spool.oldest()
        if found is None:
            return
        name, report = found
        reply = self._post(report, {})
        missing, texts = missing_of(reply), self._spool.texts(name)
        while reply.status == 200 and missing:
            bodies = _parcel(texts, missing)
            if not bodies:
                log.error("the late report of %s is lost: %d of its texts are", report["taken_at"], len(missing))
                self._spool.lose(name, report["taken_at"])
                return
            reply = self._post(report, bodies)
            missing = missing_of(reply)
        if reply.status != 200:
            log.error("the portal does not take the late report of %s: %s", report["taken_at"], reply.reason)
        self._spool.done(name)

    def _post(self, report: dict[str, Any], bodies: dict[str, Any]) -> Reply:
        return self._portal.ask("POST", "/agent/v1/reports", {**report, "bodies": bodies})


def _parcel(texts: Iterator[Text], wanted: set[str]) -> dict[str, Any]:
    """The next of the wanted texts, as many as one report should carry."""
    found: dict[str, Any] = {}
    size_bytes = 0
    for digest, body in texts:
        if digest in wanted:
            found[digest] = body
            size_bytes += len(body["text"])
        if size_bytes > PARCEL_BYTES:
            break
    return found
