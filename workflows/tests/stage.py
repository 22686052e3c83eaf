"""A stage for runbooks: twins whose facts come through the real collectors, an engine, and people who do what a step asks.

Orders are carried out as an agent does it: the node's own plan, its preconditions held equal, its guards, then the operation's own argv.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents.collectors import COLLECTORS
from agents.operations import OPERATIONS
from agents.operations.base import act
from agents.twin.host import TwinHost
from agents.twin.model import Node
from agents.twin.scenarios import Clock
from agents.twin.store import Store
from workflows import events as ev
from workflows.core import Runbook, Step, blockers
from workflows.engine import Decision, Refused, decide
from workflows.facts import FleetFacts, NodeFacts, Unknown, node_facts
from workflows.state import ENDED, RunState

ANN, BOB = "ann", "bob"
STEPS_MAX = 60
WAIT_SECONDS = 600


class Stage:
    """The nodes, their clock, and what each of them said before."""

    def __init__(self, folder: Path, nodes: Mapping[str, Node]) -> None:
        self.clock = Clock()
        self.hosts: dict[str, TwinHost] = {}
        self._said: dict[str, list[tuple[float, dict[str, Any]]]] = {name: [] for name in nodes}
        self._kept: dict[tuple, tuple] = {}
        self.leaf_changes: dict[str, tuple] = {}
        for name, node in nodes.items():
            Store(folder / name / "state.json").create(node)
            self.hosts[name] = TwinHost(folder / name / "state.json", self.clock, self.clock.sleep)

    def facts(self, bend: Callable[[NodeFacts], NodeFacts] | None = None) -> FleetFacts:
        found = {name: self._facts(name) for name in self.hosts}
        return FleetFacts({name: bend(node) if bend else node for name, node in found.items()})

    def _facts(self, name: str) -> NodeFacts:
        captures = {f"{c.source}/{c.key}" if c.key else c.source: c for m in COLLECTORS.values() for c in self._collected(name, m)}
        earlier = self._earlier(name)
        self._said[name].append((self.clock(), {where: c.body() for where, c in captures.items()}))
        ages = dict.fromkeys(COLLECTORS, 0.5)
        return node_facts(name, captures, 0.5, self.leaf_changes.get(name, ()), ages=ages, earlier=earlier)

    def _collected(self, name: str, collector: Any) -> tuple[Any, ...]:
        """What only the state of the twin decides is asked once for each state; what `zpool` prints has the clock in it."""
        host = self.hosts[name]
        host.view()  # a scan that is over ends now
        clocked = collector.NAME.startswith(("zpool", "sg_logs"))
        key = (name, collector.NAME, host.store._stamp(), self.clock() if clocked else 0.0)
        if key not in self._kept:
            self._kept[key] = collector.collect(host)
        return self._kept[key]

    def _earlier(self, name: str) -> dict[str, tuple[Mapping[str, Any], float]]:
        """What each source with a memory said, as long ago as it is remembered or at the first look."""
        now, found = self.clock(), {}
        for at, bodies in reversed(self._said[name]):
            for where, body in bodies.items():
                memory = getattr(COLLECTORS[where.partition("/")[0]], "HISTORY_SECONDS", 0)
                if memory and 0 < now - at <= memory:
                    found[where] = (body, now - at)
        return found

    def change(self, name: str, how: Callable[[Node], None]) -> None:
        with self.hosts[name].store.changing() as node:
            how(node)

    def node(self, name: str = "oss01") -> Node:
        return self.hosts[name].view().node

    def written(self, name: str = "oss01") -> list[list[str]]:
        return [line["argv"] for line in self.hosts[name].store.logged()]


class Run:
    """One walk through a runbook. `answers` are what people pick and type, by step; `meanwhile` is what happens on the nodes at a step."""

    def __init__(self, stage: Stage, runbook: Runbook, params: Mapping[str, str], **answers: str) -> None:
        self.stage, self.runbook = stage, runbook
        self.answers = {slug.replace("_", "-"): value for slug, value in answers.items()}
        self.meanwhile: dict[str, Callable[[], None]] = {}
        self.records: list[ev.Record] = []
        self.state = RunState(params=dict(params), requester=ANN)
        self.must(ev.Start, by=ANN)

    @property
    def step(self) -> Step:
        return self.runbook.step(self.state.step)

    def send(self, kind: type, **fields: Any) -> Decision | Refused:
        self.stage.clock.sleep(1)
        outcome = decide(self.runbook, self.state, kind(at=self.stage.clock(), **fields))
        if isinstance(outcome, Decision):
            self.state = RunState.from_json(json.loads(json.dumps(outcome.state.to_json())))
            self.records += [e for e in outcome.effects if isinstance(e, ev.Record)]
        return outcome

    def must(self, kind: type, **fields: Any) -> Decision:
        outcome = self.send(kind, **fields)
        assert isinstance(outcome, Decision), (self.state.step, outcome)
        return outcome

    def to(self, slug: str) -> Run:
        """Do what is asked until the run stands at `slug`."""
        return self._until(lambda: self.state.step == slug)

    def end(self) -> Run:
        return self._until(lambda: False)

    def _until(self, there: Callable[[], bool]) -> Run:
        for _ in range(STEPS_MAX):
            if there() or self.state.status in ENDED:
                return self
            outcome = self.go_on()
            assert isinstance(outcome, Decision), (self.state.step, outcome)
        raise AssertionError(f"the run stays at {self.state.step}: {self.state.note} {blockers(self.state.verdicts)}")

    def go_on(self, bend: Callable[[NodeFacts], NodeFacts] | None = None) -> Decision | Refused:
        """Do what the step asks, once. The outcome of an order is its last."""
        if change := self.meanwhile.pop(self.state.step, None):
            change()
        if self.step.kind == "WAIT":
            self.stage.clock.sleep(max(WAIT_SECONDS, self.step.lasts(self.state.params) / 6 if self.step.lasts else 0))
        return getattr(self, f"_{self.step.kind.lower()}")(self.stage.facts(bend))

    @property
    def by(self) -> str:
        return "" if self.step.unattended else ANN

    def _check(self, facts):
        return self.send(ev.CheckAsked, by=ANN, facts=facts)

    def _decide(self, facts):
        options = self.step.options(facts, self.state.params)
        fit = [option.value for option in options if not blockers(option.verdicts)]
        return self.send(
            ev.Chosen,
            by=ANN,
            facts=facts,
            value=self.answers.get(self.state.step) or next(iter(fit or [option.value for option in options]), ""),
        )

    def _manual(self, facts):
        return self.send(ev.HandsDone, by=ANN, facts=facts, evidence=self.answers.get(self.state.step, "Done."))

    def _confirm(self, facts):
        text = self.answers.get(self.state.step) or self.step.phrase(self.state.params, self.state.plan)
        return self.send(ev.Confirmed, by=ANN, text=text)

    def _approve(self, facts):
        return self.send(ev.Approved, by=BOB, plan_digest=self.state.plan_digest)

    def _plan(self, facts):
        asked = self.send(ev.PlanAsked, by=self.by, facts=facts)
        if isinstance(asked, Refused):
            return asked
        ask = next(e for e in asked.effects if isinstance(e, ev.AskNode))
        assert (bad := OPERATIONS["plan"].check(ask.params)) == "", bad
        answer = OPERATIONS["plan"].run(self._host, ask.params)
        if answer.outcome != "succeeded":
            return self.send(ev.PlanFailed, number=ask.number, reason=answer.reason)
        return self.send(ev.PlanArrived, number=ask.number, plan=answer.result, facts=self.stage.facts())

    def _execute(self, facts):
        asked = self.send(ev.ExecuteAsked, by=self.by, facts=facts)
        if isinstance(asked, Refused):
            return asked
        return self._carry_out(next(e for e in asked.effects if isinstance(e, ev.Seal)))

    def _carry_out(self, seal: ev.Seal):
        operation, digest = OPERATIONS[seal.operation], seal.plan_digest
        for status in ("OFFERED", "CLAIMED"):
            self.must(ev.OrderMoved, plan_digest=digest, status=status)
        pre = operation.preconditions(self._host, seal.params)
        against = [reason for outcome, reason in operation.guards(pre, seal.params) if outcome != "pass"]
        if pre != dict(seal.preconditions) or against:
            return self.send(ev.OrderMoved, plan_digest=digest, status="REFUSED", reason=" ".join(against) or "The node is not as planned.")
        self.must(ev.OrderMoved, plan_digest=digest, status="STARTED")
        assert operation.argv(seal.params) == seal.argv
        ran = act(operation, self._host, seal.params)
        how = {"status": "SUCCEEDED"} if ran.exit_code == 0 else {"status": "FAILED", "reason": ran.stderr.decode()}
        return self.send(ev.OrderMoved, plan_digest=digest, said=ran.stdout.decode(), **how)

    def _wait(self, facts):
        return self.send(ev.FactsArrived, facts=facts)

    def _verify(self, facts):
        number = self.state.asked.number if self.state.asked else 0
        return self.send(ev.FactsArrived, facts=facts, number=number, taken_after=self.stage.clock())

    def crash(self, when: str) -> Run:
        """The agent dies in the order of the step in hand, "before" the command had its effect or "after" it; then it probes."""
        asked = self.must(ev.ExecuteAsked, by=self.by, facts=self.stage.facts())
        seal = next(e for e in asked.effects if isinstance(e, ev.Seal))
        operation, digest = OPERATIONS[seal.operation], seal.plan_digest
        for status in ("OFFERED", "CLAIMED", "STARTED"):
            self.must(ev.OrderMoved, plan_digest=digest, status=status)
        if when == "after":
            act(operation, self._host, seal.params)
        probe = operation.probe(self._host, seal.params, seal.preconditions)
        evidence = tuple(capture.digest for capture in probe.evidence)
        self.must(ev.OrderMoved, plan_digest=digest, status="UNKNOWN", reason=probe.reason, probe=probe.result, evidence=evidence)
        return self

    def abort(self) -> Decision | Refused:
        return self.send(ev.Aborted, by=ANN, reason="It is enough.")

    @property
    def _host(self) -> TwinHost:
        return self.stage.hosts[self.state.params["node"]]


def reasons(outcome: Decision | Refused) -> str:
    """What a person reads: the refusal and everything that speaks against it."""
    assert isinstance(outcome, Refused), outcome
    return " ".join((outcome.reason, *(v.reason for v in blockers(outcome.verdicts))))


def nothing(node: NodeFacts) -> NodeFacts:
    """A node that says nothing any more."""
    silent = Unknown("The node says nothing.")
    return NodeFacts(node.node, 0.5, *(silent,) * 9, {}, {})
