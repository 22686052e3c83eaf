"""What people and nodes do in the engine's state machine where the node is given no order, and a person gives the command."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from workflows.engine import events as ev
from workflows.tests.puppets import BOOT_ID, HAND, HOSTID, facts

ANN = "ann"
PEOPLE = ["ann", "bob", "eve", "dan", "kim"]
NAMES = st.sampled_from([*PEOPLE, ""])
OTHERWISE = [{"every": "unknown"}, {"every": "refuse"}, {"sound": "unknown"}, {"locks": "refuse"}]
HAND_TURNS = st.sampled_from([*[{"every": HAND}] * 5, {"sound": HAND}, {}, *OTHERWISE, {"every": HAND, "sound": "refuse"}])


class ByHand:
    """Rules of a machine that has `state`, `send`, `at` and `the_operator_does_what_is_asked`."""

    nonces = 0

    def the_node_showed_all_of_it(self, before, event) -> None:
        record = event.result["record"]
        assert event.evidence, "settled by a look that rests on nothing"
        assert event.taken_after >= before.shown.at, "settled by a look from before the showing"
        assert record["nonce"] == before.shown.nonce, "settled by another showing"
        assert [each[name] for each in (record, event.result) for name in ("hostid", "boot_id")] == [HOSTID, BOOT_ID] * 2
        assert (record["ended"], event.result["probe"]) in (("well", "did"), ("badly", "did_not")), "exit code and effect do not agree"

    @rule(by=NAMES, turn=HAND_TURNS)
    def check_to_go_on_by_hand(self, by, turn):
        self.send(ev.CheckAsked(at=self.at(), by=by, facts=facts(**turn), by_hand="yes"))

    @rule(by=NAMES, turn=HAND_TURNS)
    def ask_plan_for_a_person(self, by, turn):
        self.send(ev.PlanByHandAsked(at=self.at(), by=by, facts=facts(**turn)))

    @rule(by=NAMES, turn=HAND_TURNS, twice=st.booleans(), later=st.sampled_from([1, 1, 1, 2000, -500]))
    def ask_for_the_command(self, by, turn, twice, later):
        for _ in range(1 + twice):
            self.send(ev.ByHandAsked(at=self.at(later), by=by, facts=facts(**turn), nonce=self.another_nonce()))

    def another_nonce(self) -> str:
        self.nonces += 1
        return f"{self.nonces:032x}"

    @rule(by=NAMES)
    def have_the_node_look(self, by):
        self.send(ev.ByHandLookAsked(at=self.at(60), by=by))

    @precondition(lambda self: self.state.shown is not None)
    @rule(
        late=st.booleans(),
        before=st.sampled_from([0, 0, 5000]),
        proof=st.sampled_from([("a" * 64,), ("a" * 64,), ()]),
        over=st.sampled_from(
            [{}, {}, {}, {"nonce": "f" * 32}, {"hostid": "deadbeef"}, {"boot_id": "0" * 36}, {"ended": ""}, {"ended": "badly"}]
        ),
        here=st.sampled_from([{}, {}, {"hostid": "deadbeef"}, {"boot_id": ""}, {"record": {}}, {"record": "forged"}]),
        probe=st.sampled_from(["did", "did", "did_not", "cannot_tell", ""]),
    )
    def the_node_shows_what_was_run(self, late, before, proof, over, here, probe):
        record = {"nonce": self.state.shown.nonce, "hostid": HOSTID, "boot_id": BOOT_ID, "ended": "well", "exit_code": "0", **over}
        result = {"record": record, "hostid": HOSTID, "boot_id": BOOT_ID, "probe": probe, "reason": "It was read.", **here}
        seen = ev.ByHandSeen(at=self.at(), number=self.state.asks - late, taken_after=self.clock - before, result=result, evidence=proof)
        self.send(seen)
        self.send(replace(seen, at=self.at()))  # the network brings it twice

    @rule()
    def the_operator_goes_on_by_hand(self):
        """The same where every order is refused, and nothing else."""
        observed = facts(every=HAND)
        now = {"at": self.at(), "by": ANN, "facts": observed}
        answers = {
            "CHECK": lambda: ev.CheckAsked(**now, by_hand="yes"),
            "PLAN": lambda: ev.PlanByHandAsked(**now),
            "DECIDE": lambda: ev.Chosen(**now, value="good", by_hand="yes"),
            "EXECUTE": lambda: ev.ByHandAsked(**now, nonce=self.another_nonce()),
        }
        here = self.step
        if self.state.is_by_hand:
            self.have_the_node_look(by=ANN)
            self.the_node_shows_what_was_run(late=False, before=0, proof=("a" * 64,), over={}, here={}, probe="did")
        elif self.state.status == "open" and here.kind in answers:
            self.send(answers[here.kind]())
        else:
            self.the_operator_does_what_is_asked()
