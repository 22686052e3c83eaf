import dataclasses
from types import SimpleNamespace
from typing import get_args

import pytest

from workflows.engine import lint
from workflows.engine.core import ManualStep, Step
from workflows.runbooks import RUNBOOKS
from workflows.tests.cast import OPERATIONS, RUNBOOK


def changed(which: str, **over):
    return dataclasses.replace(RUNBOOK, steps=tuple(dataclasses.replace(s, **over) if s.slug == which else s for s in RUNBOOK.steps))


def without(*slugs: str):
    return dataclasses.replace(RUNBOOK, steps=tuple(s for s in RUNBOOK.steps if s.slug not in slugs))


def with_first(step: Step, slug: str):
    return dataclasses.replace(RUNBOOK, steps=(dataclasses.replace(step, slug=slug), *RUNBOOK.steps))


def with_last(step: Step, slug: str):
    return dataclasses.replace(RUNBOOK, steps=(*RUNBOOK.steps, dataclasses.replace(step, slug=slug)))


def test_it_has_nothing_to_say_of_a_good_runbook():
    assert lint.problems(RUNBOOK, OPERATIONS) == ()


@pytest.mark.parametrize(
    ("runbook", "words"),
    [
        (changed("execute", effect="idempotent"), "catalogue says"),
        (changed("execute", destructive=False), "catalogue says"),
        (changed("execute", guards=()), "needs guards"),
        (changed("execute", operation="zpool_destroy"), "no operation"),
        (changed("execute", params=lambda facts, params: {}), "same params"),
        (changed("plan", guards=()), "needs guards"),
        (changed("verify", sources=()), "needs sources"),
        (changed("wait", deadline_seconds=0), "needs deadline_seconds"),
        (changed("approve", approvals=0), "needs approvals"),
        (changed("check", why=""), "why"),
        (changed("check", slug="choose"), "one slug"),
        (without("approve"), "follows an APPROVE"),
        (without("plan"), "follows a PLAN"),
        (without("verify"), "followed by a VERIFY"),
        (without("execute"), "is no step"),
        (with_first(RUNBOOK.step("approve"), "early-approve"), "follows a PLAN, with no EXECUTE between"),
        (with_first(RUNBOOK.step("confirm"), "early-confirm"), "follows a PLAN, with no EXECUTE between"),
        (with_last(RUNBOOK.step("approve"), "late-approve"), "follows a PLAN, with no EXECUTE between"),
        (with_last(RUNBOOK.step("execute"), "again"), "an EXECUTE step follows a PLAN of the same operation"),
        (with_last(RUNBOOK.step("execute"), "again"), "followed by a VERIFY before anything else is executed"),
        (changed("execute", effect="pure"), "catalogue says"),
        (changed("check", guards=()), "needs guards"),
        (changed("verify", guards=()), "needs guards"),
        (changed("plan", operation=""), "no operation ''"),
        (changed("plan", operation="other"), "no operation 'other'"),
        (changed("choose", param=""), "needs param"),
        (changed("choose", param="pool"), "is given already"),
        (changed("confirm", phrase_hint=""), "needs phrase_hint"),
        (dataclasses.replace(RUNBOOK, steps=()), "steps are all needed"),
        (dataclasses.replace(RUNBOOK, params={}), "params and steps are all needed"),
        (dataclasses.replace(RUNBOOK, states=""), "states, params"),
        (dataclasses.replace(RUNBOOK, locks=None), "its locks"),
        (dataclasses.replace(RUNBOOK, point_of_no_return=""), "point of no return"),
        (dataclasses.replace(RUNBOOK, params={"pool": "the pool"}), "parameter node"),
    ],
)
def test_it_refuses_a_definition_that_breaks_a_rule(runbook, words):
    assert any(words in why for why in lint.problems(runbook, OPERATIONS)), lint.problems(runbook, OPERATIONS)
    with pytest.raises(ValueError, match=runbook.slug):
        lint.load((runbook,), OPERATIONS)


KINDS = get_args(Step)
OWN = {kind: {field.name for field in dataclasses.fields(kind)} for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_takes_no_field_of_another_kind(kind):
    step = next(s for book in (RUNBOOK, *RUNBOOKS.values()) for s in book.steps if type(s) is kind)
    for name in set().union(*OWN.values()) - OWN[kind]:
        with pytest.raises(TypeError, match=name):
            dataclasses.replace(step, **{name: None})


def test_every_field_of_a_kind_is_hashed_for_all_kinds():
    """What one kind alone declares is declared empty by the others, as it was when all were of one type: the digests of runs go on."""
    declared = [set(lint._declared(step)) for step in RUNBOOK.steps]
    assert {"kind"}.union(*OWN.values()) - set(lint._LEFT_OUT) == set.union(*declared) == set.intersection(*declared)


def test_an_approval_before_the_plan_does_not_count():
    steps = [s for s in RUNBOOK.steps if s.slug != "approve"]
    approve = RUNBOOK.step("approve")
    early = dataclasses.replace(RUNBOOK, steps=(approve, *steps))
    assert any("follows an APPROVE" in why for why in lint.problems(early, OPERATIONS))


def test_an_at_most_once_operation_without_a_probe_is_refused():
    blind = {"replace": SimpleNamespace(EFFECT="at_most_once", DESTRUCTIVE=True)}
    assert any("needs a probe" in why for why in lint.problems(RUNBOOK, blind))


def test_what_is_done_at_most_once_takes_an_approval_also_when_it_destroys_nothing():
    harmless = {"replace": SimpleNamespace(EFFECT="at_most_once", DESTRUCTIVE=False, probe=lambda host, params, pre: None)}
    book = changed("execute", destructive=False)
    assert not lint.problems(book, harmless)
    unapproved = dataclasses.replace(book, steps=tuple(s for s in book.steps if s.kind != "APPROVE"))
    assert any("follows an APPROVE" in why for why in lint.problems(unapproved, harmless))


def test_two_runbooks_of_one_name_are_refused():
    with pytest.raises(ValueError, match="called sample"):
        lint.load((RUNBOOK, RUNBOOK), OPERATIONS)


def test_the_digest_changes_with_what_is_declared():
    digest = lint.definition_digest(RUNBOOK)
    assert digest == lint.definition_digest(RUNBOOK)
    assert len(digest) == 64
    assert lint.definition_digest(changed("wait", deadline_seconds=1)) != digest
    assert lint.definition_digest(changed("verify", guards=(RUNBOOK.step("check").guards))) != digest
    assert lint.definition_digest(without("swap")) != digest
    assert lint.definition_digest(dataclasses.replace(RUNBOOK, steps=(*RUNBOOK.steps, ManualStep("x", "X", "Why.")))) != digest
