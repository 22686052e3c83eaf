"""The agent at work: three threads, each with its own connection to the portal.

    orders     waits for orders; answers pure ones at once, hands the others on
    executor   carries out what changes the node, one at a time, and sends receipts until they are taken
    reports    collects and reports

A command that hangs in the kernel therefore blinds nobody. When any thread meets something it does not understand the
whole agent stops with an error, and the next start settles what was left: a half-alive agent is the worst kind.
"""

from __future__ import annotations

import fcntl
import logging
import os
import queue
import random
import threading
from collections.abc import Callable
from contextlib import contextmanager
from itertools import groupby

from agents import VERSION, identity, policy, pulse
from agents.bell import Bell
from agents.executor import Executor, read_order, send, try_to_send
from agents.host import Host
from agents.journal import Journal
from agents.operations import OPERATIONS
from agents.orders import Order
from agents.receipts import receipt
from agents.rhythm import Rhythm
from agents.schedule import Schedule
from agents.spool import Spool
from agents.transport import Counter, Portal, PortalDown

POLL_WAIT_SECONDS = 25
BACKOFF_SECONDS_MAX = 30.0
JOURNAL = "journal.sqlite"
SPOOL = "spool"
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
        return min(BACKOFF_SECONDS_MAX, 0.25 * 2 ** min(self._failures, 10)) * random.uniform(0.7, 1.0)


class Agent:
    """One node's agent on `host`, with its identity and journal in `folder`."""

    def __init__(self, host: Host, folder: str, policy_path: str = policy.DEFAULT_PATH) -> None:
        self._host, self._folder, self._policy_path = host, folder, policy_path
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

    def run(self) -> None:
        """Work until `stop`. Raises what ended a thread that must not end, and Busy."""
        with single(self._folder):
            self._open()
            bell = Bell(self._folder, self.ring)
            rule = policy.load(self._policy_path)
            log.info("agent %s of %s, key %s, mode %s: %s", VERSION, self._identity.node, self._identity.key_id, rule.mode, rule.why)
            self._work()
            bell.close()
            self._schedule.close()
            self._journal.close()
        if self._failure is not None:
            raise self._failure

    def _open(self) -> None:
        self._journal = Journal(os.path.join(self._folder, JOURNAL))
        self._counter = Counter(lambda: self._journal.next_counter(self._host.now()))
        self._portals = [self._portal() for _ in range(3)]
        self._executor = Executor(self._host, self._identity, self._journal, self._portals[1], self._folder, self._policy_path)

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
        return Portal(self._identity.portal, self._identity.key, self._counter, self._host.now, self._identity.ca_file)

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
                query = f"wait={POLL_WAIT_SECONDS}"
                reply = portal.ask("GET", "/agent/v1/orders", query=query, timeout=POLL_WAIT_SECONDS + 10)
            except PortalDown as down:
                self._pause("orders", down, backoff)
                continue
            backoff.reset()
            offers = reply.value.get("orders", []) if reply.status == 200 else []
            if offers and not any([self._take(offer, portal) for offer in offers]):
                self._stopping.wait(0.5)  # nothing new; the portal offers an order until it is claimed

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
        text, captures = self._executor.pure(order)
        sent = try_to_send(portal, order.id, text)
        for source, said in groupby(captures, lambda capture: capture.source):
            self._schedule.learn(source, tuple(said))
        return sent

    def _reject(self, portal: Portal, order_id: str, digest: str, reason: str) -> None:
        try_to_send(portal, order_id, receipt(order_id, digest, "refused", reason))

    def _execute(self, portal: Portal) -> None:
        self._executor.recover()
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                self._send_receipts(portal)
                backoff.reset()
                pause = None
            except PortalDown as down:
                pause = backoff.seconds()
                log.warning("receipts: %s Trying again in %.1f s.", down, pause)
            try:
                order = self._queue.get(timeout=pause)
            except queue.Empty:
                continue
            if order is not None:
                self._carry_out(order)

    def _carry_out(self, order: Order) -> None:
        self._refused_receipts.discard(order.id)
        self._executor.handle(order)
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
        rhythm, backoff = Rhythm(self._host, self._identity, portal, self._policy_path, self._schedule, spool), Backoff()
        while not self._stopping.is_set():
            try:
                seconds = rhythm.step()
            except PortalDown as down:
                pulse.write(self._folder, rhythm.pulse)
                self._pause("reports", down, backoff)
                continue
            pulse.write(self._folder, rhythm.pulse)
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
def single(folder: str):
    """One agent per folder, or Busy: a second one would call the first one's running order lost."""
    with open(os.path.join(folder, "agent.lock"), "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Busy(f"An agent already runs on {folder}. Stop it first.") from error
        yield
