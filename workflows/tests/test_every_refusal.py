"""Each guard of each runbook refuses, and does not know, in a walk through the engine: by what is so, and in the words meant."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from workflows.engine import events as ev
from workflows.engine.core import blockers
from workflows.engine.decide import Decision
from workflows.runbooks import RUNBOOKS
from workflows.tests import tally
from workflows.tests.bad import BAD, NEVER, OF_RUNBOOKS, REFUSE, UNKNOWN, guards_in, possible
from workflows.tests.bends import Bad, as_it_is, tunable
from workflows.tests.blind import blinded
from workflows.tests.moments import Moment, Outcome, asking, verdicts
from workflows.tests.stories import STORIES
from workflows.tests.walks import assert_readable, stages_of

MOMENTS_MAX = 2  # at which a guard is asked with each fact left out
KIND_OF = {REFUSE: tally.REFUSED, UNKNOWN: tally.UNKNOWN}
WALKS = [
    pytest.param(slug, outcome, guard, id=f"{slug}-{guard}-{outcome}")
    for slug, runbook in RUNBOOKS.items()
    for outcome in (REFUSE, UNKNOWN)
    for guard in possible(runbook, outcome)
]
NEVERS = {slug: tuple(never for never in NEVER if never[0] in guards_in(runbook)) for slug, runbook in RUNBOOKS.items()}


@pytest.fixture(scope="module")
def moments():
    return moments_of


@cache
def moments_of(slug: str) -> tuple[Moment, ...]:
    return tuple(moment for story in STORIES.values() if story.runbook == slug for moment in stages_of(story).moments)


@cache
def unchanged(moment: Moment) -> Outcome:
    """What the engine answered in the walk itself."""
    return moment.again(as_it_is)


def texts_by(guard: str, outcome: Outcome):
    """What this guard had against it; None when it passed or was not asked."""
    return next((verdict for verdict in blockers(verdicts(outcome)) if verdict.guard == guard), None)


def stands_still(moment: Moment, outcome: Outcome) -> bool:
    """The run is where it was, and nothing is asked of a node but to look or to wait."""
    if not isinstance(outcome, Decision):
        return True
    allowed = (ev.Ring, ev.Record, ev.AskNode) if moment.step.kind in ("WAIT", "VERIFY") else ()
    here = (outcome.state.step, outcome.state.finished) == (moment.state.step, moment.state.finished)
    return here and all(isinstance(effect, allowed) for effect in outcome.effects)


def met(moments: tuple[Moment, ...], bad: Bad, outcome: str) -> tuple[Moment, Outcome] | None:
    """The first moment at which the guard says this because of what was changed, or says it by itself while the walk waits."""
    for moment in asking(moments, bad.guard):
        after = moment.again(bad.bend)
        verdict, before = texts_by(bad.guard, after), texts_by(bad.guard, unchanged(moment))
        meant = verdict is not None and verdict.outcome == outcome and bad.expected in verdict.reason
        caused = bad.bend is as_it_is or before is None or bad.expected not in before.reason
        if meant and caused:
            return moment, after
    return None


@pytest.mark.parametrize(("slug", "outcome", "guard"), WALKS)
def test_it_is_met_in_a_walk_and_the_run_stands_still(slug, outcome, guard, moments):
    """A guard that has no line in `bad` has none to be met by."""
    assert BAD[outcome].get(guard), (
        f"nothing makes {guard} answer {outcome}: list it in tests/bad.py of its runbook, or in bad_disks, bad_imports or bad_pools"
    )
    for bad in BAD[outcome][guard]:
        found = met(moments(slug), bad, outcome)
        assert found, f"no walk of {slug} comes to {guard} saying {bad.expected!r}"
        moment, after = found
        assert stands_still(moment, after)
        assert_readable(texts_by(guard, after).reason)
    tally.count(slug, KIND_OF[outcome], guard)


@pytest.mark.parametrize("slug", [slug for slug, nevers in NEVERS.items() if nevers])
def test_what_is_said_never_to_be_answered_is_not_answered_whatever_is_changed(slug, moments):
    """Else it belongs among those that are walked."""
    bends = {as_it_is, *(bad.bend for bads in BAD.values() for those in bads.values() for bad in those)}
    for moment in moments(slug):
        nevers = [(moment.asks[guard], outcome) for guard, outcome in NEVERS[slug] if guard in moment.asks]
        as_they_were = moment.fields["facts"]
        for bend in bends if nevers else ():
            facts = bend(as_they_were, moment.params)
            if facts is as_they_were and bend is not as_it_is:
                continue  # there was nothing to change
            for guard, outcome in nevers:
                verdict = guard(facts, moment.params)
                assert verdict.outcome != outcome, (guard.__name__, verdict)


@pytest.mark.parametrize(("slug", "guard"), [(slug, guard) for slug, runbook in RUNBOOKS.items() for guard in guards_in(runbook)])
def test_a_fact_less_lets_nothing_through_that_was_not_before(slug, guard, moments):
    """As in `test_guards_in_the_dark`, with everything that the guard needs for an answer."""
    for moment in list(asking(moments(slug), guard))[:MOMENTS_MAX]:
        facts, asked = moment.fields["facts"], moment.asks[guard]
        before = asked(facts, moment.params).outcome
        for what, less in blinded(facts, moment.params["node"]):
            after = asked(less, moment.params).outcome
            assert after == before or after != "pass", what


# --- what somebody types at the rack

WRONG = "999"  # no bay, no serial number, no host, no sentence
ANSWERS = {
    "a_disk_from_the_shelf": "is no serial number",
    "every_disk_was_imaged": "Say that all 6 are imaged",
    "it_was_done_on_the_partners": "Set it alike on both",
    "the_bay_that_blinks": "You see bay 999 blink",
    "the_chosen_disk": "is not the disk that was chosen",
    "the_disk_meant_in_its_place": "Pull nothing, and look for that one",
    "the_end_that_was_touched": "not at 999",
    "the_other_pools_are_named": "What else lives on oss01 is",
    "the_partners_are_named": "was not named",
    "what_was_mended": "Name what was changed and where",
    "what_was_seen": "Say what was looked at or copied",
    "where_it_was_copied": "Say what was copied",
    "who_has_taken_over": "Say who has taken over",
    **{judge: value for part in OF_RUNBOOKS for judge, value in part.ANSWERS.items()},
}
JUDGED = sorted(
    {(slug, step.judges.__name__) for slug, runbook in RUNBOOKS.items() for step in runbook.steps if getattr(step, "judges", None)}
)


@pytest.mark.parametrize(("slug", "judge"), JUDGED)
def test_a_wrong_answer_is_refused_in_a_walk_and_the_run_stands_still(slug, judge, moments):
    """Where facts judge and not the words, the node is not as it was said to be."""
    asked = [moment for moment in moments(slug) if getattr(moment.step, "judges", None) and moment.step.judges.__name__ == judge]
    assert asked, f"no walk of {slug} comes to {judge}"
    for moment in asked:
        wrong = replace(moment, fields={**moment.fields, "evidence": WRONG}).again(tunable("zfs_multihost_fail_intervals", "7"))
        assert not isinstance(wrong, Decision), f"{slug} takes {WRONG!r} at {moment.state.step}"
        assert any(ANSWERS[judge] in verdict.reason for verdict in blockers(wrong.verdicts)), wrong


def test_no_line_is_about_a_guard_that_no_runbook_asks():
    asked = {guard for runbook in RUNBOOKS.values() for guard in guards_in(runbook)}
    assert {guard for bads in BAD.values() for guard in bads} | {guard for guard, _ in NEVER} == asked


def test_a_guard_has_one_name_only():
    """The table and a refusal tell guards by name."""
    found = {(guard.__name__, guard.__module__) for runbook in RUNBOOKS.values() for step in runbook.steps for guard in step.guards}
    assert len(found) == len({name for name, _ in found})
