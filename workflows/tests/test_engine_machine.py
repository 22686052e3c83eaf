"""A run under everything people, nodes, the network and the clock do to it, in any order, for every runbook there is.

The machine keeps its own account of who did what and what is held, and compares. It never asks the engine whether
the engine was right.
"""

import math
from collections import Counter
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from workflows.engine import by_hand, lint
from workflows.engine import events as ev
from workflows.engine.core import StepKind
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import ENDED, ORDER_MOVES, RunState
from workflows.tests import puppets
from workflows.tests.hands import ANN, NAMES, OTHERWISE, PEOPLE, ByHand
from workflows.tests.puppets import CATALOGUE, EVERY, HAND, facts, plan_for
from workflows.tests.readable import assert_readable

PERSON = st.sampled_from(PEOPLE)
# Mostly passing, so that runs come far.
TURNS = st.sampled_from([{}, {}, {}, {}, *OTHERWISE, {"every": HAND}])
EVENTS = tuple(kind for kind in vars(ev).values() if isinstance(kind, type) and issubclass(kind, ev.Event) and kind is not ev.Event)
RECORD = {
    ev.Start: {"run.started"},
    ev.Chosen: {"run.chosen"},
    ev.CheckAsked: {"run.checked"},
    ev.HandsDone: {"run.done-by-hand"},
    ev.Corrected: {"run.corrected"},
    ev.PlanAsked: {"run.plan-asked"},
    ev.PlanByHandAsked: {"run.plan-asked"},
    ev.ByHandAsked: {"run.by-hand-shown"},
    ev.ByHandLookAsked: {"run.by-hand-look"},
    ev.ByHandSeen: {"run.by-hand-not-shown", "run.order-moved"},
    ev.PlanArrived: {"run.planned", "run.plan-failed"},
    ev.PlanFailed: {"run.plan-failed"},
    ev.Confirmed: {"run.confirmed"},
    ev.Approved: {"run.approved"},
    ev.Denied: {"run.denied"},
    ev.GlassBroken: {"run.glass-broken"},
    ev.ExecuteAsked: {"run.ordered"},
    ev.OrderMoved: {"run.order-moved"},
    ev.Settled: {"run.settled"},
    ev.WentBack: {"run.went-back"},
    ev.Aborted: {"run.aborted"},
}
SHAPES = (
    *(ev.Start, ev.Chosen, ev.HandsDone, ev.Corrected, ev.PlanAsked, ev.PlanByHandAsked, ev.Confirmed, ev.GlassBroken),
    *(ev.ExecuteAsked, ev.ByHandAsked, ev.WentBack),
)  # who does one has a hand in the run

# What a field may hold when whoever sends it is broken, old or hostile.
NONSENSE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 3),
    st.sampled_from([math.nan, math.inf, -math.inf, -1e18, 1e18]),
    st.sampled_from(["", " ", "*", "\0", "\ud800", "did", "UNKNOWN", "good", "ann", "a" * 64]),
    st.sampled_from([(), [], {}, ("a" * 64,), (1,), [("argv", 1)], {"argv": None}, {"operation": {}}, {1: 2}, {"params": {"of": 1.5}}]),
    st.builds(facts),
)


class Kind(ev.Event):
    """An event nobody told the engine of."""


BOOKS = st.sampled_from(list(EVERY)).map(EVERY.__getitem__)


@st.composite
def any_event(draw):
    """Some event whose fields hold anything."""
    kind = draw(st.sampled_from(EVENTS))
    given = {f.name: draw(NONSENSE) for f in fields(kind)}
    for name in draw(st.sets(st.sampled_from(sorted(given)))):  # some of them as they should be
        given[name] = {"at": 1000.0, "by": "bob", "facts": facts(), "number": 1, "plan": {}, "taken_after": 0.0, "evidence": ()}.get(
            name, "x"
        )
    return kind(**given)


class Run(ByHand, RuleBasedStateMachine):
    """One run of one runbook."""

    @initialize(book=BOOKS)
    def begin(self, book):
        self.book = book
        self.slugs = [step.slug for step in self.book.steps]
        self.clock = 1000.0
        self.state = RunState(params={"node": "oss01", **dict.fromkeys(self.book.params, "x"), **{"node": "oss01"}}, requester=ANN)
        self.hands: set[str] = set()
        self.judged: set[tuple[str, str]] = set()  # (plan digest, who said yes), as somebody did
        self.broken: list[tuple[str, str, float]] = []  # (plan digest, who broke the glass, when)
        self.sealed: list[str] = []
        self.started: Counter[str] = Counter()
        self.held: tuple[str, ...] = ()
        self.send(ev.Start(at=self.clock, by=ANN))

    @property
    def step(self):
        return self.book.step(self.state.step) if self.state.step else None

    def at(self, later: float = 1.0) -> float:
        self.clock += later
        return self.clock

    def send(self, event: ev.Event) -> None:
        before = self.state
        outcome = decide(self.book, before, event)
        assert decide(self.book, before, event) == outcome, "the same question got two answers"
        if isinstance(outcome, Refused):
            assert_readable(outcome.reason)
            return
        assert isinstance(outcome, Decision)
        self.state = outcome.state
        self.keep_account(event, outcome)
        self.hold(before, event, outcome)

    def keep_account(self, event, outcome) -> None:
        if isinstance(event, ev.Approved):
            self.judged.add((event.plan_digest, event.by))
        if isinstance(event, ev.GlassBroken):
            self.broken.append((event.plan_digest, event.by, event.at))
        if isinstance(event, SHAPES):
            self.hands.add(event.by)
        for effect in outcome.effects:
            if isinstance(effect, ev.Lock):
                assert not self.held, "it holds two sets of locks"
                self.held = effect.keys
            elif isinstance(effect, ev.Unlock):
                self.held = ()
            elif isinstance(effect, ev.Seal | ev.Show):
                assert isinstance(effect, ev.Show) == (by_hand.IN_PLAN in self.state.plan), (
                    "a plan for a person got an order, or the other way round"
                )
                self.may_be_sealed(effect, event)
        if isinstance(event, ev.OrderMoved) and event.status == "STARTED":
            self.started[event.plan_digest] += 1

    def may_be_sealed(self, seal, event) -> None:
        assert seal.plan_digest not in self.sealed, "a plan got a second order"
        self.sealed.append(seal.plan_digest)
        assert self.held, "an order without locks"
        here = self.book.step(seal.step)
        if here.needs_approval:
            judges = {person for digest, person in self.judged if digest == seal.plan_digest} - self.hands
            wanted = [s.approvals for s in self.book.steps[: self.book.place(here.slug)] if s.kind == "APPROVE"]
            alone = any((seal.plan_digest, event.by) == (digest, by) and event.at - at <= 600 for digest, by, at in self.broken)
            assert alone or len(judges) >= max(wanted), "too few who had no hand in the run approved this plan"
        assert 0 <= event.at - self.state.planned_at <= 1800, "the plan is old, or made in the future"

    def hold(self, before, event, outcome) -> None:
        self.no_step_is_skipped(before)
        self.moves_only_when_known(before, event)
        self.unknown_never_leaves_alone(before, event)
        self.every_transition_is_recorded(before, event, outcome)
        if isinstance(event, ev.OrderMoved):
            assert not before.is_by_hand, "an order moved that was never made"
            again = event.status == before.order.status == "UNKNOWN"
            assert again or event.status in ORDER_MOVES[before.order.status]

    def no_step_is_skipped(self, before) -> None:
        here = self.slugs.index(self.state.step)
        assert [f.step for f in self.state.finished] == self.slugs[:here] + ([self.state.step] if self.state.status == "done" else [])
        if before.step:
            assert here <= self.slugs.index(before.step) + 1

    def moves_only_when_known(self, before, event) -> None:
        """Whatever finishes a step that asks guards was told facts by which each of them passes."""
        if not before.step or len(self.state.finished) <= len(before.finished):
            return
        done = self.book.step(before.step)
        asked = [g.__name__ for g in done.guards] + (["until"] if done.kind == "WAIT" else [])
        if done.kind in ("EXECUTE", "PLAN"):  # asked when it was ordered
            return
        if asked:
            enough = ("pass", HAND) if getattr(event, "by_hand", "") else ("pass",)
            assert all(puppets.answers(name, event.facts) in enough for name in asked), "it moved without knowing"
        if done.kind == "VERIFY":
            assert event.number == before.asked.number
            assert event.taken_after >= before.since, "verified from facts older than the step"
        if done.kind == "WAIT":
            moment = before.order.at if before.order else before.since
            node = event.facts.nodes["oss01"]
            assert event.at - node.age_seconds > moment, "waited for what was known before"
            assert all(event.at - node.ages[source] > moment for source in done.sources), "waited for what was asked before"

    def unknown_never_leaves_alone(self, before, event) -> None:
        if before.status != "unknown" or self.state.status == "unknown":
            return
        if isinstance(event, ev.OrderMoved):
            assert event.status != "UNKNOWN" or (event.probe in ("did", "did_not") and event.evidence)
        elif isinstance(event, ev.ByHandSeen):
            self.the_node_showed_all_of_it(before, event)
        else:
            assert isinstance(event, ev.Settled)
            assert len({s.by for s in before.statements if s.outcome == event.outcome} | {event.by}) >= 2

    def every_transition_is_recorded(self, before, event, outcome) -> None:
        lines = [effect.type for effect in outcome.effects if isinstance(effect, ev.Record)]
        ended = ["run.done"] if self.state.status == "done" else []
        if type(event) in RECORD:
            assert lines, "nothing was written down"
            assert lines[0] in RECORD[type(event)]
            assert lines[1:] == ended
            return
        left = len(self.state.finished) - len(before.finished)
        kinds = {"WAIT": "run.waited", "VERIFY": "run.verified"}
        if left:
            assert lines == [kinds[self.book.step(before.step).kind], *ended]
        elif self.state.overdue and not before.overdue:
            assert lines == ["run.overdue"]
        else:
            assert lines in ([], ["run.not-verified"], ["run.by-hand-not-shown"])
            assert replace(self.state, **_SMALL) == replace(before, **_SMALL), "something changed without a word in the ledger"

    # --- people

    @rule(by=NAMES, value=st.sampled_from(["good", "good", "good", "bad", ""]), turn=TURNS)
    def choose(self, by, value, turn):
        self.send(ev.Chosen(at=self.at(), by=by, value=value, facts=facts(**turn)))

    @rule(by=NAMES, turn=TURNS)
    def check(self, by, turn):
        self.send(ev.CheckAsked(at=self.at(), by=by, facts=facts(**turn)))

    @rule(by=NAMES, turn=TURNS, evidence=st.sampled_from(["Bay 68 lit.", "Bay 68 lit.", " "]))
    def do_by_hand(self, by, turn, evidence):
        self.send(ev.HandsDone(at=self.at(), by=by, evidence=evidence, facts=facts(**turn)))

    @rule(by=NAMES, turn=TURNS, evidence=st.sampled_from(["Bay 68 lit.", " "]), data=st.data())
    def correct_an_answer(self, by, turn, evidence, data):
        slug = data.draw(st.sampled_from([step.slug for step in self.book.steps if step.param] or [self.state.step]))
        self.send(ev.Corrected(at=self.at(), by=by, step=slug, evidence=evidence, facts=facts(**turn)))

    @rule(by=NAMES, turn=TURNS)
    def ask_plan(self, by, turn):
        self.send(ev.PlanAsked(at=self.at(), by=by, facts=facts(**turn)))

    @rule(by=PERSON, twice=st.booleans())
    def confirm(self, by, twice):
        text = puppets.phrase(self.state.params, self.state.plan) if self.state.plan else "yes"
        for _ in range(1 + twice):
            self.send(ev.Confirmed(at=self.at(), by=by, text=text))

    @rule(by=NAMES, stale=st.booleans(), later=st.sampled_from([1, 1, 1, 1, 2000, -500]))
    def approve(self, by, stale, later):
        old = self.sealed[-1] if self.sealed else "0" * 64
        self.send(ev.Approved(at=self.at(later), by=by, plan_digest=old if stale else self.state.plan_digest))

    @rule(one=PERSON, other=PERSON, first=st.booleans())
    def one_approves_while_another_denies(self, one, other, first):
        """Both read the same page."""
        digest = self.state.plan_digest
        lines = [ev.Approved(at=self.at(), by=one, plan_digest=digest), ev.Denied(at=self.at(), by=other, plan_digest=digest, reason="no")]
        for event in lines if first else reversed(lines):
            self.send(event)

    @rule(by=NAMES, stale=st.booleans(), reason=st.sampled_from(["Nobody is awake.", " "]))
    def break_the_glass(self, by, stale, reason):
        old = self.sealed[-1] if self.sealed else "0" * 64
        self.send(ev.GlassBroken(at=self.at(), by=by, plan_digest=old if stale else self.state.plan_digest, reason=reason))

    @rule(by=NAMES, turn=TURNS, twice=st.booleans(), later=st.sampled_from([1, 1, 1, 2000, -500]))
    def execute(self, by, turn, twice, later):
        for _ in range(1 + twice):
            self.send(ev.ExecuteAsked(at=self.at(later), by=by, facts=facts(**turn)))

    @rule(one=PERSON, other=PERSON, outcome=st.sampled_from(["did", "did_not", "maybe"]), agree=st.booleans())
    def two_settle(self, one, other, outcome, agree):
        self.send(ev.Settled(at=self.at(), by=one, outcome=outcome, reason="I looked."))
        self.send(ev.Settled(at=self.at(), by=other, outcome=outcome if agree else "did", reason="So did I."))

    @rule(by=NAMES, data=st.data())
    def go_back(self, by, data):
        self.send(ev.WentBack(at=self.at(), by=by, step=data.draw(st.sampled_from(self.slugs))))

    @precondition(lambda self: len(self.state.finished) > 2)
    @rule(by=NAMES, really=st.sampled_from([False, False, False, True]))
    def abort(self, by, really):
        if really:
            self.send(ev.Aborted(at=self.at(), by=by, reason="enough"))

    # --- nodes, network and clock

    @rule(late=st.booleans(), over=st.sampled_from([{}, {}, {}, {"argv": []}, {"argv": ["sda"]}, {"preconditions": {"a": 1}}]), turn=TURNS)
    def plan_arrives(self, late, over, turn):
        event = ev.PlanArrived(at=self.at(), number=self.state.asks - late, plan=plan_for(self.state, **over), facts=facts(**turn))
        self.send(event)
        self.send(replace(event, at=self.at()))  # the network brings it twice

    @rule(late=st.booleans())
    def plan_or_look_fails(self, late):
        for kind in (ev.PlanFailed, ev.LookFailed):
            self.send(kind(at=self.at(), number=self.state.asks - late, reason="no answer."))

    @precondition(lambda self: self.state.order is not None)
    @rule(
        status=st.sampled_from([*ORDER_MOVES, "STARTED", "CLAIMED", "OFFERED", "NONSENSE"]),
        probe=st.sampled_from(["", "did", "did_not", "cannot_tell", "perhaps"]),
        proof=st.booleans(),
        twice=st.booleans(),
    )
    def order_moves(self, status, probe, proof, twice):
        digest, evidence = self.state.order.plan_digest, ("a" * 64,) if proof else ()
        for _ in range(1 + twice):
            self.send(ev.OrderMoved(at=self.at(), plan_digest=digest, status=status, probe=probe, evidence=evidence))

    @precondition(lambda self: self.state.order_is_out)
    @rule()
    def the_node_takes_the_next_step(self):
        following = {"SEALED": "OFFERED", "OFFERED": "CLAIMED", "CLAIMED": "STARTED", "STARTED": "SUCCEEDED", "UNKNOWN": "SUCCEEDED"}
        order = self.state.order
        self.send(ev.OrderMoved(at=self.at(), plan_digest=order.plan_digest, status=following[order.status]))

    @precondition(lambda self: self.sealed)
    @rule(status=st.sampled_from(list(ORDER_MOVES)))
    def an_older_order_moves(self, status):
        digest, before = self.sealed[0], self.state
        if before.order is None or before.order.plan_digest != digest or not before.order_is_out:
            self.send(ev.OrderMoved(at=self.at(), plan_digest=digest, status=status))
            assert self.state == before

    @rule(
        turn=TURNS,
        age=st.sampled_from([0, 0, 1, 500]),
        source_age=st.sampled_from([None, None, 700]),
        looked=st.booleans(),
        later=st.sampled_from([1, 5000]),
    )
    def facts_arrive(self, turn, age, looked, later, source_age=None):
        fresh = {"taken_after": self.clock, "number": self.state.asks} if looked else {}
        event = ev.FactsArrived(at=self.at(later), facts=facts(age_seconds=age, source_age=source_age, **turn), **fresh)
        self.send(event)
        self.send(replace(event, at=self.at()))  # the doorbell rings twice

    @rule(seconds=st.sampled_from([-7200.0, -1.0, 1800.0, 86400.0]))
    def the_clock_jumps(self, seconds):
        self.clock += seconds

    @rule(event=any_event())
    def nonsense(self, event):
        """Whatever it is, it gets an answer; and what is no event of its kind changes nothing."""
        if ev.misfit(event):
            assert isinstance(decide(self.book, self.state, event), Refused)
        elif not isinstance(event, (ev.Approved, ev.GlassBroken)) or event.by:
            self.send(event)

    @rule()
    def the_operator_does_what_is_asked(self):
        """So that chance comes far enough to matter."""
        here, now = self.step, {"at": self.at(), "by": ANN}
        answers = {
            "DECIDE": lambda: ev.Chosen(**now, value="good", facts=facts()),
            "CHECK": lambda: ev.CheckAsked(**now, facts=facts()),
            "MANUAL": lambda: ev.HandsDone(**now, evidence="Bay 68 lit.", facts=facts()),
            "PLAN": lambda: ev.PlanAsked(**now, facts=facts()),
            "CONFIRM": lambda: ev.Confirmed(**now, text=puppets.phrase(self.state.params, self.state.plan)),
            "APPROVE": lambda: ev.Approved(at=self.clock, by=self.another_person(), plan_digest=self.state.plan_digest),
            "EXECUTE": lambda: ev.ExecuteAsked(**now, facts=facts()),
        }
        if self.state.status == "planning":
            self.send(ev.PlanArrived(at=self.clock, number=self.state.asks, plan=plan_for(self.state), facts=facts()))
        elif self.state.status == "open" and (here.kind != "CONFIRM" or self.state.plan):
            self.send(answers[here.kind]())

    def another_person(self) -> str:
        approved = {a.by for a in self.state.approvals}
        return next((p for p in PEOPLE if p not in self.hands | approved), "bob")

    # --- what holds at all times

    @invariant()
    def the_state_survives_the_database(self):
        assert RunState.from_json(self.state.to_json()) == self.state

    @invariant()
    def a_plan_has_one_order_and_an_order_one_start(self):
        assert list(self.state.sealed) == self.sealed
        assert len(set(self.sealed)) == len(self.sealed)
        assert max(self.started.values(), default=0) <= 1

    @invariant()
    def approvals_are_for_this_plan_and_by_others(self):
        assert all(a.plan_digest == self.state.plan_digest for a in self.state.approvals)
        assert ANN not in {a.by for a in self.state.approvals}

    @invariant()
    def what_is_held_is_held_as_long_as_an_order_is_out(self):
        if self.state.order_is_out:
            assert self.held
        if self.state.status in (*ENDED, "stopped"):
            assert not self.held

    @invariant()
    def everybody_who_had_a_hand_is_known(self):
        assert self.hands <= set(self.state.hands)

    @invariant()
    def the_state_can_be_put_in_words(self):
        """No run stands where nobody and nothing can move it, or without saying why."""
        if self.state.status in ("unknown", "stopped", "aborted"):
            assert self.state.note
        if self.state.status == "planning":
            assert self.state.asked is not None


_SMALL = {"progress": None, "verdicts": (), "asks": 0, "asked": None, "note": ""}


class FarRun(Run):
    """The same, from a run whose order is out: chance alone seldom comes this far."""

    @initialize(book=BOOKS.filter(lambda book: any(s.kind == "EXECUTE" for s in book.steps)))
    def begin(self, book):
        Run.begin(self, book)
        for _ in range(40):
            if self.sealed:
                return
            self.the_operator_does_what_is_asked()
            self.facts_arrive(turn={}, age=0, looked=True, later=1)
        raise AssertionError(f"{self.book.slug} never comes to its order: {self.state}")


class AnyRun(Run):
    """The same, on whatever lint lets through."""

    @initialize(book=puppets.runbooks())
    def begin(self, book):
        Run.begin(self, book)


@pytest.mark.parametrize(("machine", "examples"), [(Run, 60), (FarRun, 80), (AnyRun, 40)], ids=lambda x: getattr(x, "__name__", x))
def test_it_holds_whatever_happens(machine, examples):
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=50, deadline=None))


# --- total


@given(runbook=st.sampled_from(list(EVERY.values())), event=any_event(), data=st.data())
@settings(max_examples=300, deadline=None)
def test_it_answers_anything_in_any_state(runbook, event, data):
    """Also in states that no run ever reaches, put together from parts of states that runs do reach."""
    one, other = (data.draw(st.sampled_from(STATES[runbook.slug])) for _ in range(2))
    mixed = {name: getattr(other, name) for name in data.draw(st.sets(st.sampled_from([f.name for f in fields(RunState)])))}
    outcome = decide(runbook, replace(one, **mixed), event)
    assert isinstance(outcome, (Decision, Refused))
    if isinstance(outcome, Refused):
        assert_readable(outcome.reason)


@pytest.mark.parametrize("thing", [None, "Start", 7, Kind(at=1.0)], ids=repr)
def test_what_is_no_event_of_a_run_is_refused(thing):
    for state in (RunState(params={}, requester=ANN), *STATES["sample"]):
        outcome = decide(EVERY["sample"], state, thing)
        assert isinstance(outcome, Refused)
        assert_readable(outcome.reason)


def _walked(runbook) -> list[RunState]:
    """Every state of one cooperative walk, with an order that becomes unknown on the way."""
    machine = Run()
    Run.begin(machine, runbook)
    states = [machine.state]
    for _ in range(4 * len(runbook.steps)):
        if machine.state.order_is_out:
            machine.the_node_takes_the_next_step()
        else:
            machine.the_operator_does_what_is_asked()
            states.append(machine.state)
            machine.facts_arrive(turn={}, age=0, looked=True, later=1)
        states.append(machine.state)
    assert machine.state.status == "done", (runbook.slug, machine.state.step, machine.state.status, machine.state.note)
    return states


STATES = {slug: _walked(book) for slug, book in EVERY.items()}


@pytest.mark.parametrize("slug", EVERY)
def test_with_willing_hands_every_runbook_ends_well(slug):
    assert STATES[slug][-1].status == "done"


def test_together_they_use_every_kind_of_step():
    assert {step.kind for book in puppets.SYNTHETIC for step in book.steps} == set(StepKind.__args__)
    assert not [why for book in puppets.SYNTHETIC for why in lint.problems(book, CATALOGUE)]


def test_every_event_has_its_record_and_every_field_its_kind():
    assert set(EVENTS) == {*RECORD, ev.LookFailed, ev.FactsArrived, ev.LoopClosed}  # a puppet opens no loop
    assert {str(f.type) for kind in EVENTS for f in fields(kind)} <= set(ev._FITS)
