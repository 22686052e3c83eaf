"""How old facts may be: what counts is when a source was asked, not when the node reported."""

from dataclasses import replace

import pytest

from agents.collectors import COLLECTORS
from workflows.facts import Unknown
from workflows.guards import facts_are_fresh
from workflows.guards.fresh import FACTS_AGE_SECONDS_MAX, SOURCES, age_seconds_max, stale
from workflows.tests.incident import NODE, PARAMS, fleet


def asked(**ages):
    return replace(NODE, ages={**NODE.ages, **ages})


def test_it_says_which_source_is_the_oldest():
    verdict = facts_are_fresh(fleet(asked(zdb_label=90.0)), PARAMS)
    assert (verdict.outcome, "zdb_label, was read 90 s ago" in verdict.reason) == ("pass", True)


@pytest.mark.parametrize("source", SOURCES)
def test_it_does_not_rest_on_a_source_that_was_not_asked_for_too_long(source):
    limit = age_seconds_max(source)
    assert limit == COLLECTORS[source].EVERY_SECONDS + FACTS_AGE_SECONDS_MAX
    assert facts_are_fresh(fleet(asked(**{source: limit})), PARAMS).outcome == "pass"
    verdict = facts_are_fresh(fleet(asked(**{source: limit + 1})), PARAMS)
    assert (verdict.outcome, f"{source} of oss01 was read" in verdict.reason) == ("unknown", True)


@pytest.mark.parametrize("source", SOURCES)
def test_it_does_not_rest_on_a_source_that_was_never_asked(source):
    ages = {name: age for name, age in NODE.ages.items() if name != source}
    assert "has not been asked" in facts_are_fresh(fleet(replace(NODE, ages=ages)), PARAMS).reason


@pytest.mark.parametrize("ages", [Unknown("Nobody said."), {}, dict.fromkeys(COLLECTORS, -5.0), dict.fromkeys(COLLECTORS, float("nan"))])
def test_ages_that_are_not_known_are_no_ages(ages):
    assert facts_are_fresh(fleet(replace(NODE, ages=ages)), PARAMS).outcome == "unknown"


def test_a_source_nobody_reads_may_be_as_old_as_it_likes():
    assert facts_are_fresh(fleet(asked(zpool_import=9e9)), PARAMS).outcome == "pass"


def test_a_node_that_is_silent_is_stale_whatever_it_last_said():
    assert "Check its agent." in stale(replace(NODE, age_seconds=61.0), ())
