"""Drive a runbook on twins: real facts from the real collectors, orders carried out by the operations themselves.

A `Story` says what a runbook needs to be walked: the twins, the parameters, what people choose, and what hands do at the
rack. `Walk` walks it: to the good end, to any step and then off it, or through a crash in the middle of an order. What an
agent asks before it runs an order is asked here too: the same argv, the same facts, the operation's own guards.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from agents.collectors.base import decode
from agents.operations import OPERATIONS, base
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.model import Node
from twin.scenarios import Clock
from workflows.engine import events as ev
from workflows.engine import plan_losses
from workflows.engine.core import Option, Runbook, Step, blockers
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import ENDED, RunState
from workflows.facts import FleetFacts, NodeFacts
from workflows.runbooks import RUNBOOKS
from workflows.tests import tally
from workflows.tests.moments import Moment
from workflows.tests.reports import History, as_it_stands

ANN, BOB = "ann", "bob"
PATIENCE = 40  # looks at a waiting step, each half an hour apart at the most
CRASHES = ("before", "after")  # the agent dies before the command had its effect, or after


@dataclass(frozen=True, eq=False)
class Story:
    """`hands`: what somebody does at the rack when a MANUAL or WAIT step asks for it, and what is typed then.
    `restored` looks at a walk that was ended before the point of no return: whether all is as it was."""

    runbook: str
    twins: Callable[[], Mapping[str, Node]]
    params: Callable[[FleetFacts], Mapping[str, str]]
    choices: Mapping[str, Callable[[tuple[Option, ...]], str]] = field(default_factory=dict)
    hands: Mapping[str, Callable[[Walk], str]] = field(default_factory=dict)
    restored: Callable[[Walk], None] = lambda walk: None
    name: str = ""
    watched_seconds: float = 0.0  # how long the portal has known the nodes when the run begins

    @property
    def definition(self) -> Runbook:
        return RUNBOOKS[self.runbook]

    @property
    def title(self) -> str:
        return self.name or self.runbook


def twin_of(node: Node, clock: Clock) -> TwinHost:
    """A twin in memory that begins as this node, and shares nothing with it."""
    return TwinHost(MemoryStore(copy.deepcopy(node)), clock, clock.sleep)


class Stuck(AssertionError):
    """The walk cannot go on. The message says where and why, in the words a person would read."""


class Walk:
    def __init__(self, story: Story) -> None:
        self.story, self.runbook = story, story.definition
        self.clock = Clock()
        self.hosts = {name: twin_of(node, self.clock) for name, node in story.twins().items()}
        self.history = History()
        self.records: list[tuple[str, Mapping]] = []
        self.moments: list[Moment] = []
        self.done_at: set[str] = set()
        self.kept: dict[str, object] = {}  # what somebody holds in the hand: a disk that was pulled
        self._seen: dict[str, tuple[object, NodeFacts]] = {}
        if story.watched_seconds:
            self.facts()
            self.clock.at += story.watched_seconds
        self.state = RunState(params=dict(story.params(self.facts())), requester=ANN)
        self.must(ev.Start, by=ANN)

    # --- what is known

    def facts(self) -> FleetFacts:
        nodes = {name: self.history.seen(self._facts_of(name, host), self.clock.at) for name, host in self.hosts.items()}
        return FleetFacts(nodes, at=self.clock.at)

    def _facts_of(self, name: str, host: TwinHost) -> NodeFacts:
        """Read anew only when the twin has changed, or something on it goes by the clock."""
        key = as_it_stands(host)
        if name not in self._seen or self._seen[name][0] != key:
            self._seen[name] = (key, self.history.facts_at(host, name, self.clock.at))
        return self._seen[name][1]

    @property
    def host(self) -> TwinHost:
        return self.hosts[self.state.params["node"]]

    @property
    def node(self) -> Node:
        """The twin's own truth, to look at. `changing` it is for hands."""
        return self.host.view().node

    def changing(self):
        return self.host.store.changing()

    @property
    def step(self) -> Step:
        return self.runbook.step(self.state.step)

    def types(self) -> list[str]:
        return [name for name, _ in self.records]

    def commands(self) -> list[list[str]]:
        return [line["argv"] for line in self.host.store.logged()]

    def fork(self) -> Walk:
        """The same walk at the same place once more, on twins of its own; its moments begin here."""
        other = copy.copy(self)
        other.clock = Clock(self.clock.at)
        other.history, other.kept = self.history.fork(), copy.deepcopy(self.kept)
        other.records, other.done_at, other._seen = list(self.records), set(self.done_at), dict(self._seen)
        other.moments = []
        other.hosts = {}
        for name, host in self.hosts.items():
            other.hosts[name] = TwinHost(host.store.fork(), other.clock, other.clock.sleep)
        return other

    # --- moving

    def send(self, kind: type[ev.Event], **fields) -> Decision | Refused:
        self.clock.at += 1
        fields = {"at": self.clock.at, **fields}
        outcome = decide(self.runbook, self.state, kind(**fields))
        if "facts" in fields and self.state.status != "new" and kind is not ev.PlanArrived:
            self.moments.append(Moment(self.runbook, self.state, kind, fields))
        if isinstance(outcome, Decision):
            self.state = RunState.from_json(json.loads(json.dumps(outcome.state.to_json())))
            self.records += [(e.type, e.body) for e in outcome.effects if isinstance(e, ev.Record)]
            self.effects = outcome.effects
        else:
            readable(outcome)
        self._tell_what_refused(outcome)
        return outcome

    def _tell_what_refused(self, outcome: Decision | Refused) -> None:
        """Guards in the way of the step in hand: those of a refusal, and those for which a look did not suffice."""
        waits = isinstance(outcome, Decision) and outcome.state.status == "waiting"
        for verdict in blockers(outcome.state.verdicts if waits else outcome.verdicts if isinstance(outcome, Refused) else ()):
            tally.count(self.runbook.slug, tally.REFUSED if verdict.outcome == "refuse" else tally.UNKNOWN, verdict.guard)

    def must(self, kind: type[ev.Event], **fields) -> Walk:
        outcome = self.send(kind, **fields)
        if isinstance(outcome, Refused):
            raise Stuck(f"{self.state.step}: {outcome.reason} {' / '.join(v.reason for v in blockers(outcome.verdicts))}")
        return self

    def to(self, step: str) -> Walk:
        """Until the run stands at this step."""
        if not self.comes_by(step):
            raise Stuck(f"the run is {self.state.status} and never came to {step}")
        return self

    def comes_by(self, step: str) -> bool:
        while self.state.step != step and self.state.status not in ENDED:
            self.go()
        return self.state.step == step and self.state.status not in ENDED

    def to_the_end(self) -> Walk:
        while self.state.status not in ENDED:
            self.go()
        return self

    def go(self) -> None:
        """Do what the step in hand asks for."""
        getattr(self, f"_{self.step.kind.lower()}")()

    def asked(self) -> Decision | Refused:
        """Ask for the step in hand once, as a person does, and hand over what the engine says."""
        facts, kind = self.facts(), self.step.kind
        if kind == "MANUAL":
            return self.send(ev.HandsDone, by=ANN, evidence=self._hand(), facts=facts)
        if kind == "DECIDE":
            return self.send(ev.Chosen, by=ANN, value=self._choice(), facts=facts)
        if kind == "EXECUTE":
            return self.send(ev.ExecuteAsked, by=ANN, facts=facts, accepted=self._accepted())
        return self.send({"CHECK": ev.CheckAsked, "PLAN": ev.PlanAsked}[kind], by=ANN, facts=facts)

    def why_not(self) -> tuple[str, ...]:
        """The reasons for which the step in hand is refused now; it must be refused."""
        outcome = self.asked()
        assert isinstance(outcome, Refused), f"{self.state.step} was not refused"
        return (outcome.reason, *(v.reason for v in blockers(outcome.verdicts)))

    def _check(self) -> None:
        self.must(ev.CheckAsked, by=ANN, facts=self.facts())

    def _decide(self) -> None:
        self.must(ev.Chosen, by=ANN, value=self._choice(), facts=self.facts())

    def _choice(self) -> str:
        options = self.step.options(self.facts(), self.state.params)
        pick = self.story.choices.get(self.state.step)
        if pick:
            return pick(options)
        fit = [option.value for option in options if not blockers(option.verdicts)]
        if not fit:
            raise Stuck(f"{self.state.step}: no option is fit: {[(o.title, [v.reason for v in blockers(o.verdicts)]) for o in options]}")
        return fit[0]

    def _manual(self) -> None:
        evidence = self._hand()
        self.must(ev.HandsDone, by=ANN, evidence=evidence, facts=self.facts())

    def _hand(self) -> str:
        self.done_at.add(self.state.step)
        return self.story.hands.get(self.state.step, lambda walk: "It was done.")(self)

    @property
    def by(self) -> str:
        """Who does the step in hand: nobody, where the portal goes on by itself."""
        return "" if self.step.unattended else ANN

    def _plan(self) -> None:
        self.must(ev.PlanAsked, by=self.by, facts=self.facts())
        self.answer_the_plan()

    def answer_the_plan(self) -> None:
        asked = self.state.asked
        answer = OPERATIONS["plan"].run(self.host, {"operation": asked.operation, "params": json.dumps(dict(asked.params))})
        if answer.outcome != "succeeded":
            assert_readable(answer.reason)
            self.must(ev.PlanFailed, number=asked.number, reason=answer.reason)
            raise Stuck(f"{self.state.step}: the node says: {answer.reason}")
        self.must(ev.PlanArrived, number=asked.number, plan=answer.result, facts=self.facts())
        if self.state.status == "open" and self.step.kind == "PLAN" and self.state.verdicts:
            raise Stuck(f"{self.state.step}: {self.state.note} {' / '.join(v.reason for v in blockers(self.state.verdicts))}")

    def _confirm(self) -> None:
        self.must(ev.Confirmed, by=ANN, text=self.step.phrase(self.state.params, self.state.plan))

    def _approve(self) -> None:
        self.must(ev.Approved, by=BOB, plan_digest=self.state.plan_digest, accepted=self._accepted())

    def _accepted(self) -> str:
        return plan_losses.to_accept(self.state.plan or {})

    def _execute(self, crash: str = "") -> None:
        step = self.state.step
        self.must(ev.ExecuteAsked, by=self.by, facts=self.facts(), accepted=self._accepted())
        seal = next(e for e in self.effects if isinstance(e, ev.Seal))
        for status in ("OFFERED", "CLAIMED", "STARTED"):
            self._moved(status)
        self._carry_out(seal, crash)
        if self.state.status == "stopped":
            raise Stuck(f"{step}: {self.state.note}")

    def _moved(self, status: str, **fields) -> None:
        self.must(ev.OrderMoved, plan_digest=self.state.order.plan_digest, status=status, **fields)

    def _carry_out(self, seal: ev.Seal, crash: str) -> None:
        operation, params = OPERATIONS[seal.operation], dict(seal.params)
        if why := refusal(operation, self.host, params, seal):
            self._moved("REFUSED", reason=why)
            return
        ran = None if crash == "before" else base.act(operation, self.host, params)
        if crash or ran.exit_code is None or not base.went_well(operation, ran):
            probe = operation.probe(self.host, params, seal.preconditions)
            assert_readable(probe.reason)
            how = "UNKNOWN" if crash or ran.exit_code is None or probe.result != "did_not" else "FAILED"
            reason = probe.reason if crash else f"`{' '.join(ran.argv)}` exited {ran.exit_code}. {probe.reason}"
            text = "" if crash else decode(ran.stdout + ran.stderr)
            self._moved(how, reason=reason, probe=probe.result, evidence=tuple(c.digest for c in probe.evidence), output=text)
            return
        operation.aftermath(self.host, params)
        self._moved("SUCCEEDED", output=decode(ran.stdout + ran.stderr))

    def crash_here(self, crash: str) -> None:
        """The agent dies in the middle of the order of the step in hand. Where nothing on the node shows what became of it, two people who looked say it."""
        self._execute(crash)
        if self.state.status == "unknown":
            for one in (ANN, BOB):
                self.must(ev.Settled, by=one, outcome="did" if crash == "after" else "did_not", reason="I looked at the rack.")

    def lose_the_answer(self) -> bool:
        """The agent dies while it makes the plan or looks, as the step in hand asks; whether the run took that for an answer."""
        if self.step.kind == "PLAN":
            self.must(ev.PlanAsked, by=self.by, facts=self.facts())
            self.must(ev.PlanFailed, number=self.state.asked.number, reason="The agent was started anew.")
            return self.state.plan is not None
        self.must(ev.LookFailed, number=self.state.asked.number, reason="The agent was started anew.")
        self.must(ev.FactsArrived, facts=self.facts())  # an ordinary report; the run asks for its look again
        return self.state.asked is None

    def _wait(self) -> None:
        here = self.state.step
        if here not in self.done_at:
            self._hand()
        for _ in range(PATIENCE):
            lasts = self.step.lasts(self.state.params) if self.step.lasts else 0
            self.clock.at += max(min(1800.0, self.step.deadline_seconds / PATIENCE), lasts / PATIENCE)
            self.look()
            if self.state.step != here or self.state.status in ENDED:
                return
        raise Stuck(f"{here}: {self.state.alarm or ' / '.join(v.reason for v in blockers(self.state.verdicts))}")

    def look(self) -> None:
        """An ordinary report comes in while the run waits."""
        self.clock.at += 2
        self.must(ev.FactsArrived, facts=self.facts())

    def _verify(self) -> None:
        here = self.state.step
        self.clock.at += 2
        asked = self.state.asked
        OPERATIONS["look"].run(self.host, asked.params)
        self.must(ev.FactsArrived, facts=self.facts(), number=asked.number, taken_after=self.clock.at)
        if self.state.step == here and self.state.status not in ENDED:
            raise Stuck(f"{here}: {' / '.join(v.reason for v in blockers(self.state.verdicts))}")

    def abort(self, reason: str = "It is called off.") -> Walk:
        return self.must(ev.Aborted, by=ANN, reason=reason)


def refusal(operation, host: TwinHost, params: Mapping[str, str], seal: ev.Seal) -> str:
    """What the agent has against the order, as its executor asks; empty when nothing."""
    if bad := operation.check(params):
        return bad
    if tuple(operation.argv(params)) != seal.argv:
        return "The order's argv is not what this agent would run."
    pre = operation.preconditions(host, params)
    changed = sorted(name for name in {*pre, *seal.preconditions} if pre.get(name) != seal.preconditions.get(name))
    if changed:
        return f"The node is not as it was planned: {', '.join(changed)} changed. Plan again."
    return " ".join(reason for outcome, reason in operation.guards(pre, params) if outcome != "pass")


_LEAKED = re.compile(r"Unknown\(|\bNone\b|\bTrue\b|\bFalse\b|\bnan\b|<[a-z_.]+ object|Traceback|frozenset\(|\{[a-z_]+\}")


def assert_readable(sentence: str) -> None:
    """Somebody reads it at 3 a.m.: it says something, ends, and shows no value of ours. It may begin with the name of a device."""
    assert sentence.strip().endswith((".", "…", ".”")), sentence
    assert not _LEAKED.search(sentence), sentence
    assert "please" not in sentence.lower(), sentence
    assert "Error:" not in sentence, sentence


def readable(refused: Refused) -> None:
    for sentence in (refused.reason, *(v.reason for v in refused.verdicts)):
        assert_readable(sentence)


# --- what is walked with every story


class Stages:
    """A story walked once: where it stood at each step, to go on from there as often as one likes."""

    def __init__(self, story: Story) -> None:
        walk = Walk(story)
        self._places: list[Walk] = []
        self._turned: dict[str, Walk | None] = {}
        while walk.state.status not in ENDED:
            self._places.append(walk.fork())
            walk.go()
        self.end = walk
        self._at: dict[str, Walk] = {}
        for place in self._places:
            self._at.setdefault(place.state.step, place)  # where it came to a step first

    def __contains__(self, step: str) -> bool:
        return step in self._at

    def at(self, step: str) -> Walk:
        return self._at[step].fork()

    def turned_to(self, step: str) -> Walk | None:
        """The walk ended at the last place from which its way back comes by this step; None when none does."""
        if step not in self._turned:
            self._turned[step] = self._turn(step)
        found = self._turned[step]
        return found and found.fork()

    def _turn(self, step: str) -> Walk | None:
        for here in reversed(self._at.values()):
            if not here.state.loops or here.state.ending:
                continue
            walk = here.fork()
            walk.abort()
            if walk.comes_by(step):
                return walk
        return None

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """To the good end, and back from the first and the last step at which each different set of loops is open."""
        turns: dict[tuple[frozenset[str], str], Walk] = {}
        for place in self._places:
            loops = frozenset(open_.loop for open_ in place.state.loops)
            if loops and not place.state.ending:
                turns[loops, "last" if (loops, "first") in turns else "first"] = place
        backs = [place.fork() for place in turns.values()]
        for back in backs:
            back.abort()
            back.to_the_end()
        return (*self.end.moments, *(moment for back in backs for moment in back.moments))


@cache
def stages_of(story: Story) -> Stages:
    """The story walked, once in each process of the tests: a walk takes up to a second, and many tests go on from the same one."""
    return Stages(story)


def end_here(walk: Walk) -> Walk:
    """End the run where it stands, and walk its way back."""
    step = walk.state.step
    walk.abort()
    walk.to_the_end()
    assert walk.state.status == "aborted"
    assert walk.state.loops == (), [open_.what for open_ in walk.state.loops]
    if not any(f.step == walk.runbook.point_of_no_return and not f.passed_over for f in walk.state.finished):
        walk.story.restored(walk)
    tally.count(walk.runbook.slug, tally.ENDED, step)
    return walk
