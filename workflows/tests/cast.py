"""A small cast for engine tests: a runbook with every kind of step, a node whose facts can be turned, and three people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

from workflows.engine import events as ev
from workflows.engine.core import (
    ApproveStep,
    CheckStep,
    ConfirmStep,
    DecideStep,
    ExecuteStep,
    ManualStep,
    Option,
    PlanStep,
    Progress,
    Runbook,
    Verdict,
    VerifyStep,
    WaitStep,
    ok,
    refuse,
)
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import RunState
from workflows.facts import FleetFacts, NodeFacts, Unknown

ANN, BOB, EVE = "ann", "bob", "eve"
PARAMS = {"node": "oss01", "pool": "ost_0"}
NOT_READ = Unknown("not read")
NODE = NodeFacts(
    node="oss01",
    age_seconds=1.0,
    hostname=NOT_READ,
    hostid=NOT_READ,
    boot_id=NOT_READ,
    zfs_userland=NOT_READ,
    zfs_module=NOT_READ,
    pools=NOT_READ,
    disks=NOT_READ,
    bays=NOT_READ,
    importable=NOT_READ,
    leaf_changes=NOT_READ,
    digests={},
    failures={},
)


def facts(age_seconds: float = 1.0, **turned: str) -> FleetFacts:
    """Facts where every guard passes, but for those turned: `facts(target="unknown")`."""
    return FleetFacts({"oss01": replace(NODE, age_seconds=age_seconds, failures=turned)})


def turned(name: str):
    def guard(facts, params):
        return Verdict(facts.nodes["oss01"].failures.get(name, "pass"), f"{name} was asked.")

    guard.__name__ = name
    return guard


target, candidate, settled, verified, swapped = map(turned, ("target", "candidate", "settled", "verified", "swapped"))


def disks(facts, params):
    return (Option("good", "The good disk", "", (ok("It is blank."),)), Option("bad", "The bad disk", "", (refuse("It is a member."),)))


def replace_params(facts, params):
    return {"pool": params["pool"], "wwid": params.get("wwid", "")}


RUNBOOK = Runbook(
    slug="sample",
    title="A sample",
    purpose="To test the engine.",
    states="a -> b",
    point_of_no_return="execute",
    params={"node": "the node", "pool": "the pool"},
    locks=lambda facts, params: ("pool:1", f"disk:{params['wwid']}"),
    steps=(
        DecideStep("choose", "Choose a disk", "Why.", guards=(target,), param="wwid", options=disks),
        CheckStep("check", "Check", "Why.", guards=(target, candidate)),
        PlanStep("plan", "Plan", "Why.", guards=(target, candidate), operation="replace", params=replace_params),
        ConfirmStep(
            "confirm",
            "Confirm",
            "Why.",
            phrase=lambda params, plan: f"{params['pool']} 123456",
            phrase_hint="Type pool and number.",
        ),
        ApproveStep("approve", "Approve", "Why."),
        ExecuteStep(
            "execute",
            "Replace",
            "Why.",
            (target, candidate),
            operation="replace",
            effect="at_most_once",
            destructive=True,
            params=replace_params,
        ),
        WaitStep("wait", "Wait", "Why.", until=settled, deadline_seconds=3600, progress=lambda facts, params: Progress("12 %", 12.0)),
        VerifyStep("verify", "Verify", "Why.", guards=(verified,), sources=("zpool_status",)),
        ManualStep("swap", "Label the disk", "Why.", guards=(swapped,)),
    ),
)
OPERATIONS = {"replace": SimpleNamespace(EFFECT="at_most_once", DESTRUCTIVE=True, probe=lambda host, params, pre: None)}


def node_plan(**over):
    plan = {
        "operation": "replace",
        "params": {"pool": "ost_0", "wwid": "good"},
        "argv": ["zpool", "replace", "ost_0", "14718944552882581455", "/dev/disk/by-id/wwn-0x5000cca273a7d9e8"],
        "preconditions": {"pool_state": "DEGRADED"},
    }
    return {**plan, **over}


@dataclass
class Walk:
    """A run in hand: send events, keep what came of them."""

    state: RunState
    clock: float = 1000.0
    effects: tuple = ()

    def send(self, event_type, **fields) -> Decision | Refused:
        self.clock += 1
        outcome = decide(RUNBOOK, self.state, event_type(at=self.clock, **fields))
        if isinstance(outcome, Decision):
            self.state = RunState.from_json(outcome.state.to_json())
            assert self.state == outcome.state
            self.effects = outcome.effects
        return outcome

    def must(self, event_type, **fields) -> tuple:
        outcome = self.send(event_type, **fields)
        assert isinstance(outcome, Decision), outcome
        return outcome.effects

    def order(self, status, **fields):
        return self.send(ev.OrderMoved, plan_digest=self.state.order.plan_digest if self.state.order else "", status=status, **fields)

    def kinds(self):
        return [type(e).__name__ for e in self.effects]


def new() -> Walk:
    return Walk(RunState(params=dict(PARAMS), requester=ANN))


def at(step: str) -> Walk:
    """A walk that stands open at `step`."""
    walk = new()
    moves = [
        (ev.Start, {"by": ANN}),
        (ev.Chosen, {"by": ANN, "value": "good", "facts": facts()}),
        (ev.CheckAsked, {"by": ANN, "facts": facts()}),
        (ev.PlanAsked, {"by": ANN, "facts": facts()}),
        (ev.PlanArrived, {"number": 1, "plan": node_plan(), "facts": facts()}),
        (ev.Confirmed, {"by": ANN, "text": "ost_0 123456"}),
        (ev.Approved, {"by": BOB}),
        (ev.ExecuteAsked, {"by": ANN, "facts": facts()}),
        ("order", "OFFERED"),
        ("order", "CLAIMED"),
        ("order", "STARTED"),
        ("order", "SUCCEEDED"),
        (ev.FactsArrived, {"facts": facts(age_seconds=0)}),
    ]
    for kind, fields in moves:
        if kind == "order":
            assert isinstance(walk.order(fields), Decision)
        else:
            shown = {"plan_digest": walk.state.plan_digest} if kind is ev.Approved else {}
            walk.must(kind, **fields, **shown)
        if walk.state.step == step and walk.state.status in ("open", "waiting"):
            return walk
    return walk


def ordered(status: str = "SEALED") -> Walk:
    """A walk whose order has come as far as `status`."""
    walk = at("execute")
    walk.must(ev.ExecuteAsked, by=ANN, facts=facts())
    for step in ("OFFERED", "CLAIMED", "STARTED"):
        if walk.state.order.status == status:
            return walk
        assert isinstance(walk.order(step), Decision)
    if status == "UNKNOWN":
        assert isinstance(walk.order("UNKNOWN", reason="The node fell silent."), Decision)
    return walk
