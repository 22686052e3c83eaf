"""The agent at work: three threads, each with its own connection to the portal.

    orders     waits for orders; answers pure ones at once, hands the others on
    executor   carries out what changes the node, one at a time, and sends receipts until they are taken
    reports    collects and reports

A command that hangs in the kernel therefore stops no other source. When any thread meets something it does not understand the
whole agent stops with an error, and the next start settles what was left: a half-alive agent is the worst kind. A journal that
cannot be read or written is understood: nothing is carried out, reports go on, and it is tried again.
"""

from __future__ import annotations

import fcntl
import logging
import os
import queue
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from urllib.parse import urlencode

from agents import VERSION
from agents.host.host import Host
from agents.operations import OPERATIONS, look
from agents.orders import policy
from agents.orders.executor import Executor, read_order, send, try_to_send
from agents.orders.journal import FILE as JOURNAL
from agents.orders.journal import Journal, JournalError
from agents.orders.order import Order
from agents.orders.receipts import receipt
from agents.orders.write_permission import Standing, open_session
from agents.portal import last_contact
from agents.portal.transport import Counter, Portal, PortalDown, Reply
from agents.reporting.report_loop import Rhythm
from agents.reporting.schedule import Schedule
from agents.reporting.spool import Spool
from agents.service.zed_hook import Bell
from agents.trust import identity
from agents.trust.clock import Clock, boottime

POLL_WAIT_SECONDS = 25
BACKOFF_SECONDS_MAX = 30.0
ASK_AGAIN_SECONDS = 10.0  # after a refusal that is not about one order
JOURNAL_SECONDS = 10.0  # between two tries of a journal that could not be written
SPOOL, LOCK = "spool", "agent.lock"
log = logging.getLogger("slotlight.agent")


class Busy(Exception):
    """Another agent runs on this folder."""


class Backoff:
    """Longer pauses after each failure, so that a portal that comes back is not met by all nodes at once."""

    def __init__(self) -> None:
        self._failures = 0

    def reset(self) -> None:
        self._failures = 0

    def seconds(self) -> float:
        self._failures += 1
        return float(min(BACKOFF_SECONDS_MAX, 0.25 * 2 ** min(self._failures, 10)) * random.uniform(0.7, 1.0))


class Agent:
    """One node's agent on `host`, with its identity and journal in `folder`. `run_folder` is one for all agents of the node, and gone
    after a reboot; without one it stands in `folder`."""

    def __init__(self, host: Host, folder: str, policy_path: str = policy.DEFAULT_PATH, run_folder: str = "", relay: str = "") -> None:
        self._host, self._folder, self._policy_path, self._relay = host, folder, policy_path, relay
        self._run_folder = run_folder or os.path.join(folder, "run")
        self._identity = identity.load(folder)
        self._stopping = threading.Event()
        self._wake_reports = threading.Event()
        self._queue: queue.Queue[Order | None] = queue.Queue()  # None only wakes the executor
        self._busy: set[str] = set()  # ids of orders in the executor's hands
        self._handed: set[str] = set()  # and of all that ever were
        self._refused_receipts: set[str] = set()
        self._schedule = Schedule(host)
        self._portals: list[Portal] = []
        self._failure: BaseException | None = None
        self._settled = False  # what an earlier agent left

    def run(self) -> None:
        """Work until `stop`. Raises what ended a thread that must not end, and Busy."""
        with single(self._folder), alone(self._run_folder, self._identity.key_id):
            self._open()
            bell = Bell(self._folder, self.ring)
            rule = self._standing.rule()
            log.info("agent %s of %s, key %s, mode %s: %s", VERSION, self._identity.node, self._identity.key_id, rule.mode, rule.why)
            self._work()
            bell.close()
            self._schedule.close()
            self._journal.close()
        if self._failure is not None:
            raise self._failure

    def _open(self) -> None:
        session = open_session(self._host, self._run_folder, self._folder)
        stamp = session.write_stamp if session else lambda height: None
        self._journal = Journal(os.path.join(self._folder, JOURNAL), stamp, anyway=True)
        self._standing = Standing(self._host, self._identity, self._journal, session, self._folder, self._policy_path)
        self._clock = Clock(self._host.now, boottime)
        self._counter = Counter(lambda: self._journal.next_counter(self._host.now()), self._follow_counter)
        self._portals = [self._portal() for _ in range(3)]
        try:
            self._standing.compare_journal()
        except JournalError as error:
            log.error("%s", error)  # it opened, and cannot be read; nothing runs, and what reads it says so
        self._executor = Executor(
            self._host, self._identity, self._journal, self._portals[1], self._folder, self._policy_path,
            self._standing, self._clock, self._stopping.is_set,
        )  # fmt: skip

    def _work(self) -> None:
        jobs = (("orders", self._poll), ("executor", self._execute), ("reports", self._report))
        threads = [
            threading.Thread(target=self._guarded, args=(job, portal), name=name) for (name, job), portal in zip(jobs, self._portals)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                # A signal may be delivered to any thread, and Python then waits for the main one to wake before it acts.
                thread.join(0.5)

    def stop(self) -> None:
        """End after what is running now; a thread that waits for the portal stops waiting. Callable from anywhere."""
        self._stopping.set()
        self._wake_reports.set()
        self._queue.put(None)
        for portal in self._portals[::2]:  # not the executor's: what it has begun, it ends
            portal.interrupt()

    def _portal(self) -> Portal:
        return Portal(
            self._identity.portal, self._identity.key, self._counter, self._host.now, self._identity.ca_file, self._clock, self._relay
        )

    def _guarded(self, job: Callable[[Portal], None], portal: Portal) -> None:
        try:
            job(portal)
        except Exception as error:  # the outermost frame of a thread: one that died unseen would look like a quiet node
            log.exception("the %s thread failed; the agent stops", threading.current_thread().name)
            self._failure = error
            self.stop()
        finally:
            portal.close()

    def _poll(self, portal: Portal) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                reply = portal.ask("GET", "/agent/v1/orders", query=self._query(), timeout=POLL_WAIT_SECONDS + 10)
                self._hear(reply)
            except PortalDown as down:
                self._pause("orders", down, backoff)
                continue
            backoff.reset()
            offers = reply.value.get("orders", []) if reply.status == 200 else []
            if offers and not any([self._take(offer, portal) for offer in offers]):
                self._stopping.wait(0.5)  # nothing new; the portal offers an order until it is claimed

    def _query(self) -> str:
        """What the portal must know before it hands anything over: which checkpoint, session and key of its own are known here."""
        standing = self._standing
        parameters = {"wait": str(POLL_WAIT_SECONDS), "size": str(standing.log.size), "nonce": standing.nonce}
        return urlencode({**parameters, "key": standing.identity.portal_key_id})

    def _hear(self, reply: Reply) -> None:
        """What an answer says beside the orders, before they are looked at: their proofs count against the checkpoint that came with them."""
        before = self._standing.reasons()
        self._standing.take_reply(reply)
        if "next_keys" in reply.value:
            self._follow(reply.value["next_keys"])
        if "log" in reply.value:
            self._standing.log.hear(reply.value["log"])
        if self._standing.reasons() != before:
            self._wake_reports.set()  # the people of the portal see it at once
        if reply.status not in (200, 204):
            log.error("the portal hands over no orders: %s", reply.reason)
            self._stopping.wait(ASK_AGAIN_SECONDS)

    def _follow_counter(self, highest: int, ahead: bool) -> None:
        """The portal did not take our number. Where it took a higher one than was ever given here, another machine has this key."""
        if self._journal.follow_counter(highest, ahead) and not ahead:
            self._standing.stolen(highest)
            self._wake_reports.set()  # the people of the portal see it at once

    def _follow(self, reply: object) -> None:
        """The portal has other keys from now on, if the one that is pinned says so."""
        try:
            newer = identity.rotated(self._host, self._standing.identity, reply)
        except identity.BadKeys as bad:
            log.error("%s They are not taken.", bad)
            return
        if newer != self._standing.identity:
            identity.keep(self._folder, newer)
            log.warning("the portal's order key is %s from now on; %s announced it", newer.portal_key_id, self._identity.portal_key_id)
            self._identity = newer
            self._standing.follow(newer)

    def _take(self, offer: object, portal: Portal) -> bool:
        """Answer or hand on one order; whether it was new and got somewhere."""
        order = read_order(offer, lambda *why: self._reject(portal, *why))
        if order is None:
            return False
        operation = OPERATIONS.get(order.operation)
        if operation is None or operation.EFFECT == "pure":
            return self._answer(portal, order)
        if order.id in self._busy:
            return False
        new = order.id not in self._handed
        self._busy.add(order.id)
        self._handed.add(order.id)
        self._queue.put(order)
        return new

    def _answer(self, portal: Portal, order: Order) -> bool:
        asked = self._schedule.now()
        text, captures = self._executor.pure(order)
        sent = try_to_send(portal, order.id, text)
        for source, of_source in groupby(captures, lambda capture: capture.source):
            self._schedule.learn(source, tuple(of_source), asked, whole=order.operation == look.NAME)
        return sent

    def _reject(self, portal: Portal, order_id: str, digest: str, reason: str) -> None:
        try_to_send(portal, order_id, receipt(order_id, digest, "refused", reason))

    def _execute(self, portal: Portal) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                self._settle()
                pause = self._execute_next(portal, backoff)
            except JournalError as error:
                # What is under way keeps its INTENT, and is settled from it once the journal can be written.
                log.error("%s Trying again in %.0f s.", error, JOURNAL_SECONDS)
                self._settled, pause = False, JOURNAL_SECONDS
            if pause:
                self._stopping.wait(pause)

    def _settle(self) -> None:
        """See to what an earlier agent left, or this one could not write down. Raises JournalError."""
        if self._journal.broken and not self._journal.mended():
            return
        if not self._settled:
            self._standing.compare_journal()
            self._executor.recover()
            self._settled = True

    def _execute_next(self, portal: Portal, backoff: Backoff) -> float:
        """Send what waits and carry out the next order; how long to pause. Raises JournalError."""
        try:
            self._send_receipts(portal)
            backoff.reset()
            pause = JOURNAL_SECONDS if self._journal.broken else None
        except PortalDown as down:
            pause = backoff.seconds()
            log.warning("receipts: %s Trying again in %.1f s.", down, pause)
        try:
            order = self._queue.get(timeout=pause)
        except queue.Empty:
            return 0.0
        if order is not None:
            self._carry_out(order)
        return 0.0

    def _carry_out(self, order: Order) -> None:
        self._refused_receipts.discard(order.id)
        try:
            self._executor.handle(order)
        finally:
            self._busy.discard(order.id)

    def _send_receipts(self, portal: Portal) -> None:
        """Every receipt the portal has not taken; one that it refused waits for the next start, or until it asks again."""
        waiting = [entry for entry in self._journal.unsent() if entry.order_id not in self._refused_receipts]
        for entry in waiting:
            if send(portal, entry.order_id, entry.receipt):
                self._journal.acknowledge(entry.order_id)
            else:
                self._refused_receipts.add(entry.order_id)
        if waiting:
            # After a command the portal waits for facts that are newer than its receipt, also when they say nothing new.
            self._schedule.hurry()
            self._wake_reports.set()

    def _report(self, portal: Portal) -> None:
        spool = Spool(os.path.join(self._folder, SPOOL))
        rhythm, backoff = (
            Rhythm(self._host, self._identity, portal, self._policy_path, self._schedule, spool, standing=self._standing),
            Backoff(),
        )
        while not self._stopping.is_set():
            try:
                seconds = rhythm.step()
            except PortalDown as down:
                last_contact.write(self._folder, rhythm.pulse)
                self._pause("reports", down, backoff)
                continue
            last_contact.write(self._folder, rhythm.pulse)
            backoff.reset()
            if self._wake_reports.wait(seconds):
                self._wake_reports.clear()  # before what woke us is looked at, or a call in between would be lost
                rhythm.at_once()

    def ring(self) -> None:
        """Something happened to a pool: look at once. Callable from anywhere."""
        self._schedule.ring()
        self._wake_reports.set()

    def _pause(self, what: str, down: PortalDown, backoff: Backoff) -> None:
        if self._stopping.is_set():
            return
        seconds = backoff.seconds()
        log.warning("%s: %s Trying again in %.1f s.", what, down, seconds)
        self._stopping.wait(seconds)


@contextmanager
def single(folder: str) -> Iterator[None]:
    """One agent per folder, or Busy: a second one would call the first one's running order lost."""
    with open(os.path.join(folder, LOCK), "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Busy(f"An agent already runs on {folder}. Stop it first.") from error
        yield


@contextmanager
def alone(run_folder: str, key_id: str) -> Iterator[None]:
    """One agent per key and node, or Busy: a copy of the folder would be a second machine to the portal."""
    try:
        os.makedirs(run_folder, mode=0o700, exist_ok=True)
        file = open(os.path.join(run_folder, f"agent-{key_id}.lock"), "a")  # noqa: SIM115
    except OSError:
        yield  # nothing is carried out without that folder
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Busy(f"Another agent of this node already runs with the key {key_id}. Remove the copy of its folder.") from error
        yield
