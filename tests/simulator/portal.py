"""The portal as a model: its tables are values, a transaction is all or nothing, and it can die before or after it commits.

What happens next in a run is decided by the real `workflows.engine.decide`. The rest repeats `app.runs` in small (its services,
applying, orders and locks), so that ten thousand schedules take minutes; `tests/simulator/test_on_postgresql.py` sends
the same kind of schedule through the real thing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import SimpleNamespace

from agents.domain.times import iso
from agents.orders import order as agent_orders
from agents.portal.wire import canonical, sha256_hex
from app.ledger import merkle
from tests.simulator import swap
from workflows.engine import events as ev
from workflows.engine.decide import Decision, decide
from workflows.engine.state import ENDED, ORDER_IS_OUT, ORDER_MOVES, PURE_ORDER_MOVES, RunState
from workflows.facts import FleetFacts

read, leaf = lru_cache(4096)(json.loads), lru_cache(4096)(merkle.leaf_hash)
PURE_SECONDS, ORDER_SECONDS, SILENCE_SECONDS = 90, 300, 120
POOLS_IN_REPAIR_MAX = 2
BOOK = swap.RUNBOOK
JUDGING = (ev.Approved, ev.Denied)


class PortalDied(Exception):
    """The process ended in the middle. Whoever asked got no answer."""


class Held(Exception):
    """Somebody else holds what this run needs."""


@dataclass(frozen=True)
class Run:
    id: str
    state: RunState
    version: int = 1

    @property
    def node(self) -> str:
        return self.state.params["node"]

    @property
    def ended(self) -> bool:
        return self.state.status in ENDED


@dataclass(frozen=True)
class Order:
    id: str
    node: str
    run: str
    number: int
    operation: str
    effect: str
    plan: str
    fence: int
    sealed_by: str
    sealed_at: float
    expires_at: float
    canonical: str = ""
    digest: str = ""
    status: str = "SEALED"
    reason: str = ""
    started_at: float = 0.0
    receipt: str = ""


@dataclass
class Tables:
    runs: dict[str, Run] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    locks: dict[str, tuple[str, int]] = field(default_factory=dict)  # key -> (run, fence)
    approvals: tuple[tuple[str, str], ...] = ()  # (plan, person)
    reports: dict[str, tuple[int, float, str]] = field(default_factory=dict)  # node -> (its count, when, what it said of its pools)
    ledger: tuple[bytes, ...] = ()
    fence: int = 0

    def copy(self) -> Tables:
        return Tables(**{name: dict(value) if isinstance(value, dict) else value for name, value in vars(self).items()})


class Portal:
    """`sim` gives the clock, the luck and the list of who may do what."""

    def __init__(self, sim, keys: dict[str, str]) -> None:
        self.sim, self.keys = sim, keys
        self.tables = Tables()
        self.numbers = 0  # ids are random in truth: a database that is put back gives none a second time
        self.known = 0  # how much of the ledger the account has heard of

    @property
    def now(self) -> float:
        return self.sim.world.clock + self.sim.portal_skew

    @contextmanager
    def transaction(self) -> Iterator[Tables]:
        before = self.tables.copy()
        try:
            yield self.tables
            self.sim.portal_may_die("before it commits")
        except BaseException:
            self.tables = before
            raise
        self.sim.committed()
        self.sim.portal_may_die("after it committed")

    def record(self, type: str, actor: str, **body) -> None:
        run = body.get("run") or (self.tables.orders[body["order"]].run if "order" in body else "")
        node = self.tables.runs[run].node if run in self.tables.runs else ""
        fields = {"at": iso(self.now), "actor": actor, "type": type, "run": run, "node": node, "body": body}
        self.tables.ledger += (canonical(fields),)

    def facts(self, node: str) -> FleetFacts:
        if node not in self.tables.reports:
            return FleetFacts({})
        _, at, text = self.tables.reports[node]
        return swap.facts(node, text, self.now - at)

    # --- people

    def begin(self, person: str, params: dict[str, str]) -> str:
        with self.transaction() as tables:
            if not self.sim.may(person, "operate"):
                return f"{person} may not do this."
            if any(run.state.params["vdev_guid"] == params["vdev_guid"] and not run.ended for run in tables.runs.values()):
                return "There is a run for this already."
            run = Run(self._number("run"), RunState(params=params, requester=person))
            return self._apply(run, ev.Start(at=self.now, by=person), person)

    def act(self, person: str, run_id: str, version: int, kind: type[ev.Event], **fields) -> str:
        """ "" when it was done, else why not."""
        with self.transaction() as tables:
            run = tables.runs[run_id]
            if not self.sim.may(person, "approve" if kind in JUDGING else "operate"):
                return f"{person} may not do this."
            if run.version != version:
                return "This run has moved on since you loaded the page. Read its present state."
            if kind is ev.ExecuteAsked and (lost := [p for d, p in tables.approvals if d == run.state.plan_digest and not self._judge(p)]):
                return f"{' and '.join(lost)} may not approve any more. Ask for a new plan and another approval."
            return self._try(run, self._event(kind, run, person, fields), person)

    def take_over(self, person: str, run_id: str) -> str:
        """A person takes away what a run holds. Not while its command may be running: nobody could say what became of it."""
        with self.transaction() as tables:
            if not self.sim.may(person, "operate"):
                return f"{person} may not do this."
            out = [o for o in tables.orders.values() if o.run == run_id and o.effect != "pure" and o.status in ORDER_IS_OUT]
            for order in out:
                if order.status in ("STARTED", "UNKNOWN"):
                    return "Its command may be running. What becomes of it must be known first."
                self._move(order, "REFUSED", person, f"{person} took over what the run held.")
            self.record("run.taken-over", person, run=run_id)
        return ""

    def _judge(self, person: str) -> bool:
        return self.sim.may(person, "approve")

    def _event(self, kind, run: Run, by: str, fields: dict) -> ev.Event:
        if "facts" in kind.__dataclass_fields__ and "facts" not in fields:
            fields = {**fields, "facts": self.facts(run.node)}
        return kind(at=self.now, by=by, **fields)

    def _try(self, run: Run, event: ev.Event, actor: str) -> str:
        before = self.tables.copy()
        try:
            return self._apply(run, event, actor)
        except Held as held:
            self.tables = before
            return str(held)

    def _tell(self, run_id: str, kind, actor: str, **fields) -> str:
        run = self.tables.runs.get(run_id)
        return self._try(run, self._event(kind, run, "", fields), actor) if run is not None else ""

    # --- what a decision asks for

    def _apply(self, run: Run, event: ev.Event, actor: str) -> str:
        outcome = decide(BOOK, run.state, event)
        if not isinstance(outcome, Decision):
            return outcome.reason
        before, after = run.state, outcome.state
        self.tables.approvals += tuple((a.plan_digest, a.by) for a in after.approvals if a not in before.approvals)
        records: list[ev.Record] = []
        fence = 0
        for effect in outcome.effects:
            if isinstance(effect, ev.Lock):
                fence = self._take(run, effect.keys)
            elif isinstance(effect, ev.Unlock):
                self.tables.locks = {key: held for key, held in self.tables.locks.items() if held[0] != run.id}
            elif isinstance(effect, ev.Seal):
                records.append(self._execute(run, effect, fence, event.by))
            elif isinstance(effect, ev.AskNode):
                records.append(self._ask(run, effect))
            elif isinstance(effect, ev.Record):
                records.append(effect)
        moved = _decided_on(after) != _decided_on(before)
        self.tables.runs[run.id] = replace(run, state=after, version=run.version + moved)
        for record in records:
            self.record(record.type, actor or "portal", run=run.id, **record.body)
        return ""

    def _take(self, run: Run, keys: tuple[str, ...]) -> int:
        for key in keys:
            if key in self.tables.locks and self.tables.locks[key][0] != run.id:
                raise Held(f"Run {self.tables.locks[key][0]} holds {key}. Wait until it has ended.")
        busy = {key for key in self.tables.locks if key.startswith("pool:")} - set(keys)
        if len(busy) >= POOLS_IN_REPAIR_MAX:
            raise Held("As many pools are in repair as are allowed at once. Wait until one is done.")
        self.tables.fence += 1
        self.tables.locks |= dict.fromkeys(keys, (run.id, self.tables.fence))
        return self.tables.fence

    def _ask(self, run: Run, effect: ev.AskNode) -> ev.Record:
        fields = {"operation": effect.operation, "effect": "pure", "params": dict(effect.params)}
        return self._seal(run, fields, PURE_SECONDS, number=effect.number)

    def _execute(self, run: Run, effect: ev.Seal, fence: int, person: str) -> ev.Record:
        fields = {"operation": effect.operation, "effect": effect.effect, "params": dict(effect.params), "argv": list(effect.argv)}
        fields |= {"preconditions": dict(effect.preconditions), "plan_digest": effect.plan_digest}
        fields["approvals"] = [merkle.leaf_hash(self.tables.ledger[i]).hex() for i in self.approved_at(effect.plan_digest)]
        return self._seal(run, fields, ORDER_SECONDS, plan=effect.plan_digest, fence=fence, sealed_by=person)

    def _seal(
        self, run: Run, fields: dict, seconds: int, number: int = 0, plan: str = "", fence: int = 0, sealed_by: str = ""
    ) -> ev.Record:
        until = self.now + seconds
        row = Order(
            self._number("o"), run.node, run.id, number, fields["operation"], fields["effect"], plan, fence, sealed_by, self.now, until
        )
        full = {"v": "1", "id": row.id, "node": run.node, "key_id": self.keys[run.node], "run": run.id, "step": run.state.step}
        full |= {"argv": [], "plan_digest": "", "preconditions": {}, "fence": str(fence), "approvals": []}
        full["nonce"] = self.sim.agents[run.node].nonce if fields["effect"] != "pure" else ""
        full |= {"sealed_at": iso(self.now), "not_before": iso(self.now), "expires_at": iso(until), **fields}
        text = canonical({name: value for name, value in full.items() if name in agent_orders.FIELDS})
        self.tables.orders[row.id] = replace(row, canonical=text.decode(), digest=sha256_hex(text))
        return ev.Record("order.sealed", {"order": row.id, "digest": sha256_hex(text), "plan_digest": plan})

    def _number(self, kind: str) -> str:
        self.numbers += 1
        return f"{kind}{self.numbers}"

    # --- what the agent asks

    def next_for(self, node: str) -> list[dict[str, str]]:
        with self.transaction() as tables:
            found = [o for o in tables.orders.values() if o.node == node and o.status in ("SEALED", "OFFERED") and o.expires_at > self.now]
            offers = []
            for order in found:
                if why := self._not_allowed(order):
                    self._move(order, "REFUSED", "portal", why)
                    continue
                if order.status == "SEALED":
                    self._move(order, "OFFERED", "portal")
                offers.append({"order": order.canonical, "digest": order.digest})
        return offers

    def go(self, node: str, order_id: str, digest: str, word: str) -> str:
        status = {"claim": "CLAIMED", "start": "STARTED"}[word]
        with self.transaction() as tables:
            order = tables.orders.get(order_id)
            if order is None or (order.node, order.digest) != (node, digest):
                return f"The portal has sealed no such order for {node}."
            if order.status == status:
                return ""
            if status not in ORDER_MOVES[order.status] or order.effect == "pure":
                return f"The order is {order.status}. {order.reason}"
            if order.expires_at <= self.now:
                self._move(order, "EXPIRED", "portal", "It was not started in time.")
                return "The order expired."
            if why := self._not_allowed(order):
                self._move(order, "REFUSED", "portal", why)
                return why
            self._move(replace(order, started_at=self.now if status == "STARTED" else 0.0), status, node)
        return ""

    def _not_allowed(self, order: Order) -> str:
        if order.effect == "pure":
            return ""
        if not self.sim.may(order.sealed_by, "operate"):
            return f"{order.sealed_by} may not operate any more."
        judges = [person for plan, person in self.tables.approvals if plan == order.plan and person != order.sealed_by]
        if not judges or not all(map(self._judge, judges)):
            return "Who approved this plan may not approve any more."
        if (order.run, order.fence) not in self.tables.locks.values():
            return "The run does not hold the pool any more."
        return ""

    def receipt(self, node: str, order_id: str, body: dict) -> str:
        raw = sha256_hex(canonical(body))
        with self.transaction() as tables:
            order = tables.orders.get(order_id)
            if order is None or order.node != node or body.get("digest") != order.digest:
                return f"The portal has sealed no such order for {node}."
            if order.receipt == raw:
                return ""
            if order.receipt:
                self.record("order.second-receipt", node, order=order_id, receipt=raw)
                return "This order has another receipt already. Both are kept; a person must look at them."
            self._take_receipt(replace(order, receipt=raw), body)
        return ""

    def _take_receipt(self, order: Order, body: dict) -> None:
        self.tables.orders[order.id] = order
        evidence = tuple(sorted(capture["digest"] for capture in body["captures"]))
        for capture in body["captures"]:
            self._hear(order.node, self.sim.count(), body["bodies"][capture["digest"]]["text"], self.now)
        probe = (body["probe"] or {}).get("result", "")
        status = {"succeeded": "SUCCEEDED", "failed": "FAILED", "refused": "REFUSED", "unknown": "UNKNOWN"}[body["outcome"]]
        if order.effect == "pure" and status == "UNKNOWN":
            status = "FAILED"
        if order.effect != "pure" and body["outcome"] == "failed" and probe in ("did", "cannot_tell"):
            status = "UNKNOWN"
        moves = PURE_ORDER_MOVES if order.effect == "pure" else ORDER_MOVES
        turn = "order.receipt" if status == order.status or status in moves[order.status] else "order.receipt-out-of-turn"
        self.record(turn, order.node, order=order.id, outcome=body["outcome"], stands=order.status)
        if turn == "order.receipt":
            self._move(order, status, order.node, body["reason"], SimpleNamespace(probe=probe, evidence=evidence, result=body["result"]))

    def report(self, node: str, count: int, text: str, taken_at: float) -> None:
        with self.transaction():
            self._hear(node, count, text, taken_at)

    def _hear(self, node: str, count: int, text: str, at: float) -> None:
        """The newest thing a node said, by the node's own count; what comes late is not news."""
        if self.tables.reports.get(node, (-1,))[0] <= count:
            self.tables.reports[node] = (count, at, text)

    # --- what time does

    def sweep(self) -> None:
        for order in tuple(self.tables.orders.values()):
            with self.transaction():
                if order.status in ("SEALED", "OFFERED", "CLAIMED") and order.expires_at <= self.now:
                    self._move(order, "EXPIRED", "portal", f"{order.node} did not start it in time.")
                elif order.status == "STARTED" and self.now - order.started_at > swap.OPERATION.TIMEOUT_SECONDS + SILENCE_SECONDS:
                    self._move(order, "UNKNOWN", "portal", f"{order.node} has not reported how it ended.")

    def tick(self, run_id: str) -> None:
        with self.transaction() as tables:
            if run_id in tables.runs and tables.runs[run_id].state.status == "waiting":
                self._tell(run_id, ev.FactsArrived, "portal")

    def _move(self, order: Order, status: str, actor: str, reason: str = "", receipt=None) -> None:
        self.tables.orders[order.id] = replace(order, status=status, reason=reason)
        self.record("order.moved", actor, order=order.id, before=order.status, after=status)
        if order.effect != "pure":
            fields = {"probe": receipt.probe, "evidence": receipt.evidence} if receipt else {}
            self._tell(order.run, ev.OrderMoved, actor, plan_digest=order.plan, status=status, reason=reason, **fields)
        elif status not in ORDER_IS_OUT:
            self._answer(order, status, actor, reason or "The node gave no reason.", receipt)

    def _answer(self, order: Order, status: str, actor: str, reason: str, receipt) -> None:
        good = status == "SUCCEEDED" and receipt is not None
        if order.operation == "plan" and good:
            self._tell(order.run, ev.PlanArrived, actor, number=order.number, plan={**receipt.result, "run": order.run})
        elif order.operation == "plan":
            self._tell(order.run, ev.PlanFailed, actor, number=order.number, reason=reason)
        elif good:
            self._tell(order.run, ev.FactsArrived, actor, number=order.number, taken_after=order.sealed_at)
        else:
            self._tell(order.run, ev.LookFailed, actor, number=order.number, reason=reason)

    # --- the ledger, as anybody may read it

    def approved_at(self, plan: str) -> list[int]:
        """Where in the ledger the approvals of a plan stand."""
        events = enumerate(map(read, self.tables.ledger))
        return [i for i, event in events if event["type"] == "run.approved" and event["body"]["plan_digest"] == plan]

    def sealed_at(self, digest: str) -> list[int]:
        events = enumerate(map(read, self.tables.ledger))
        return [i for i, event in events if event["type"] == "order.sealed" and event["body"]["digest"] == digest]

    def tree(self, size: int | None = None) -> merkle.Tree:
        return merkle.Tree([leaf(body) for body in self.tables.ledger[:size]])

    def checkpoint(self) -> tuple[int, bytes]:
        return len(self.tables.ledger), self.tree().root()

    def root(self, size: int) -> bytes:
        return self.tree(size).root()


def _decided_on(state: RunState) -> RunState:
    return replace(state, progress=None, verdicts=(), asks=0, asked=None, overdue=False, note="")
