"""One node, its executor, and a portal that says go: where tests of the executor play."""

from __future__ import annotations

import json
import os

from agents.orders import order as orders
from agents.orders.executor import Executor
from agents.orders.journal import Journal
from agents.orders.write_permission import Standing, open_session
from agents.portal.transport import Reply
from agents.tests import rig


class Portal:
    """Answers claim and start; what it was asked stands in `asked`."""

    def __init__(self):
        self.asked = []
        self.replies = {}
        self.on = {}

    def ask(self, method, path, value=None, **_):
        word = path.rsplit("/", 1)[1]
        self.asked.append((word, json.loads(value) if isinstance(value, str) else value))
        self.on.get(word, lambda: None)()
        reply = self.replies.get(word, Reply(200, {"go": True}))
        if isinstance(reply, Exception):
            raise reply
        return reply


class Stage:
    """One node, its executor, and a portal that says go."""

    def __init__(self, folder):
        self.folder = str(rig.agent_folder(folder / "agent", "http://127.0.0.1:1"))
        self.host = rig.twin(folder)
        self.journal = Journal(os.path.join(self.folder, "journal.sqlite"))
        self.portal, self.ledger = Portal(), rig.Ledger(rig.keys())
        self.executor = self.new_executor()

    def new_executor(self):
        policy_path = os.path.join(self.folder, "policy.json")
        session = open_session(self.host, os.path.join(self.folder, "run"), self.folder)
        self.standing = Standing(self.host, rig.identity(), self.journal, session, self.folder, policy_path)
        return Executor(self.host, rig.identity(), self.journal, self.portal, self.folder, policy_path, self.standing)

    def order(self, sealed):
        """As it comes from the portal, with the ledger's newest checkpoint."""
        offer = self.ledger.offer(sealed)
        self.standing.log.hear(self.ledger.log(self.standing.log.size))
        return orders.read_offer(offer)

    def do(self, sealed=None, **fields):
        """Hand over a replace; the receipt as the journal has it."""
        return self.take(self.order(sealed or rig.replace_order(self.host, **fields)))

    def take(self, order):
        self.executor.handle(order)
        return json.loads(self.journal.find(order.id).receipt)

    @property
    def ran(self):
        return rig.replaces(self.host)

    def change(self, do):
        with self.host.store.changing() as node:
            do(node)
