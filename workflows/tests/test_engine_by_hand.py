"""The engine's state machine from where a command was shown to a person, and every runbook by hand to its end."""

import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, run_state_machine_as_test

from workflows.by_hand.commands import can_be_given
from workflows.tests.puppets import EVERY
from workflows.tests.test_engine_machine import BOOKS, Run


def gives(book) -> list[str]:
    """The operations of its orders, in their order."""
    return [step.operation for step in book.steps if step.kind == "EXECUTE"]


class HandRun(Run):
    """The same, from a run whose command was shown to a person."""

    @initialize(book=BOOKS.filter(lambda book: gives(book) and can_be_given(gives(book)[0])))
    def begin(self, book):
        Run.begin(self, book)
        for _ in range(40):
            if self.state.is_by_hand:
                return
            self.the_operator_goes_on_by_hand()
            self.facts_arrive(turn={}, age=0, looked=True, later=1)
        raise AssertionError(f"{self.book.slug} never comes to its command: {self.state}")


def test_it_holds_whatever_happens_to_a_command_that_a_person_gives():
    run_state_machine_as_test(HandRun, settings=settings(max_examples=60, stateful_step_count=50, deadline=None))


def _walked_by_hand(runbook):
    """Its end, where every command is given by a person."""
    machine = Run()
    Run.begin(machine, runbook)
    for _ in range(6 * len(runbook.steps)):
        machine.the_operator_goes_on_by_hand()
        machine.facts_arrive(turn={}, age=0, looked=True, later=1)
    return machine.state


@pytest.mark.parametrize("slug", [slug for slug, book in EVERY.items() if all(map(can_be_given, gives(book)))])
def test_by_hand_too_every_runbook_ends_well(slug):
    ended = _walked_by_hand(EVERY[slug])
    assert (ended.status, len(ended.sealed)) == ("done", len(gives(EVERY[slug]))), (ended.step, ended.status, ended.note)
