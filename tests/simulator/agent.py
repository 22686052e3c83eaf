"""A node's agent in the simulation: the real executor and the real journal, on a network that loses, repeats and delays.

It dies where luck says so: at every failpoint, around every write of the journal, around every word to the portal and
while the command runs. What it leaves behind is what is on its disk.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from agents.operations import OPERATIONS
from agents.orders.executor import Executor, read_order, send, try_to_send
from agents.orders.journal import Journal, JournalError
from agents.orders.order import Order
from agents.orders.session import Session
from agents.orders.write_permission import Standing
from agents.portal.transport import PortalDown, Reply
from agents.trust.identity import Identity
from agents.trust.transparency_log import Checkpoint
from app.ledger import merkle
from tests.simulator.portal import PortalDied
from tests.simulator.world import Given, SimHost

DIES = 0.03  # at each place where it can
LOST, TWICE, LATE, ANSWER_LOST, SLOW = 0.06, 0.05, 0.04, 0.05, 0.25


def note(size: int, root: bytes) -> str:
    return f"{size} {root.hex()}"


class Killed(BaseException):
    """kill -9. Nothing in the agent may catch it."""


class SimJournal(Journal):
    """The real one, on a disk that can be full, of an agent that can die before and after every commit."""

    def __init__(self, agent: Agent, session: Session) -> None:
        self.agent = agent
        super().__init__(str(agent.path), session.write_stamp)

    def _write(self, *statements) -> None:
        what = sys._getframe(1).f_code.co_name  # claim, intend, result, ...
        self.agent.may_die(f"before it writes “{what}” into its journal")
        if self.agent.disk_full:
            raise JournalError("The journal could not be written: the disk is full.")
        super()._write(*statements)
        self.agent.may_die(f"after it wrote “{what}” into its journal")


class SimStanding(Standing):
    """The real one, where nobody can forge a signature and the witness is the simulation's."""

    def __init__(self, agent: Agent, journal: Journal, session: Session) -> None:
        self._host, self._journal, self._session, self._policy_path = agent.host, journal, session, str(agent.sim.shared / "policy.json")
        self.identity, self.log, self._unwritten = agent.identity, agent, {}

    def signed(self, order: Order) -> str:
        return ""


class Agent:
    """One process after another on one node. What `Executor` takes for its portal is this object."""

    def __init__(self, sim, node: str, key: bytes, folder: Path) -> None:
        self.sim, self.node = sim, node
        self.identity = Identity("http://127.0.0.1", node, key, portal_key="pinned", log_key="pinned")
        self.folder, self.path = folder, folder / f"{node}.sqlite"
        self.host = SimHost(sim.world, node, self)
        self.alive = self.disk_full = False
        self.inbox: list[dict] = []
        self.not_taken: set[str] = set()
        self.seen: tuple[int, bytes] = (0, merkle.EMPTY)  # the newest checkpoint, as a witness keeps it
        self.notes: dict[str, Checkpoint] = {}  # every one it accepted
        self.why_observe_only = ""  # what the witness holds against the portal
        self.forgot = False  # an older journal was put back

    # --- life

    def start(self) -> None:
        if self.alive:
            return
        self.inbox, self.not_taken, self.alive = [], set(), True
        self.sim.log(f"{self.node}: the agent starts")
        self.guarded(self._open)

    def _open(self) -> None:
        self.session = Session(str(self.folder / f"{self.node}-run"), str(self.folder / self.node), "boot")
        self.journal = SimJournal(self, self.session)
        self.standing = SimStanding(self, self.journal, self.session)
        self.standing.compare_journal()
        policy = str(self.sim.shared / "policy.json")
        self.executor = Executor(self.host, self.identity, self.journal, self, str(self.folder), policy, self.standing)
        self.executor.recover()

    @property
    def nonce(self) -> str:
        """What the portal has heard of this stay of the node."""
        return self.session.nonce if hasattr(self, "session") else ""

    def is_looked_after(self) -> None:
        """A person came, looked, and lets it go on."""
        if self.why_observe_only:
            self.why_observe_only, self.seen = "", self.sim.portal.checkpoint()
        if self.alive and self.standing.reasons():
            self.standing.accept_journal()

    def guarded(self, what) -> None:
        """`what`, and the end of the process if it ends there."""
        if not self.alive:
            return
        outer, self.sim.acting = self.sim.acting, self
        try:
            what()
        except Killed as killed:
            self.sim.log(f"{self.node}: the agent is killed {killed}")
            self.sim.seen[f"killed {killed}"] += 1
            self.die()
        except JournalError as error:
            self.sim.log(f"{self.node}: the agent stops: {error}")
            self.die()
        finally:
            self.sim.acting = outer

    def die(self) -> None:
        self.alive = False
        if hasattr(self, "journal"):
            self.journal.close()

    def may_die(self, where: str, odds: float = DIES) -> None:
        if self.sim.agent_dies(where, odds):
            raise Killed(where)

    def chance(self, odds: float) -> bool:
        return self.sim.luck(odds)

    def command_given(self, command: Given) -> None:
        self.sim.command_given(self, command)

    def back_up(self) -> None:
        if self.path.exists() and not self.alive:
            shutil.copy(self.path, self.path.with_suffix(".backup"))

    def restore(self) -> None:
        """Somebody puts yesterday's journal back."""
        backup = self.path.with_suffix(".backup")
        if backup.exists() and not self.alive:
            for left in self.folder.glob(f"{self.path.name}-*"):
                left.unlink()
            shutil.copy(backup, self.path)
            self.forgot = True
            self.sim.log(f"{self.node}: an older journal is put back")

    # --- the wire

    def ask(self, method: str, path: str, value: dict | str) -> Reply:
        """What the executor and `send` take for the portal."""
        body = json.loads(value) if isinstance(value, str) else value
        order_id, word = path.split("/")[-2:]
        self.may_die(f"before it says {word}")
        if self.chance(LOST):
            raise PortalDown(f"the {word} was lost")
        if self.chance(LATE):
            self.sim.late.append((self.node, order_id, word, body))
            raise PortalDown(f"the {word} is late")
        reason = self._answer(order_id, word, body)
        if self.chance(TWICE):
            self._answer(order_id, word, body)
        if self.chance(SLOW):
            self.sim.meanwhile()
        self.may_die(f"after it said {word}")
        if self.chance(ANSWER_LOST):
            raise PortalDown("the answer was lost")
        self.sim.log(f"{self.node}: {word} {order_id} -> {reason or 'go'}")
        return Reply(409, {"reason": reason}) if reason else Reply(200, {"go": True})

    def _answer(self, order_id: str, word: str, body: dict) -> str:
        try:
            return self.sim.received_by_portal(self.node, order_id, word, body)
        except PortalDied as died:
            raise PortalDown(str(died)) from died

    # --- work

    def poll(self) -> None:
        if self.chance(LOST):
            return
        try:
            offers = self.sim.portal.next_for(self.node)
        except PortalDied:
            return
        self._witness(*self.sim.portal.checkpoint())
        if not self.chance(ANSWER_LOST):
            proved = [{**offer, "proofs": self.sim.proofs(offer)} for offer in offers]
            self.inbox += proved * (2 if self.chance(TWICE) else 1)

    def _witness(self, size: int, root: bytes) -> None:
        """Keep the newest checkpoint that continues the one kept before; anything else is an alarm that stays."""
        before, kept = self.seen
        if self.why_observe_only:
            return
        if size < before or self.sim.portal.root(before) != kept:
            self.why_observe_only = f"The portal's ledger of {size} events does not continue the one of {before} it showed before."
            self.sim.log(f"{self.node}: {self.why_observe_only}")
            self.sim.seen["alarm"] += 1
            self.notes.clear()
        else:
            self.seen = (size, root)
            self.notes[note(size, root)] = Checkpoint("sim", size, root, "", ())

    def believed(self, note: str) -> Checkpoint | None:
        return self.notes.get(note)

    def work(self, at: int) -> None:
        """Take one order out of the inbox, not always the oldest, and see it through."""
        if not self.inbox:
            return
        offer = self.inbox.pop(at % len(self.inbox))
        order = read_order(offer, lambda *why: None)
        if order is None:
            self.sim.broken(f"{self.node} cannot read an order of its portal: {offer['order']}")
        if OPERATIONS[order.operation].EFFECT == "pure":
            text, _ = self.executor.pure(order)
            try_to_send(self, order.id, text)
            return
        self.host.order, self.host.fence = order.id, int(order.fence)
        self.executor.handle(order)

    def send_receipts(self) -> None:
        for entry in self.journal.unsent():
            if entry.order_id in self.not_taken:
                continue
            try:
                if send(self, entry.order_id, entry.receipt):
                    self.journal.acknowledge(entry.order_id)
                else:
                    self.not_taken.add(entry.order_id)
            except PortalDown:
                return
