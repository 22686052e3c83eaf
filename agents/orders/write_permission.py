"""Whether this agent may change anything at all, apart from any one order, and what it says of itself to the portal.

Missing keys, a journal that is broken or was put back, a ledger that contradicts itself, a second machine with the same key: each
narrows the node's policy to looking. A hold is such a reason that only a person ends; it stands in the journal. Whatever is so, the
agent goes on reporting.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Optional

from agents.domain.times import iso
from agents.host.host import Host
from agents.orders import approval_proof, policy
from agents.orders.journal import Journal, JournalError
from agents.orders.order import Order
from agents.orders.policy import Policy
from agents.orders.session import Session
from agents.portal.transport import Reply
from agents.trust import order_signature
from agents.trust.identity import Identity, boot_id
from agents.trust.known_log import Log

DUPLICATE, RESTORED = "duplicate", "journal"  # the holds
UNSIGNED = (
    "This agent was enrolled before orders were signed, and has no key to check them with. Get a new token and run"
    " `slotlight-agent enrol --again`."
)
log = logging.getLogger("slotlight.agent")


class Standing:
    """Safe to share between threads. `identity` may be replaced, by one with newer keys."""

    def __init__(
        self, host: Host, identity: Identity, journal: Journal, session: Optional[Session], folder: str, policy_path: str,
    ) -> None:  # fmt: skip
        self._host, self._journal, self._session, self._policy_path = host, journal, session, policy_path
        self.identity, self.log = identity, Log(host, folder, identity)
        self._unwritten: dict[str, str] = {}

    @property
    def nonce(self) -> str:
        return self._session.nonce if self._session else ""

    @property
    def run_folder(self) -> str:
        """Where the files of this boot are; "" when they cannot be kept."""
        return self._session.folder if self._session else ""

    def rule(self) -> Policy:
        """The node's policy, or why nothing but looking is allowed now."""
        reasons = self.reasons()
        return Policy("observe", why=reasons[0]) if reasons else policy.load(self._policy_path)

    def reasons(self) -> tuple[str, ...]:
        """Everything that keeps this agent from changing anything."""
        lacks = () if self._session else ("The folder for files of this boot cannot be written. `slotlight-agent doctor` shows more.",)
        return (*lacks, *_reasons(self.identity, self._journal, self.log, self._unwritten))

    def compare_journal(self) -> None:
        """Hold when the journal is not the one that was written last on this boot, or not the one this agent enrolled with.

        Asked before the journal is written for the first time, because writing moves the stamp.
        """
        if self._journal.broken:
            return
        generation, height = self._journal.height()
        stamp = self._session.read_stamp() if self._session else None
        if stamp is not None and stamp[0] == generation and stamp[1] > height:
            self._restored(f"it was written {stamp[1]} times and this one only {height} times")
        elif stamp is not None and stamp[0] != generation:
            self._restored("it is another one than was written last")
        elif self.identity.journal not in ("", self._journal.text("first_generation") or generation):
            self._restored("it is not the one that was made when this agent was enrolled")

    def take_journal(self, reply: object) -> None:
        """The portal's answer says how far this agent's journal had come when it last reported."""
        generation, _, height = str(reply).partition(":")
        if self._journal.broken or not height.isdigit() or self._journal.text(f"past {generation}"):
            return
        mine = self._journal.height()
        if generation != mine[0]:
            self._restored("it is another one than this agent last reported from")
            self._journal.keep("portal_generation", generation)
        elif int(height) > mine[1]:
            self._restored(f"the portal knows of {height} writes and this one has {mine[1]}")

    def accept_journal(self) -> None:
        """A person has looked: go on with the journal as it is. Every order that was sealed before now is void."""
        generation, _ = self._journal.height()
        stamp = self._session.read_stamp() if self._session else None
        self._journal.keep("first_generation", self._journal.text("first_generation") or self.identity.journal or generation)
        for past in {generation, self.identity.journal, self._journal.text("portal_generation"), stamp[0] if stamp else ""} - {""}:
            self._journal.keep(f"past {past}", iso(self._host.now()))
        self._journal.begin_generation()
        self._journal.release(RESTORED)
        if self._session is not None:
            self._session.renew()

    def _restored(self, why: str) -> None:
        reason = f"The journal was put back or replaced: {why}. What ran since is not known here."
        do = "Compare with the portal's runs, then `slotlight-agent journal --accept`."
        self.hold(RESTORED, f"{reason} {do}")

    def take_reply(self, reply: Reply) -> None:
        """What an answer says of this agent: that another machine has its key, or how far its journal had come."""
        if reply.status == 409 and reply.value.get("duplicate") is True:
            self.duplicate(reply.reason)
        elif "journal" in reply.value:
            try:
                self.take_journal(reply.value["journal"])
            except JournalError as error:
                log.error("%s Its height cannot be compared with the one that the portal has.", error)

    def duplicate(self, reason: str) -> None:
        """The portal hears this agent's key from two machines. The key is in the hold's name: with another key it is over."""
        do = f"Remove the copy, then enrol this node again: `slotlight-agent enrol --again` with a new token. Key {self.identity.key_id}."
        self.hold(f"{DUPLICATE} {self.identity.key_id}", f"Two machines use this agent's key. {reason} {do}")

    def stolen(self, counter: int) -> None:
        """The portal took a request counter from this agent's key that this agent never gave."""
        self.duplicate(
            f"The portal accepted the counter {counter} under this key, and this agent never gave that number: another machine has the key."
        )

    def hold(self, name: str, reason: str) -> None:
        """For ever, or until a person releases it. Where it cannot be written, it is so until the agent ends."""
        if name in self._unwritten or name in self._held():
            return
        log.critical("%s", reason)
        try:
            self._journal.hold(name, reason, iso(self._host.now()))
        except JournalError as error:
            log.error("%s The hold is not remembered.", error)
            self._unwritten[name] = reason

    def _held(self) -> dict[str, str]:
        """Every hold by its name."""
        try:
            return {**self._unwritten, **self._journal.holds()}
        except JournalError:
            return self._unwritten

    def follow(self, identity: Identity) -> None:
        """The portal's keys are others from now on."""
        self.identity = identity
        self.log.follow(identity)

    def signed(self, order: Order) -> str:
        """What is wrong with the order's signature; "" when the pinned key made it."""
        if not self.identity.can_check:
            return UNSIGNED
        if not order.signature:
            return "The order is not signed. Update the portal."
        if order.key != self.identity.portal_key_id:
            return f"The order is signed with the key {order.key or 'without a name'}; this agent trusts {self.identity.portal_key_id}."
        wrong = order_signature.against(self._host, self.identity.portal_key, order.signature, order.canonical.encode("utf-8"))
        return f"The order is refused for its signature. {wrong}" if wrong else ""

    def backed(self, order: Order) -> str:
        """What is missing behind the order in the ledger; "" when nothing is."""
        if self.log.why_observe_only:
            return self.log.why_observe_only
        return approval_proof.check(order, self.log.believed, policy.load(self._policy_path))

    def fields(self) -> dict[str, Any]:
        """What every report says of this agent, beside what it saw."""
        status = {"nonce": self.nonce} if self.nonce else {}
        reasons = self.reasons()
        try:
            if not self._journal.broken:
                status["journal"] = "{}:{}".format(*self._journal.height())
        except JournalError:
            pass  # that is then one of the reasons
        return {**status, "held": " ".join(reasons)} if reasons else status


def holds(host: Host, identity: Identity, journal: Journal, folder: str) -> tuple[str, ...]:
    """The same, but for the session, for a reader that changes nothing."""
    return _reasons(identity, journal, Log(host, folder, identity), {})


def _reasons(identity: Identity, journal: Journal, log: Log, unwritten: Mapping[str, str]) -> tuple[str, ...]:
    found = [log.why_observe_only] if log.why_observe_only else []  # the worst first: who reads one, reads that
    found += [] if identity.can_check else [UNSIGNED]
    if journal.broken:
        return (*found, journal.broken)
    try:
        held = {**unwritten, **journal.holds()}
    except JournalError as error:
        return (*found, str(error))
    # A hold that names a key is over with that key.
    return (*found, *(why for name, why in held.items() if name.partition(" ")[2] in ("", identity.key_id)))


def open_session(host: Host, folder: str, home: str) -> Optional[Session]:
    """None where it cannot be kept."""
    try:
        return Session(folder, home, boot_id(host))
    except OSError:
        return None
