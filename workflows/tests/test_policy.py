"""What the node's own policy file refuses is refused at the first check, with the line to change; not after plan, confirmation and approval."""

import json
from dataclasses import replace

import pytest

from agents.domain.times import seconds_of
from agents.operations import OPERATIONS, locate_led, zpool_replace, zpool_scrub
from agents.orders import policy
from agents.orders.policy import Policy, load, reported
from workflows.by_hand.commands import can_be_given
from workflows.engine.core import PlanStep, ask, blockers
from workflows.facts import Unknown, node_facts
from workflows.facts.read.policies import NOT_REPORTED, OLDER
from workflows.guards.policy import allowed
from workflows.runbooks import RUNBOOKS
from workflows.tests.incident import NODE, PARAMS, POOL_GUID, fleet

PATH = policy.DEFAULT_PATH
OBSERVES = Policy("observe", why=f"{PATH} says so.", path=PATH)
OTHER_OPERATION = Policy("operate", ("locate_led",), ("*",), f"{PATH} says so.", path=PATH)
OTHER_POOL = Policy("operate", ("zpool_replace",), ("4711",), f"{PATH} says so.", path=PATH)
HELD = Policy("observe", why="The journal is full.")
ALLOWS = Policy("operate", ("zpool_replace",), (str(POOL_GUID),), f"{PATH} says so.", path=PATH)
GUARD = allowed(zpool_replace)


def text_of(rule):
    return GUARD(fleet(replace(NODE, policy=rule)), PARAMS)


@pytest.mark.parametrize(
    ("rule", "mend"),
    [
        (OBSERVES, f'sets "mode" to "operate", with "zpool_replace" in "operations" and "{POOL_GUID}" in "pools" in {PATH}'),
        (OTHER_OPERATION, f'adds "zpool_replace" to "operations" in {PATH}'),
        (OTHER_POOL, f'adds "{POOL_GUID}" to "pools" in {PATH}'),
        (HELD, "`slotlight-agent doctor` on the node says what to mend"),
    ],
)
def test_a_refusal_names_the_node_the_line_and_the_way_by_hand(rule, mend):
    verdict = text_of(rule)
    assert verdict.outcome == "refuse"
    assert verdict.reason.startswith("oss01: This node")
    assert mend in verdict.reason
    assert rule is HELD or "gives the command by hand" in verdict.reason
    assert "shows every command" in verdict.reason


def test_it_says_what_the_node_would_say():
    assert OBSERVES.refusal("zpool_replace", "at_most_once", PARAMS) in text_of(OBSERVES).reason


def test_what_is_allowed_passes_and_what_is_not_reported_is_said_and_stops_nobody():
    assert text_of(ALLOWS).outcome == "pass"
    older = text_of(NOT_REPORTED)
    assert older.outcome == "pass"
    assert "is not known before it is asked" in older.reason


def test_an_agent_too_old_to_check_approvals_is_told_before_anybody_approves():
    assert text_of(OLDER).outcome == "refuse"
    assert "Update the agent first" in text_of(OLDER).reason
    light = allowed(locate_led)(fleet(replace(NODE, policy=OLDER)), PARAMS)
    assert light.outcome == "pass", "what needs no approval needs no newer agent"


def test_the_policy_comes_with_what_the_agent_tells_of_itself(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"mode": "operate", "operations": ["zpool_replace"], "pools": ["42"], "break_glass": False}))
    path.chmod(0o644)
    rule = load(str(path))
    assert reported(rule.as_text()) == rule
    assert rule.path == str(path)
    body = {"outcome": "data", "text": f"version:1\npolicy:{rule.as_text()}\n", "reason": "", "stderr": "", "exit_code": None}
    assert node_facts("oss01", {"agent": body}, 1.0, ()).policy == rule
    older = node_facts("oss01", {"agent": {**body, "text": "version:1\n"}}, 1.0, ())
    assert older.policy == OLDER
    assert node_facts("oss01", {}, 1.0, ()).policy == NOT_REPORTED


@pytest.mark.parametrize(
    "line", ["", "{", "[]", "{}", '{"mode": 1}', '{"mode": "operate", "operations": [1], "pools": [], "why": "", "path": ""}', "[" * 9000]
)
def test_a_policy_that_is_not_understood_is_none(line):
    assert reported(line) is None


ORDERS = [
    (runbook.slug, step.slug)
    for runbook in RUNBOOKS.values()
    for step in runbook.steps
    if step.kind in ("PLAN", "EXECUTE") and not step.unattended
]


@pytest.mark.parametrize(("slug", "step"), ORDERS)
def test_every_order_asks_the_nodes_policy_for_its_own_operation(slug, step):
    here = RUNBOOKS[slug].step(step)
    guards = [guard for guard in here.guards if guard.__name__ == "the_policy_of_the_node_allows_it"]
    assert len(guards) == 1
    against = blockers(tuple(guard(fleet(replace(NODE, policy=OBSERVES)), PARAMS) for guard in guards))
    assert bool(against) == (OPERATIONS[here.operation].EFFECT != "pure")


@pytest.mark.parametrize("slug", [slug for slug, runbook in RUNBOOKS.items() if any(step.destructive for step in runbook.steps)])
def test_who_begins_what_destroys_hears_of_it_at_the_first_check(slug):
    """A triage whose order is one of several ways goes on without it."""
    first = next(step for step in RUNBOOKS[slug].steps if step.kind == "CHECK")
    assert "the_policy_of_the_node_allows_it" in [guard.__name__ for guard in first.guards]


AGENT_ONLY = [step for book in RUNBOOKS.values() for step in book.steps if isinstance(step, PlanStep) and not can_be_given(step.operation)]


def test_there_is_an_operation_that_no_person_can_give():
    assert {step.operation for step in AGENT_ONLY} == {"zdb_without", "disk_wipe", "disk_wipe_destroyed"}


@pytest.mark.parametrize("step", AGENT_ONLY, ids=[step.slug for step in AGENT_ONLY])
def test_what_the_agent_alone_can_do_is_passed_over_where_it_may_not_and_leads_to_no_snippet(step):
    params = {**PARAMS, "node": "oss01"}
    for rule, outcome in ((OBSERVES, "refuse"), (replace(ALLOWS, operations=(step.operation,)), "pass")):
        facts = fleet(replace(NODE, policy=rule))
        assert step.needed(facts, params).outcome == outcome
        against = [v for v in ask(step.guards, facts, params) if v.guard == "the_policy_of_the_node_allows_it"]
        assert [v.by_hand for v in against if v.outcome == "refuse"] == [False] * (outcome == "refuse")


def test_hours_for_scrubs_bind_an_order_and_a_run_by_hand():
    rule = Policy("operate", ("zpool_scrub",), (str(POOL_GUID),), path=PATH, scrub_hours=("Mon 10:00-12:00",))
    here = fleet(replace(NODE, policy=rule))

    def at(text: str):
        return allowed(zpool_scrub)(replace(here, at=seconds_of(text)), PARAMS)

    assert at("2026-11-23T11:00:00Z").outcome == "pass"
    closed = at("2026-11-23T12:00:00Z")
    assert (closed.outcome, closed.by_hand) == ("refuse", False)
    assert "begin on Mon 10:00 (UTC)" in closed.reason
    assert "scrub_hours" in closed.reason
    assert allowed(zpool_scrub)(replace(here, at=Unknown("no clock.")), PARAMS).outcome == "refuse"
