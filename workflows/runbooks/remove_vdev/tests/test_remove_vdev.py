"""What remove-vdev does and refuses: a disk or mirror of a pool without parity goes, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.facts import Unknown
from workflows.runbooks.add_redundancy.rehearsal import single
from workflows.runbooks.remove_vdev.guards import it_is_a_whole_data_vdev, the_others_can_take_its_data, the_removal_goes_on
from workflows.runbooks.remove_vdev.tests.stories import FIRST, SPECIAL
from workflows.situations import detect_all
from workflows.tests.bends import pool as with_pool
from workflows.tests.stage import Stage
from workflows.tests.walks import Stuck, stages_of


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def test_it_is_gone_and_the_mirror_is_left(stages):
    walk = stages.end
    assert walk.commands() == [["zpool", "remove", "ost_0", walk.state.params["vdev_guid"]]]
    assert [top.type for top in walk.node.pool("ost_0").tops] == ["mirror"]
    assert "top-without-redundancy" not in [one.slug for one in detect_all(walk.facts())]
    assert "device-removal" in [one.slug for one in detect_all(walk.facts())]


def test_what_is_given_up_stands_in_the_plan_and_a_person_types_the_guid(stages):
    walk = stages.at("confirm")
    assert "What is copied is not checked meanwhile" in walk.state.plan["given_up"]
    assert walk.step.phrase(walk.state.params, walk.state.plan) == f"{walk.state.params['vdev_guid'][-6:]} ost_0"


def test_a_pool_with_a_raidz_is_not_offered_it(tmp_path):
    facts = Stage(tmp_path, {"oss01": single("data")}).facts()
    [found] = [one for one in detect_all(facts) if one.slug == "top-without-redundancy"]
    assert [answer.runbook for answer in found.answers] == ["add-redundancy"]
    assert "remove-vdev" not in [cure.runbook for cure in found.cures]


def test_a_special_vdev_goes_to_the_data_vdevs_and_the_plan_says_what_that_costs():
    walk = stages_of(SPECIAL).at("confirm")
    assert "Metadata and small blocks are on the data vdevs from then on" in walk.state.plan["given_up"]
    walk.to_the_end()
    assert walk.commands() == [["zpool", "remove", "ost_0", walk.state.params["vdev_guid"]]]
    assert [(top.type, top.cls) for top in walk.node.pool("ost_0").tops] == [("mirror", "data")]


def test_a_special_vdev_of_another_ashift_stays():
    walk = stages_of(SPECIAL).at("check")
    [pool] = walk.facts().nodes["oss01"].pools
    tops = tuple((role, replace(top, ashift=9) if role == "special" else top) for role, top in pool.tops)
    verdict = the_others_can_take_its_data(with_pool(tops=tops)(walk.facts(), walk.state.params), walk.state.params)
    assert (verdict.outcome, "the data vdevs and the special vdevs have different ashifts (9, 12)" in verdict.reason) == ("refuse", True)


def offline(node):
    node.pool("ost_0").tops[-1].state = "OFFLINE"


def suspended(node):
    node.pool("ost_0").suspended = "io"


@pytest.mark.parametrize("step", ["check", "plan-remove", "remove"])
@pytest.mark.parametrize(("change", "words"), [(offline, "has to be ONLINE and to miss nothing"), (suspended, "is suspended")])
def test_it_refuses(change, words, step, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    assert any(words in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize(("change", "fact"), [(offline, "target.members"), (suspended, "pool.state")])
def test_the_node_refuses_what_changed_after_the_portal_asked(change, fact, stages):
    walk = stages.at("remove")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=fact):
        walk.go()
    assert walk.commands() == []


def test_one_disk_of_a_mirror_and_the_last_data_vdev_stay(stages):
    walk = stages.at("check")
    facts, params = walk.facts(), walk.state.params
    half = walk.node.pool("ost_0").tops[0].children[0].guid
    assert "is a part of mirror-0" in it_is_a_whole_data_vdev(facts, {**params, "vdev_guid": str(half)}).reason
    [pool] = facts.nodes["oss01"].pools
    alone = tuple(pair for pair in pool.tops if str(pair[1].guid) == params["vdev_guid"])
    assert "has no other data vdev" in the_others_can_take_its_data(with_pool(tops=alone)(facts, params), params).reason


@pytest.mark.parametrize("field", ["space", "checkpoint", "removing"])
def test_what_is_not_known_is_a_refusal(field, stages):
    walk = stages.at("check")
    facts = with_pool(**{field: Unknown("It was not read.")})(walk.facts(), walk.state.params)
    assert the_others_can_take_its_data(facts, walk.state.params).outcome == "unknown"


def test_an_ashift_that_differs_or_is_not_known_refuses(stages):
    walk = stages.at("check")
    [pool] = walk.facts().nodes["oss01"].pools
    for ashift, outcome in ((9, "refuse"), (Unknown("It was not read."), "unknown")):
        tops = tuple((role, replace(top, ashift=ashift) if top.kind == "mirror" else top) for role, top in pool.tops)
        facts = with_pool(tops=tops)(walk.facts(), walk.state.params)
        assert the_others_can_take_its_data(facts, walk.state.params).outcome == outcome


def test_a_removal_that_was_called_off_is_an_alarm(stages):
    walk = stages.at("check")
    assert "the removal was called off" in the_removal_goes_on(walk.facts(), walk.state.params).reason
