"""The cast of these tests: ann asks, bob approves, eve helps, and oss01 is the demo's node, played by its twin.

The node's side is the agent's own code; only the wire is left out: its portal calls `app.runs.ordering.orders` directly.
"""

import base64
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from django.db import connection
from django.utils import timezone

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.orders.executor import Executor, read_order, send
from agents.orders.journal import Journal
from agents.orders.order import Order
from agents.orders.write_permission import Standing, open_session
from agents.portal.transport import Reply
from agents.trust.identity import Identity
from app.accounts.models import Team, User
from app.fleet.ingest import intake
from app.fleet.models import Node, Situation
from app.fleet.tests import cast as fleet
from app.ledger import services as ledger
from app.nodes import keys, sessions
from app.runs import services
from app.runs.models import Run
from app.runs.ordering import orders
from app.runs.ordering.order_envelope import log
from twin import demo
from twin.host import TwinHost
from twin.model import Knobs
from workflows.engine import events as ev
from workflows.rehearsal import tryout

KEY = bytes(range(32))
RUNBOOK = "wwid-mismatch-replace"
BLANK = f"naa:{demo.BLANK_WWN}"
SDCW, SDFL = f"naa:{demo.SDCW_WWN}", f"naa:{demo.SDFL_WWN}"
PHRASE = "581455 ost_0"
RESILVER_SECONDS = 0.2
HANDS = 4


def person(name: str, role: str) -> User:
    user = User.objects.create_user(name)
    user.memberships.create(role=role)
    return user


def to_team(user: User, team: Team | None) -> None:
    """Every role of this person is one in that team from now on."""
    for held in user.memberships.all():
        held.team = team
        held.save()


class Played:
    """A node played by its twin, enrolled and allowed to do what `operations` says."""

    def __init__(self, folder: Path, name: str, state: Path, operations: tuple[str, ...]) -> None:
        self.name, self.state, self.host = name, state, TwinHost(state)
        policy = folder / "policy.json"
        policy.write_text(json.dumps({"mode": "operate", "operations": list(operations), "pools": ["*"]}))
        token = keys.issue_token(self.name, "test")
        key = keys.enrol({"token": token, "node": self.name, "key": base64.b64encode(KEY).decode()}, timezone.now())
        self.node = Node.objects.get(name=self.name)
        identity = Identity("http://127.0.0.1", self.name, KEY, **ledger.public_keys())
        self.journal = Journal(str(folder / "journal.sqlite"))
        session = open_session(self.host, str(folder / "run"), str(folder))
        self.standing = Standing(self.host, identity, self.journal, session, str(folder), str(policy))
        self.executor = Executor(self.host, identity, self.journal, self, str(folder), str(policy), self.standing)
        assert sessions.report_received(key.pk, self.standing.nonce, timezone.now()) == ""

    def captures(self) -> list[Capture]:
        return [capture for module in COLLECTORS.values() for capture in module.collect(self.host)]

    def report(self) -> None:
        captures = self.captures()
        payload = fleet.payload(self.name, captures, boot_id="boot", version="0", mode="operate")
        assert intake.receive(self.name, payload, timezone.now()) == []

    def ask(self, method: str, path: str, value: dict | str) -> Reply:
        """What the executor takes for its portal."""
        body = json.loads(value) if isinstance(value, str) else value
        order_id, word = path.split("/")[-2:]
        go = {
            "receipt": lambda: orders.receipt(self.name, order_id, body),
            "claim": lambda: orders.claim(self.name, order_id, body["digest"], body.get("approvals")),
            "start": lambda: orders.start(self.name, order_id, body["digest"]),
        }
        reason = go[word]()
        return Reply(409, {"reason": reason}) if reason else Reply(200, {"go": True})

    def offered(self) -> list[Order]:
        found = offers(self.name)
        self.standing.log.hear(log(found, self.standing.log.size))
        return [read_order(offer, lambda *why: None) for offer in found]

    def work(self) -> int:
        """Carry out every order on offer, as the agent's loop does; returns how many."""
        offered = self.offered()
        for order in offered:
            if order.effect == "pure":
                text, _ = self.executor.pure(order)
                assert send(self, order.id, text)
            else:
                self.executor.handle(order)
        for entry in self.journal.unsent():
            assert send(self, entry.order_id, entry.receipt)
            self.journal.acknowledge(entry.order_id)
        return len(offered)

    def commands(self) -> list[list[str]]:
        """Every command that could change the node, as it was given to it."""
        return [line["argv"] for line in self.host.store.logged()]


class Oss01(Played):
    """The node of the incident."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "oss01", _state(folder), ("zpool_replace",))


def try_out(folder: Path, scenario: str) -> Played:
    """The node that needs this runbook, having reported once."""
    state = tryout.make(folder / "twin", scenario, time.time())
    node = Played(folder, tryout.node_name(scenario), state, demo.WRITING)
    with node.host.store.changing() as twin:
        twin.knobs = Knobs(replace_seconds=0.0, resilver_seconds=RESILVER_SECONDS)
    node.report()
    return node


def _state(folder: Path) -> Path:
    return demo.make_one(folder / "twin", "oss01", time.time(), Knobs(replace_seconds=0.0, resilver_seconds=RESILVER_SECONDS))


def offers(node: str = "oss01") -> list[dict]:
    """What the node is offered. A test that is rolled back never commits, so what the ledger does at COMMIT is done here."""
    if connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ledger_event_seal IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ledger_event_seal DEFERRED")
    return orders.next_for(node)


def incident() -> Situation:
    return Situation.objects.get(slug="wwid-mismatch", closed_at__isnull=True)


def begin(user: User) -> Run:
    found = incident()
    return services.start_run(user, RUNBOOK, found.data["answers"][0]["params"], found.key)


def act(run: Run, kind: type[ev.Event], user: User, **fields) -> Run:
    """An act on the page as it is now, by somebody who has just typed the password."""
    run.refresh_from_db()
    return services.act(run.pk, run.version, kind, user, **{"proved_at": timezone.now(), **fields})


def walk_to(step: str, oss01: Oss01, ann: User, bob: User) -> Run:
    """A run that stands open at `step`."""
    run = begin(ann)
    moves = {
        "choose": lambda: act(run, ev.Chosen, ann, value=BLANK),
        "check": lambda: act(run, ev.CheckAsked, ann),
        "plan": lambda: (act(run, ev.PlanAsked, ann), oss01.work()),
        "confirm": lambda: act(run, ev.Confirmed, ann, text=PHRASE),
        "approve": lambda: act(run, ev.Approved, bob, plan_digest=run.here.plan_digest),
        "replace": lambda: act(run, ev.ExecuteAsked, ann),
    }
    for here, move in moves.items():
        run.refresh_from_db()
        assert (run.step, run.status) == (here, "open"), run.here.note
        if here == step:
            break
        move()
    run.refresh_from_db()
    return run


def at_once(*whats) -> list:
    """What each of several threads got, or which refusal; all start together. One thing is done by several hands."""
    tasks = whats * HANDS if len(whats) == 1 else whats
    barrier = Barrier(len(tasks))

    def hand(what):
        try:
            barrier.wait()
            return what()
        except services.RunRefused as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return [future.result() for future in [pool.submit(hand, what) for what in tasks]]
