"""What replace-in-place does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.operations import OPERATIONS
from twin import scenarios
from workflows.engine import events as ev
from workflows.engine.core import ask, blockers
from workflows.runbooks.replace_in_place.tests.stories import BY_ITSELF, DRAID, FIRST, MIRROR, SEVERAL, as_it_was, story
from workflows.situations import detect_all
from workflows.tests.walks import ANN, Stuck, Walk, stages_of

FOLDER = Path(__file__).resolve().parents[1]
LEFT = [
    f"{path.relative_to(FOLDER)}:{number}: {line.strip()}"
    for path in sorted(FOLDER.rglob("*.py"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
    if "FILL" + " IN" in line
]


def test_nothing_is_left_to_fill_in():
    assert not LEFT, "\n".join(LEFT)


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


@pytest.fixture(scope="module")
def alone():
    return stages_of(BY_ITSELF)


def of_zpool(walk):
    return [argv[1] for argv in walk.commands() if argv[0] == "zpool"]


def die(node, wwid, state="FAULTED"):
    leaf = scenarios.leaf_on(node, wwid)
    leaf.state, leaf.aux = state, "err_exceeded" if state == "FAULTED" else ""


# --- the way forward


def test_the_old_disk_serves_until_the_new_one_is_filled_and_is_pulled_afterwards(stages):
    walk = stages.at("resilver")
    assert scenarios.leaf_on(walk.node, walk.state.params["old_wwid"]).state == "DEGRADED"
    assert not any(disk.wwid == stages.end.state.params["old_wwid"] for disk in stages.end.node.disks)
    assert scenarios.leaf_on(stages.end.node, stages.end.state.params["wwid"]).state == "ONLINE"
    assert of_zpool(stages.end) == ["replace"]


def test_no_bay_is_lit_while_the_old_disk_is_in_the_pool(stages):
    for step in ("check", "replace", "resilver", "verify"):
        assert not any(bay.locate for enclosure in stages.at(step).node.enclosures for bay in enclosure.bays), step


def test_a_disk_that_came_back_into_a_pool_is_not_lit_for_a_pull(stages):
    walk = stages.at("plan-light")
    facts = walk.facts()
    params = {**walk.state.params, "old_wwid": walk.state.params["wwid"]}  # a member of the pool
    assert any("It stays in its bay." in verdict.reason for verdict in blockers(ask(walk.step.guards, facts, params)))


@pytest.mark.parametrize("state", ["FAULTED", "OFFLINE", "REMOVED", "UNAVAIL"])
def test_a_member_that_serves_nothing_is_refused_by_portal_and_node(state, stages):
    walk = stages.at("replace")
    with walk.changing() as node:
        die(node, walk.state.params["old_wwid"], state)
    assert any("serves nothing" in why for why in walk.why_not())
    operation, params = OPERATIONS["zpool_replace_serving"], walk.state.plan["params"]
    lines = operation.guards(operation.preconditions(walk.host, params), params)
    assert any("A lost member is replaced by `zpool_replace`." in reason for outcome, reason in lines if outcome == "refuse")


def test_a_lost_member_is_replaced_by_the_other_operation_which_takes_none_that_serves(stages):
    walk = stages.at("replace")
    operation, params = OPERATIONS["zpool_replace"], walk.state.plan["params"]
    lines = operation.guards(operation.preconditions(walk.host, params), params)
    assert any("only an absent member is replaced" in reason for outcome, reason in lines if outcome == "refuse")


def test_of_a_vdev_by_itself_the_plan_says_what_is_at_stake(alone, stages):
    text = alone.at("check").step.warns[0](alone.at("check").facts(), alone.at("check").state.params)
    assert "is a vdev by itself: only this disk holds its data" in text
    assert stages.at("check").step.warns[0](stages.at("check").facts(), stages.at("check").state.params) == ""


def filled(walk):
    """Whether the new disk alone holds the place of the old one."""
    return not any(vdev.type == "replacing" for pool in walk.node.pools for vdev in pool.walk())


@pytest.mark.parametrize("one", [MIRROR, DRAID], ids=lambda one: one.title)
def test_a_half_of_a_mirror_and_a_member_of_a_draid_serve_until_the_new_disk_is_filled(one):
    stages = stages_of(one)
    walk = stages.at("resilver")
    assert scenarios.leaf_on(walk.node, walk.state.params["old_wwid"]).state == "ONLINE"
    assert of_zpool(stages.end) == ["replace"]
    assert filled(stages.end)
    assert scenarios.leaf_on(stages.end.node, stages.end.state.params["wwid"]).state == "ONLINE"


def test_the_second_of_two_waits_for_the_first_and_then_has_its_own_run():
    """One resilver at a time in a vdev; when the first is verified the other member is offered, and not the one that was replaced."""
    stages = stages_of(SEVERAL)
    first = stages.end
    meanwhile = stages.at("resilver")
    other = next(
        answer.params
        for one in detect_all(meanwhile.facts())
        for answer in one.answers
        if answer.runbook == "replace-in-place" and answer.params["old_wwid"] != meanwhile.state.params["old_wwid"]
    )
    check = meanwhile.runbook.step("check")
    reasons = [verdict.reason for verdict in blockers(ask(check.guards, meanwhile.facts(), {**other, "wwid": ""}))]
    assert any("One replacement at a time: wait until it ends." in reason for reason in reasons), reasons
    second = Walk(story("", {"oss01": first.node})).to_the_end()
    assert second.state.status == "done"
    assert second.state.params["vdev_guid"] == other["vdev_guid"]
    assert filled(second)
    assert not [answer for one in detect_all(second.facts()) for answer in one.answers if answer.runbook == "replace-in-place"]


# --- calling it off


def called_off(walk):
    walk.abort()
    walk.to("see")
    return walk


@pytest.mark.parametrize("which", ["stages", "alone"])
def test_called_off_in_the_middle_each_step_of_the_way_back_comes(which, request):
    walk = called_off(request.getfixturevalue(which).at("resilver"))
    for step in ("confirm-call-off", "call-off", "verify-call-off", "light-new", "blinks-new", "pull-new", "dark-new"):
        walk.to(step)
    walk.to_the_end()
    assert (walk.state.status, walk.state.loops) == ("aborted", ())
    as_it_was(walk)
    assert not any(disk.wwid == walk.state.params["wwid"] for disk in walk.node.disks)


def test_where_the_new_disk_is_filled_meanwhile_nothing_is_taken_out_and_nothing_pulled(stages):
    walk = called_off(stages.at("resilver"))
    walk.clock.at += 7200
    walk.to_the_end()
    assert (walk.state.status, walk.state.loops) == ("aborted", ())
    assert of_zpool(walk) == ["replace"]
    assert scenarios.leaf_on(walk.node, walk.state.params["wwid"]).state == "ONLINE"


@pytest.mark.parametrize("step", ["plan-call-off", "call-off"])
def test_where_it_is_filled_just_before_the_plan_or_the_order_the_run_goes_back_and_looks(step, stages):
    """Else it would stand there for good: what was planned is refused, and no other plan can be made."""
    walk = called_off(stages.at("resilver")).to(step)
    walk.clock.at += 7200
    if step == "plan-call-off":
        assert any("Go back to “See how far it is”" in why for why in walk.why_not())
    else:
        with pytest.raises(Stuck):
            walk.go()
    if walk.state.status != "open" or walk.state.step != "see":
        walk.must(ev.WentBack, by=ANN, step="see")
    walk.to_the_end()
    assert (walk.state.status, walk.state.loops) == ("aborted", ())
    assert of_zpool(walk) == ["replace"]


def test_where_the_new_disk_dies_it_is_said_what_to_do_and_it_can_be_called_off(stages):
    walk = stages.at("resilver")
    with walk.changing() as node:
        die(node, walk.state.params["wwid"])
    walk.look()
    assert "End this run to call it off" in walk.state.alarm
    called_off(walk).to_the_end()
    as_it_was(walk)


def test_where_the_new_disk_is_pulled_out_nothing_is_lit_for_it(stages):
    walk = stages.at("resilver")
    with walk.changing() as node:
        leaf = scenarios.leaf_on(node, walk.state.params["wwid"])
        scenarios.unplug(node, walk.state.params["wwid"])
        leaf.state = "REMOVED"
    walk.look()
    called_off(walk).to_the_end()
    as_it_was(walk)
    assert not [argv for argv in walk.commands() if argv[0] == "locate"]


def test_where_the_old_disk_dies_it_is_not_called_off_and_the_filling_goes_on(stages):
    walk = stages.at("resilver")
    with walk.changing() as node:
        die(node, walk.state.params["old_wwid"])
    walk.look()
    assert "Do not call it off now" in walk.state.alarm
    back = called_off(walk).to("plan-call-off")
    assert any("Do not call it off now" in why for why in back.why_not())
    assert of_zpool(back) == ["replace"]


def test_the_node_too_takes_nothing_out_while_the_old_disk_serves_nothing(stages):
    walk = called_off(stages.at("resilver")).to("call-off")
    operation, params = OPERATIONS["zpool_detach_new_half"], walk.state.plan["params"]
    assert all(outcome == "pass" for outcome, _ in operation.guards(operation.preconditions(walk.host, params), params))
    with walk.changing() as node:
        die(node, walk.state.params["old_wwid"])
    lines = operation.guards(operation.preconditions(walk.host, params), params)
    assert any("so nothing is taken out" in reason for outcome, reason in lines if outcome == "refuse")


def test_the_node_never_takes_the_old_half_out(stages):
    walk = called_off(stages.at("resilver")).to("call-off")
    operation, params = OPERATIONS["zpool_detach_new_half"], dict(walk.state.plan["params"])
    params |= {"vdev_guid": params["keeps_guid"], "keeps_guid": params["vdev_guid"]}
    lines = operation.guards(operation.preconditions(walk.host, params), params)
    assert any("Only the new half" in reason for outcome, reason in lines if outcome == "refuse")


# --- where it is offered


def offered(walk):
    return {one.slug: [answer.runbook for answer in one.answers] for one in detect_all(walk.facts())}


def test_it_is_offered_beside_the_other_one_where_a_blank_disk_is_in_the_node(stages):
    walk = stages.at("choose")
    assert offered(walk)["disk-faulted"] == ["replace-in-place", "blink-and-replace"]
    with walk.changing() as node:
        for disk in node.disks[6:]:
            scenarios.unplug(node, disk.wwid)
    assert offered(walk)["disk-faulted"] == ["blink-and-replace"]


@pytest.mark.parametrize("why", ["too small", "carries a label", "bay not known"])
def test_a_disk_that_could_not_take_its_place_offers_nothing(why, stages):
    walk = stages.at("choose")
    with walk.changing() as node:
        for disk in node.disks[6:]:
            if why == "too small":
                disk.size_bytes -= 512
            elif why == "carries a label":
                disk.partitions = [*node.disks[0].partitions]
            else:
                place = node.bay_of(disk.wwid)
                place[1].wwid, place[1].status = None, "not installed"
    assert "replace-in-place" not in [slug for answers in offered(walk).values() for slug in answers]
