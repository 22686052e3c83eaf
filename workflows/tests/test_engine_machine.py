"""A run under everything people, nodes and the network do to it, in any order."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from workflows import events as ev
from workflows.engine import Decision, decide
from workflows.state import ORDER_MOVES, RunState
from workflows.tests.cast import ANN, BOB, EVE, PARAMS, RUNBOOK, facts, node_plan

PEOPLE = st.sampled_from([ANN, BOB, EVE, ""])
# Mostly passing, so that runs come far.
TURNS = st.sampled_from([{}, {}, {}, {"target": "unknown"}, {"candidate": "refuse"}, {"settled": "refuse"}, {"verified": "unknown"}])
SLUGS = [step.slug for step in RUNBOOK.steps]


class Run(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.clock = 1000.0
        self.state = RunState(params=dict(PARAMS), requester=ANN)
        self.seals: list[tuple[ev.Seal, str]] = []  # with who was asking
        self.out: str = ""  # digest of the order that is out, as a portal would count it
        self.truly_approved: set[tuple[str, str]] = set()
        self.answers: list[tuple[int, dict]] = []

    def send(self, event_type, **fields):
        self.clock += fields.pop("later", 1)
        before = self.state
        outcome = decide(RUNBOOK, before, event_type(at=self.clock, **fields))
        if not isinstance(outcome, Decision):
            return
        self.state = outcome.state
        self.hold(before, event_type, fields, outcome)

    def hold(self, before, event_type, fields, outcome):
        if event_type is ev.Approved:
            self.truly_approved.add((fields["plan_digest"], fields["by"]))
        self.no_step_is_skipped(before)
        self.unknown_never_leaves_alone(before, event_type, fields)
        for effect in outcome.effects:
            if isinstance(effect, ev.Seal):
                self.may_be_sealed(effect, fields)
        if event_type is ev.OrderMoved:
            assert fields["status"] in ORDER_MOVES[before.order.status] or fields["status"] == before.order.status == "UNKNOWN"
        if before.order_is_out and not self.state.order_is_out:
            self.out = ""

    def no_step_is_skipped(self, before):
        here = SLUGS.index(self.state.step)
        assert [f.step for f in self.state.finished] == SLUGS[:here] + ([self.state.step] if self.state.status == "done" else [])
        if before.step:
            assert here <= SLUGS.index(before.step) + 1

    def unknown_never_leaves_alone(self, before, event_type, fields):
        if before.status != "unknown" or self.state.status == "unknown":
            return
        if event_type is ev.OrderMoved:
            assert fields["status"] != "UNKNOWN" or (fields["probe"] in ("did", "did_not") and fields["evidence"])
        else:
            assert event_type is ev.Settled
            said = {s.by for s in before.statements if s.outcome == fields["outcome"]} | {fields["by"]}
            assert len(said) >= 2

    def may_be_sealed(self, seal, fields):
        assert not self.out, "two orders are out"
        assert seal.plan_digest not in [old.plan_digest for old, _ in self.seals], "a plan got a second order"
        judges = {person for digest, person in self.truly_approved if digest == seal.plan_digest}
        assert judges - {ANN, fields["by"]}, "nobody else approved this digest"
        assert fields["facts"].nodes["oss01"].failures.get("target", "pass") == "pass"
        self.seals.append((seal, fields["by"]))
        self.out = seal.plan_digest

    @initialize()
    def begin(self):
        self.send(ev.Start, by=ANN)

    @rule(by=PEOPLE, value=st.sampled_from(["good", "good", "bad", ""]), turn=TURNS)
    def choose(self, by, value, turn):
        self.send(ev.Chosen, by=by, value=value, facts=facts(**turn))

    @rule(by=PEOPLE, turn=TURNS)
    def check(self, by, turn):
        self.send(ev.CheckAsked, by=by, facts=facts(**turn))

    @rule(by=PEOPLE, turn=TURNS)
    def ask_plan(self, by, turn):
        self.send(ev.PlanAsked, by=by, facts=facts(**turn))

    @rule(late=st.booleans(), over=st.sampled_from([{}, {}, {}, {"argv": []}, {"preconditions": {"a": "b"}}]))
    def plan_arrives(self, late, over):
        self.send(ev.PlanArrived, number=self.state.asks - late, plan=node_plan(**over), facts=facts())

    @rule(late=st.booleans())
    def plan_fails(self, late):
        self.send(ev.PlanFailed, number=self.state.asks - late, reason="no answer.")

    @rule(by=PEOPLE, text=st.sampled_from(["ost_0 123456", "yes"]))
    def confirm(self, by, text):
        self.send(ev.Confirmed, by=by, text=text)

    @rule(by=PEOPLE, stale=st.booleans(), later=st.sampled_from([1, 1, 1, 2000]))
    def approve(self, by, stale, later):
        old = self.seals[-1][0].plan_digest if self.seals else "0" * 64
        self.send(ev.Approved, by=by, plan_digest=old if stale else self.state.plan_digest, later=later)

    @rule(by=PEOPLE)
    def deny(self, by):
        self.send(ev.Denied, by=by, plan_digest=self.state.plan_digest, reason="no")

    @rule(by=PEOPLE, turn=TURNS, twice=st.booleans())
    def execute(self, by, turn, twice):
        for _ in range(1 + twice):
            self.send(ev.ExecuteAsked, by=by, facts=facts(**turn))

    @precondition(lambda self: self.state.order is not None)
    @rule(
        status=st.sampled_from([*ORDER_MOVES, "STARTED", "CLAIMED", "OFFERED"]),
        probe=st.sampled_from(["", "did", "did_not", "cannot_tell"]),
        evidence=st.booleans(),
    )
    def order_moves(self, status, probe, evidence):
        proof = ("a" * 64,) if evidence else ()
        self.send(ev.OrderMoved, plan_digest=self.state.order.plan_digest, status=status, probe=probe, evidence=proof)

    @precondition(lambda self: self.seals)
    @rule(status=st.sampled_from(list(ORDER_MOVES)))
    def an_older_order_moves(self, status):
        digest = self.seals[0][0].plan_digest
        if self.state.order is None or self.state.order.plan_digest != digest:
            before = self.state
            self.send(ev.OrderMoved, plan_digest=digest, status=status)
            assert self.state == before

    @rule(turn=TURNS, age=st.sampled_from([0, 1, 500]), looked=st.booleans())
    def facts_arrive(self, turn, age, looked):
        before = self.state
        fresh = {"taken_after": self.clock, "number": self.state.asks} if looked else {}
        self.send(ev.FactsArrived, facts=facts(age_seconds=age, **turn), **fresh)
        if before.step == "verify" and self.state.step != "verify":
            assert looked, "verified from facts nobody can date"

    @rule(by=PEOPLE, outcome=st.sampled_from(["did", "did_not", "maybe"]))
    def settle(self, by, outcome):
        self.send(ev.Settled, by=by, outcome=outcome, reason="I looked.")

    @rule(by=PEOPLE, step=st.sampled_from(SLUGS))
    def go_back(self, by, step):
        self.send(ev.WentBack, by=by, step=step)

    @precondition(lambda self: self.state.finished)
    @rule(by=PEOPLE, step=st.sampled_from(["rarely", "rarely", "rarely", "now"]))
    def abort(self, by, step):
        if step == "now":
            self.send(ev.Aborted, by=by, reason="enough")

    @invariant()
    def the_state_survives_the_database(self):
        assert RunState.from_json(self.state.to_json()) == self.state

    @invariant()
    def a_plan_has_one_order_for_ever(self):
        assert len(set(self.state.sealed)) == len(self.state.sealed) == len(self.seals)

    @invariant()
    def approvals_are_for_this_plan(self):
        assert all(a.plan_digest == self.state.plan_digest for a in self.state.approvals)


TestRun = Run.TestCase
TestRun.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)


class FarRun(Run):
    """The same, from a run whose order is out: chance alone seldom comes this far."""

    @initialize()
    def begin(self):
        self.send(ev.Start, by=ANN)
        self.choose(by=ANN, value="good", turn={})
        self.check(by=ANN, turn={})
        self.ask_plan(by=ANN, turn={})
        self.plan_arrives(late=False, over={})
        self.confirm(by=ANN, text="ost_0 123456")
        self.approve(by=BOB, stale=False, later=1)
        self.execute(by=ANN, turn={}, twice=True)
        assert self.out


TestFarRun = FarRun.TestCase
TestFarRun.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
