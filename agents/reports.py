"""Collect on a schedule and tell the portal: that nothing changed, or what did; texts only when it lacks them.

A source that hangs delays no other, and is reported as failed while it does: the portal must not take an old text for
a fresh one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from agents import VERSION, policy
from agents.collectors import COLLECTORS, zpool_status
from agents.collectors.base import Capture, Unparsed
from agents.host import Host
from agents.identity import Identity, boot_id
from agents.receipts import listed
from agents.sets import place, set_digest, spoken
from agents.times import iso
from agents.transport import Portal

HEARTBEAT_SECONDS = 15.0
FAST_SECONDS = 2.0  # while a resilver runs, so that its bar moves
FAST_SOURCES = ("zpool_status", "zpool_status_guid", "zpool_status_json")
PATIENCE_SECONDS = 2.0  # how long a round waits for a slow source before it reports without it
HUNG_AFTER_SECONDS = 60.0
WORKERS = 4
ROUNDS_MAX = 5  # of telling the portal one set: its name, then all of it, then the texts it lacks; one to spare
log = logging.getLogger("slotlight.agent")


class Schedule:
    """What each source said last, and when each is asked next. Times are of a clock that never jumps."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="collect")
        self._due = dict.fromkeys(COLLECTORS, 0.0)
        self._running: dict[str, tuple[Future, float]] = {}
        self._said: dict[str, tuple[Capture, ...]] = {}
        self._asked: dict[str, float] = {}  # when what it said was asked for
        self._hurried = 0.0
        self._scans_seen: tuple[tuple[str, str], ...] | None = None
        self._lock = threading.Lock()

    def hurry(self, now: float) -> None:
        """Ask every source again at the next round, also those that are being asked now: they may say what was before."""
        self._hurried = now
        for source in self._due:
            self._due[source] = 0.0

    def next_due(self) -> float:
        """When the next source is to be asked; a source that is being asked is looked after every so often."""
        waiting = [due for source, due in self._due.items() if source not in self._running]
        return min([*waiting, *(time.monotonic() + PATIENCE_SECONDS for _ in self._running)])

    def round(self, now: float) -> None:
        """Ask what is due and take in what has answered."""
        for source, due in self._due.items():
            if due <= now and source not in self._running:
                self._running[source] = (self._pool.submit(COLLECTORS[source].collect, self._host), now)
        wait([future for future, _ in self._running.values()], PATIENCE_SECONDS)
        for source, (future, started) in list(self._running.items()):
            if future.done():
                del self._running[source]
                self.learn(source, future.result(), started)
                self._due[source] = 0.0 if started <= self._hurried else started + self._every(source)
            elif now - started > HUNG_AFTER_SECONDS:
                self.learn(source, (self._hung(source, now - started),), now)
        self._look_at_labels_when_a_scan_ends()

    def _look_at_labels_when_a_scan_ends(self) -> None:
        """A label says that its disk is being filled, and is read seldom: when a resilver ends it must be read again."""
        seen = tuple((pool.name, "running" if scan.state == "running" else scan.text) for pool, scan in self._scans())
        if self._scans_seen is not None and seen != self._scans_seen:
            self._due["zdb_label"] = 0.0
        self._scans_seen = seen

    def learn(self, source: str, captures: Sequence[Capture], asked: float) -> None:
        with self._lock:
            self._said[source], self._asked[source] = tuple(captures), asked

    def ages(self, now: float) -> dict[str, float]:
        """How long ago each source was asked for what it is known to say."""
        with self._lock:
            return {source: now - asked for source, asked in self._asked.items()}

    def captures(self) -> tuple[Capture, ...]:
        with self._lock:
            return tuple(capture for source in COLLECTORS for capture in self._said.get(source, ()))

    def close(self) -> None:
        self._pool.shutdown(wait=False)

    def _every(self, source: str) -> float:
        every = float(COLLECTORS[source].EVERY_SECONDS)
        return min(every, FAST_SECONDS) if source in FAST_SOURCES and self._resilvering() else every

    def _resilvering(self) -> bool:
        return any(scan.function in ("resilver", "rebuild") and scan.state == "running" for _, scan in self._scans())

    def _scans(self) -> list[tuple[zpool_status.Pool, zpool_status.Scan]]:
        parsed = [zpool_status.parse(capture.text) for capture in self._said.get("zpool_status", ())]
        return [(pool, scan) for pools in parsed if not isinstance(pools, Unparsed) for pool in pools for scan in pool.scans]

    def _hung(self, source: str, seconds: float) -> Capture:
        since = iso(self._host.now() - seconds)[:17] + "00Z"  # to the minute: the text must not change while nothing does
        return Capture(source, "", "failed", "", f"{source} was asked at {since} and has not answered yet.")


@dataclass(frozen=True)
class Said:
    """One set of captures on its way to the portal."""

    captures: tuple[Capture, ...]
    places: dict[str, str]  # "zdb_label/sda1" -> digest
    about: dict[str, str]  # boot id, version and mode of this agent
    times: dict[str, Any]  # when it was put together, and how long before that each source was asked
    digest: str


class Reporter:
    """Sends what a schedule knows. Not shared between threads."""

    def __init__(self, host: Host, identity: Identity, portal: Portal, policy_path: str) -> None:
        self._host, self._identity, self._portal, self._policy_path = host, identity, portal, policy_path
        self._taken: Said | None = None  # what the portal is known to stand by
        self._last: tuple[str, ...] = ()

    def changed(self, captures: Sequence[Capture]) -> bool:
        return tuple(capture.digest for capture in captures) != self._last

    def send(self, captures: Sequence[Capture], ages: Mapping[str, float]) -> None:
        """Tell the portal in as few words as it understands. Raises PortalDown."""
        said, before = self._said(captures, ages), self._taken
        self._taken = None
        self._taken = said if self._tell(said, before) else None
        self._last = tuple(capture.digest for capture in captures)

    def _tell(self, said: Said, before: Said | None) -> bool:
        """Whether the portal stands by this set now. After a start it may well do so already, and is first asked."""
        full, wanted = False, set() if before is None else set(said.places.values()) - set(before.places.values())
        for _ in range(ROUNDS_MAX):
            reply = self._portal.ask("POST", "/agent/v1/reports", self._report(said, before, wanted, full))
            if reply.status != 200:
                log.error("the portal does not take the report: %s", reply.reason)
                return False
            wanted = _texts(reply.value.get("missing"))
            if not wanted and reply.value.get("need") != "full":
                return True
            full = full or reply.value.get("need") == "full"
        log.error("the portal still asks for %d texts after they were sent", len(wanted))
        return False

    def _said(self, captures: Sequence[Capture], ages: Mapping[str, float]) -> Said:
        times = {"taken_at": iso(self._host.now()), "ages": spoken(ages)}
        about = {"boot_id": boot_id(self._host), "version": VERSION, "mode": policy.load(self._policy_path).mode}
        places = {place(c.source, c.key): c.digest for c in captures}
        return Said(tuple(captures), places, about, times, set_digest(captures=places, **about))

    def _report(self, said: Said, before: Said | None, wanted: set[str], full: bool) -> dict[str, Any]:
        """The set's name; with it nothing, what changed since `before`, or all of it."""
        report = {"v": "2", "node": self._identity.node, "set": said.digest, **said.times}
        bodies = {"bodies": {c.digest: c.body() for c in said.captures if c.digest in wanted}}
        if full:
            return {**report, **said.about, **bodies, "captures": listed(said.captures)}
        if before is None or before.digest == said.digest:
            return report
        changed = [c for c in said.captures if before.places.get(place(c.source, c.key)) != c.digest]
        return {**report, **said.about, **bodies, "changed": listed(changed), "gone": sorted(before.places.keys() - said.places.keys())}


def _texts(asked: object) -> set[str]:
    """The digests whose texts the portal asks for."""
    return {digest for digest in asked if isinstance(digest, str)} if isinstance(asked, list) else set()


def everything(host: Host) -> tuple[Capture, ...]:
    """What every source says now."""
    return tuple(capture for module in COLLECTORS.values() for capture in module.collect(host))
