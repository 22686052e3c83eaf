"""Good is only what every source that answered says is good, where nothing that matters failed or is late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from workflows.analysis.judgement import (
    WATCHES,
    Concern,
    Judgement,
    concerns,
    judge_disk,
    judge_fleet,
    judge_node,
    judge_pasted,
    judge_pool,
)
from workflows.engine.core import Situation
from workflows.facts import FleetFacts, NodeFacts, Unknown, UnreadLine, node_facts
from workflows.facts.read.source_states import late_after_seconds
from workflows.facts.tests.played import captures
from workflows.situations import detect_all
from workflows.triage import triage

STEP = "healthy-raidz2"


@lru_cache
def captures_of() -> Mapping[str, Capture]:
    return captures(STEP)


def node(changed: Mapping[str, Capture] | None = None, ages: Mapping[str, float] | None = None) -> NodeFacts:
    all_ages = dict.fromkeys(COLLECTORS, 1.0) | dict(ages or {})
    return node_facts("oss01", {**captures_of(), **(changed or {})}, 1.0, (), ages=all_ages)


def judged(facts: NodeFacts) -> tuple[Judgement, tuple[Situation, ...]]:
    found = detect_all(FleetFacts({"oss01": facts}))
    return judge_node(facts, concerns(found)), found


def without(source: str) -> dict[str, Capture]:
    places = [place for place in captures_of() if place.partition("/")[0] == source] or [source]
    return {place: Capture(source, place.partition("/")[2], "nothing", "", "the tool is not installed") for place in places}


def test_a_healthy_node_is_good_with_all_in_it():
    facts = node()
    assert judged(facts)[0].tone == "good"
    assert judge_pool(facts, facts.pools[0], ()).tone == "good"
    assert {judge_disk(facts, disk, ()).tone for disk in facts.disks} == {"good"}


@pytest.mark.parametrize("source", COLLECTORS)
def test_a_healthy_node_with_any_one_tool_missing_raises_nothing_and_is_not_red(source):
    judgement, found = judged(node(without(source)))
    assert found == ()
    assert judgement.tone in ("good", "unknown")
    if source in WATCHES and source not in ("zpool_status", "block"):
        assert judgement.tone == "good"
        assert any(f"({source})" in what for what in judgement.not_looked_at)


def test_without_zpool_status_nothing_is_called_good():
    assert judged(node(without("zpool_status")))[0].tone == "unknown"


@pytest.mark.parametrize("source", sorted(WATCHES))
def test_what_matters_and_failed_is_not_known(source):
    places = [place for place in captures_of() if place.partition("/")[0] == source] or [source]
    failed = {place: Capture(source, place.partition("/")[2], "failed", "", "it was killed after 20 s") for place in places}
    judgement, _ = judged(node(failed))
    assert judgement.tone != "good"
    assert any("it was killed" in why for why in judgement.unknown)


@pytest.mark.parametrize("source", sorted(source for source in WATCHES if source != "ses"))
def test_what_matters_and_is_late_is_not_known_and_not_before(source):
    if all(capture.outcome == "nothing" for place, capture in captures_of().items() if place.partition("/")[0] == source):
        pytest.skip("nobody watches it on this node")
    assert judged(node(ages={source: late_after_seconds(source)}))[0].tone == "good"
    late, _ = judged(node(ages={source: late_after_seconds(source) + 1}))
    assert late.tone == "unknown"
    assert any(source in why for why in late.unknown)


def test_a_silent_node_is_not_known():
    assert judge_node(replace(node(), age_seconds=91.0), ()).tone == "unknown"
    assert judge_node(replace(node(), age_seconds=float("nan")), ()).tone == "unknown"


def test_a_line_that_was_not_understood_leaves_its_pool_unknown_and_no_other():
    facts = node()
    (pool,) = facts.pools
    odd = replace(pool, name="odd", unread=(UnreadLine("polish: half", "", "no release prints it"),))
    assert judge_pool(facts, odd, ()).tone == "unknown"
    assert judge_pool(facts, pool, ()).tone == "good"


def test_pools_that_are_not_known_are_not_good():
    assert judge_node(replace(node(), pools=Unknown("zpool hangs")), ()).tone == "unknown"


@pytest.mark.parametrize(("severity", "tone"), [("act", "bad"), ("watch", "watch"), ("info", "info")])
def test_a_situation_colours_what_it_is_about_and_no_other_pool(severity, tone):
    facts = node()
    mine = Concern.of(severity, "trouble", {"pool": facts.pools[0].name})
    other = Concern.of(severity, "trouble", {"pool": "elsewhere"})
    assert judge_pool(facts, facts.pools[0], [mine]).tone == tone
    assert judge_pool(facts, facts.pools[0], [other]).tone == "good"
    assert judge_node(facts, [other]).tone == tone


def test_what_is_reviewed_is_grey_and_never_good():
    facts = node()
    seen = Concern.of("watch", "a word", {"pool": facts.pools[0].name}, is_reviewed=True)
    assert judge_node(facts, [seen]).tone == "info"


def test_the_fleet_is_as_bad_as_its_worst_node():
    good, bad = Judgement("good"), Judgement("bad", ("oss02 burns",))
    assert judge_fleet({"a": good, "b": good}).tone == "good"
    assert judge_fleet({"a": good, "b": bad}).reasons == ("b: oss02 burns",)
    assert judge_fleet({}).tone == "unknown"


def test_a_paste_is_judged_by_what_was_pasted_and_the_rest_is_named():
    found = triage([("paste", captures_of()["zpool_status"].text)])
    judgement = judge_pasted(found.fleet, found.situations, {"zpool_status"})
    assert judgement.tone == "good"
    assert any("SMART report" in what for what in judgement.not_looked_at)
    assert found.good


def test_what_says_nothing_of_health_is_not_good():
    found = triage([("paste", captures_of()["lsscsi"].text)])
    assert not found.good
    assert any("lsscsi was read" in what for what in found.not_looked_at)
