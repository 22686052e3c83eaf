"""Carry out orders: at most once, and never without saying how it ended.

A pure order is answered at once. Any other order goes through these gates in this order, and the first that does not
open ends it as refused: shape, catalogue, signature, address, session, proofs, policy, time, fence, argv; the pool's lock; the facts
read again and equal to the plan's; the operation's own guards; CLAIMED in the journal; the portal's claim and start; the
facts and everything above once more; INTENT in the journal. Only then the command runs.

What an agent that died left behind is settled before anything new. CLAIMED means nothing ran. INTENT means it may have: while the
command is still at work it is waited for, and its own exit code counts where its supervisor saw it; else it is not known, so it is probed
and reported as unknown. It is never run again.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Optional

from agents import failpoints
from agents.collectors.base import Capture
from agents.domain.times import iso
from agents.host import running_commands
from agents.host.command_supervisor import CannotMind, Inside, Left, Minded, Outside
from agents.host.host import Host, Ran
from agents.operations import OPERATIONS
from agents.operations.base import Probe, good_ends
from agents.orders import order as orders
from agents.orders.journal import Entry, Journal, JournalError
from agents.orders.order import BadOrder, Here, Order
from agents.orders.policy import Policy
from agents.orders.receipts import receipt
from agents.orders.write_permission import Standing, open_session
from agents.portal.transport import Portal, PortalDown
from agents.trust.clock import Clock
from agents.trust.identity import Identity

HANDSHAKE_TRIES = 3
PROBE_TRIES = 30  # a command that outlived its agent may still be at work; it is given this many seconds to end
FIRST_TIME_SECONDS = 20.0  # how long after a start the portal's time is waited for
MINDER_SECONDS = 30.0  # a minder ends what it minds in time, and is given this much more
OUTPUT_CHARS_MAX = 200
RUNNING = "running"  # the folder of commands at work
log = logging.getLogger("slotlight.agent")


class Refused(Exception):
    """This order does not run. The message says what is so and about which thing."""


class Executor:
    """Runs on one thread; `pure` may run on another. `stopping` ends a wait for a command that an earlier agent started."""

    def __init__(
        self, host: Host, identity: Identity, journal: Journal, portal: Portal, folder: str, policy_path: str,
        standing: Optional[Standing] = None, clock: Optional[Clock] = None, stopping: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self._host, self._journal, self._portal, self._folder = host, journal, portal, folder
        session = None if standing else open_session(host, os.path.join(folder, "run"), folder)
        self._standing = standing or Standing(host, identity, journal, session, folder, policy_path)
        self._clock, self._stopping = clock or Clock(host.now), stopping

    def pure(self, order: Order) -> tuple[str, tuple[Capture, ...]]:
        """The receipt of an order that changes nothing, and what was read. Not journalled: reading again is harmless."""
        started_at = self._now()
        reason = self._refusal(order)
        if reason:
            return receipt(order.id, order.digest, "refused", reason), ()
        answer = OPERATIONS[order.operation].run(self._host, order.params)
        how = {"started_at": started_at, "ended_at": self._now(), "result": answer.result, "captures": answer.captures}
        return receipt(order.id, order.digest, answer.outcome, answer.reason, **how), answer.captures

    def handle(self, order: Order) -> None:
        """Take `order` as far as it may go and journal its receipt. Raises JournalError when that cannot be written."""
        known = self._journal.find(order.id)
        if known is not None:
            self._repeat(order, known)
            return
        self._clock.wait_for_portal_time(FIRST_TIME_SECONDS)
        reason = self._refusal(order)
        if reason:
            self._refuse(order, reason)
            return
        try:
            with self._locked(order.params["pool_guid"]):
                self._carry_out(order)
        except Refused as refused:
            self._refuse(order, str(refused))

    def recover(self) -> None:
        """Settle what an earlier agent left without a result. Nothing is run. Raises JournalError when that cannot be written."""
        for entry in self._journal.unfinished():
            text = self._report_left(entry)
            if text is None:
                return
            self._journal.result(entry.order_id, text)
        # Nothing is under way now: what a folder of a command holds is in a receipt already.
        shutil.rmtree(os.path.join(self._folder, RUNNING), ignore_errors=True)

    def _repeat(self, order: Order, known: Entry) -> None:
        """What was decided once stays decided: the same receipt goes out again."""
        if known.digest == order.digest:
            self._journal.send_again(order.id)
            return
        reason = f"This node already knows another order by the id {order.id}."
        log.error("order %s is refused: %s", order.id, reason)
        try_to_send(self._portal, order.id, receipt(order.id, order.digest, "refused", reason))

    def _carry_out(self, order: Order) -> None:
        self._check_facts(order)
        self._claim(order)
        self._handshake(order, "claim")
        failpoints.hit("after_claim")
        self._handshake(order, "start")
        with self._undisturbed(order), self._ready(order) as command:
            # The handshake and the preparation took time, and this is the last moment at which looking again costs nothing.
            self._check_facts(order)
            self._check_still_allowed(order)
            self._check_not_running(order, command)
            failpoints.hit("before_intent")
            started_at = self._now()
            self._intend(order, started_at, command.mark)
            failpoints.hit("after_intent")
            ran = command.go()
        failpoints.hit("after_exec")
        self._record(order, ran, started_at)
        failpoints.hit("after_result")
        Left(self._place(order.id), "").forget()

    @contextmanager
    def _undisturbed(self, order: Order) -> Iterator[None]:
        """While the order is carried out, nothing lists what can be imported if it imports."""
        if not running_commands.is_import(order.argv):
            yield
            return
        try:
            with running_commands.no_other_import(self._host):
                yield
        except running_commands.Busy as busy:
            raise Refused(f"{busy} Nothing ran. Wait until it ends, then plan again.") from busy

    @contextmanager
    def _ready(self, order: Order) -> Iterator[Minded]:
        """The command, prepared and not started. Where the host's commands are processes of their own, they outlive the agent. What an
        operation does by its own hand, such as writing an attribute, dies with the agent."""
        operation, words = OPERATIONS[order.operation], getattr(self._host, "words", None)
        by_hand = getattr(operation, "perform", None)
        try:
            if by_hand is not None:
                command: Minded = Inside(lambda: by_hand(self._host, order.params))
            elif words is None:
                command = Inside(lambda: self._host.run(order.argv, operation.TIMEOUT_SECONDS))
            else:
                command = Outside(self._place(order.id), order.argv, words(order.argv), operation.TIMEOUT_SECONDS)
        except CannotMind as error:
            raise Refused(f"{error} Nothing ran.") from error
        try:
            yield command
        except Refused:
            command.close()
            Left(self._place(order.id), "").forget()  # it was not started
            raise
        finally:
            command.close()

    def _place(self, order_id: str) -> str:
        return os.path.join(self._folder, RUNNING, order_id)

    def _check_facts(self, order: Order) -> None:
        operation = OPERATIONS[order.operation]
        pre = operation.preconditions(self._host, order.params)
        changes = difference(order.preconditions, pre)
        if changes:
            raise Refused(f"The node is not as it was planned: {'; '.join(changes)}. Plan again.")
        against = [reason for outcome, reason in operation.guards(pre, order.params) if outcome != "pass"]
        if against:
            raise Refused(" ".join(against))

    def _check_not_running(self, order: Order, command: Minded) -> None:
        """The very command of an order may still hang in the kernel from before, or a person may have given it by hand."""
        running = running_commands.still_running(self._host, order.argv, command.mark.partition(" ")[0])
        if running:
            raise Refused(f"`{' '.join(order.argv)}` is already running as process {running}. Wait until it ends, then plan again.")
        if running_commands.is_import(order.argv) and (other := running_commands.importing(self._host)):
            raise Refused(
                f"Another `zpool import` runs as process {other}: it would hide disks from this one. Wait until it ends, then plan again."
            )

    def _check_still_allowed(self, order: Order) -> None:
        reason = self._refusal(order)
        if reason:
            raise Refused(reason)

    def _handshake(self, order: Order, word: str) -> None:
        """Nothing runs before the portal has written down that it may. Asking again is safe: nothing ran yet."""
        for left in reversed(range(HANDSHAKE_TRIES)):
            try:
                proof = {"digest": order.digest, "approvals": list(order.approvals)}  # which were proven here: the portal asks for it
                reply = self._portal.ask("POST", f"/agent/v1/orders/{order.id}/{word}", proof)
            except PortalDown as down:
                if not left:
                    raise Refused(f"The portal did not acknowledge the {word}, so nothing ran: {down}") from down
                time.sleep(1)
                continue
            if reply.status != 200 or reply.value.get("go") is not True:
                raise Refused(f"The portal does not let it {word}: {reply.reason}")
            return

    def _claim(self, order: Order) -> None:
        pool_guid, fence = order.params["pool_guid"], int(order.fence)
        try:
            self._journal.claim(order.id, order.digest, order.canonical, self._now(), pool_guid, fence)
        except JournalError as error:
            raise Refused(f"{error} Nothing ran.") from error

    def _intend(self, order: Order, started_at: str, minder: str) -> None:
        try:
            self._journal.intend(order.id, started_at, minder)
        except JournalError as error:
            raise Refused(f"{error} Nothing ran.") from error

    def _record(self, order: Order, ran: Ran, started_at: str) -> None:
        """Journal how it ended at once, and again with the evidence, which a sick disk may take its time to give."""
        how = self._ended(order, ran, started_at, self._now())
        self._journal.result(order.id, how())
        self._journal.amend(order.id, how(captures=OPERATIONS[order.operation].aftermath(self._host, order.params)))

    def _ended(self, order: Order, ran: Ran, started_at: str, ended_at: str, before: str = "") -> Callable[..., str]:
        """Makes the receipt of a command whose end was seen; more may be said in it."""
        operation = OPERATIONS[order.operation]
        good = good_ends(operation)
        probe = None if ran.exit_code in good else operation.probe(self._host, order.params, order.preconditions)
        outcome, reason = conclude(ran, probe, good)
        return partial(
            receipt,
            order.id,
            order.digest,
            outcome,
            f"{before} {reason}".strip(),
            argv=order.argv,
            ran=ran,
            started_at=started_at,
            ended_at=ended_at,
            probe=probe,
        )

    def _report_left(self, entry: Entry) -> Optional[str]:
        """The receipt of what an earlier agent left; None when the agent was stopped before that was known."""
        if entry.phase == "CLAIMED":
            return receipt(entry.order_id, entry.digest, "refused", "The agent restarted before anything ran.")
        seen = self._see_the_end(entry)
        if seen is not None or self._stopping():
            return seen
        argv, probe = self._probe_left(entry)
        reason = f"The agent ended after it had recorded the start, and before the command's end was recorded. {probe.reason}"
        return receipt(entry.order_id, entry.digest, "unknown", reason, argv=argv, started_at=entry.started_at, probe=probe)

    def _see_the_end(self, entry: Entry) -> Optional[str]:
        """Wait for the command an earlier agent started, and say how it ended; None when no process saw that."""
        left = Left(self._place(entry.order_id), entry.minder)
        try:
            order = orders.read(entry.canonical, entry.digest)
            operation = OPERATIONS[order.operation]
        except (BadOrder, KeyError):
            return None
        if pid := left.alive():
            log.info("order %s: `%s` is still at work as process %s; waiting for it", order.id, " ".join(order.argv), pid)
            left.wait(operation.TIMEOUT_SECONDS + MINDER_SECONDS, self._stopping)
        ran = left.ran(order.argv)
        if ran is None:
            return None
        how = self._ended(order, ran, entry.started_at, iso(left.ended_at()), "The agent was restarted while it ran.")
        return how(captures=operation.aftermath(self._host, order.params))

    def _probe_left(self, entry: Entry) -> tuple[tuple[str, ...], Probe]:
        try:
            order = orders.read(entry.canonical, entry.digest)
        except BadOrder as bad:
            return (), Probe("cannot_tell", (), f"Another version of the agent left it: {bad}")
        if order.operation not in OPERATIONS:
            return order.argv, Probe("cannot_tell", (), f"This version of the agent does not know {order.operation}.")
        return order.argv, self._probe_when_quiet(order)

    def _probe_when_quiet(self, order: Order) -> Probe:
        """The probe's answer once no process of this command is left, or the last "cannot tell"."""
        operation = OPERATIONS[order.operation]
        for _ in range(PROBE_TRIES):
            running = running_commands.still_running(self._host, order.argv)
            if not running:
                probe: Probe = operation.probe(self._host, order.params, order.preconditions)
                return probe
            time.sleep(1)
        return Probe("cannot_tell", (), f"`{' '.join(order.argv)}` is still running as process {running}.")

    def _refusal(self, order: Order) -> str:
        identity, standing = self._standing.identity, self._standing
        here = Here(
            identity.node, identity.key_id, self._rule(order), self._clock.earliest(), self._clock.latest(), self._journal.fence,
            standing.nonce, standing.signed, standing.backed, self._clock.doubt(),
        )  # fmt: skip
        try:
            return orders.refusal(order, here)
        except JournalError as error:
            return str(error)

    def _rule(self, order: Order) -> Policy:
        """The policy that counts for this order. One that changes something also needs a journal that can be written now."""
        rule = self._standing.rule()
        trouble = self._journal.trouble() if order.effect != "pure" and rule.mode == "operate" else ""
        return Policy("observe", why=trouble) if trouble else rule

    def _refuse(self, order: Order, reason: str) -> None:
        log.warning("order %s is refused: %s", order.id, reason)
        text = receipt(order.id, order.digest, "refused", reason)
        try:
            if self._journal.find(order.id) is None:
                self._journal.refuse(order.id, order.digest, order.canonical, text)
            else:
                self._journal.result(order.id, text)
        except JournalError as error:
            # A full disk must not keep the portal from learning that nothing ran.
            log.error("%s The refusal of order %s is sent without being remembered.", error, order.id)
            try_to_send(self._portal, order.id, text)

    @contextmanager
    def _locked(self, pool_guid: str) -> Iterator[None]:
        """The pool's lock, or Refused. It stands where every agent of this node looks, whatever folder that lives in. The kernel drops
        it with the process, so none is ever left behind."""
        folder = os.path.join(self._standing.run_folder, "locks")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            file = open(os.path.join(folder, f"pool-{pool_guid}"), "a")  # noqa: SIM115
        except OSError as error:
            raise Refused(f"The pool {pool_guid} cannot be locked: {folder} cannot be written ({error.strerror}).") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Refused(f"Another order for pool {pool_guid} is being carried out on this node. Wait until it ends.") from error
            yield

    def _now(self) -> str:
        return iso(self._host.now())


def send(portal: Portal, order_id: str, text: str) -> bool:
    """Whether the portal has taken the receipt; False is its signed no. Raises PortalDown."""
    reply = portal.ask("POST", f"/agent/v1/orders/{order_id}/receipt", text)
    if reply.status != 200:
        log.error("the portal does not take the receipt of order %s: %s", order_id, reply.reason)
    return reply.status == 200


def try_to_send(portal: Portal, order_id: str, text: str) -> bool:
    """Send what is not journalled. When it does not arrive, the portal offers the order again."""
    try:
        return send(portal, order_id, text)
    except PortalDown as down:
        log.warning("the receipt of order %s could not be sent: %s", order_id, down)
        return False


def read_order(offer: object, reject: Callable[[str, str, str], None]) -> Order | None:
    """The order in one entry of the portal's answer. A sealed text that is no order is rejected by its id, if it has one."""
    if not isinstance(offer, dict):
        log.error("the portal offers something that is no order: %.200r", offer)
        return None
    try:
        return orders.read_offer(offer)
    except BadOrder as bad:
        log.error("the portal offers an order that does not hold: %s", bad)
        if bad.order_id:
            reject(bad.order_id, offer["digest"], str(bad))
        return None


def difference(planned: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Each fact that is not as planned, in words."""
    changes = []
    for name in sorted({*planned, *now}):
        before, after = planned.get(name, "not in the plan"), now.get(name, "not read here")
        if before != after:
            changes.append(f"{name} was {before!r} and is {after!r}")
    return tuple(changes)


def conclude(ran: Ran, probe: Probe | None, good: tuple[int, ...] = (0,)) -> tuple[str, str]:
    """(outcome, reason) of a command that was run. Only an exit code and a probe that agree make it failed."""
    command = " ".join(ran.argv)
    if ran.exit_code in good:
        return "succeeded", f"`{command}` exited {ran.exit_code}."
    how = f"`{command}` {'exited ' + str(ran.exit_code) if ran.exit_code is not None else 'did not end by itself: ' + ran.why}."
    how += "".join(f" Its output: {line}" for line in first_line(ran.stderr))
    if ran.why in ("not found", "not permitted", "not started") or (
        ran.exit_code is not None and probe is not None and probe.result == "did_not"
    ):
        return "failed", how
    return "unknown", f"{how} {probe.reason if probe else ''}".strip()


def first_line(stderr: bytes) -> tuple[str, ...]:
    """What a tool complained of first; nothing when it said nothing. The receipt has all of it."""
    lines = (line.strip() for line in stderr.decode("utf-8", "replace").splitlines())
    return tuple(line[:OUTPUT_CHARS_MAX] for line in lines if line)[:1]
