"""Nothing of the pool comes before a change of its disks: each thing that does is refused, and what is not known too."""

from dataclasses import replace

import pytest

from agents.tests.scenarios import STEPS
from workflows.engine.core import ask
from workflows.facts import Unknown
from workflows.facts.tests.played import fleet as captured
from workflows.guards import TARGET_GUARDS
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.runbooks import RUNBOOKS
from workflows.situations import GATING, SITUATIONS, detect_all
from workflows.tests.incident import FLEET, MEMBERS, NODE, PARAMS, POOL, TOP, fleet, vdev, with_pool

WRONG = tuple(replace(member, errors=(0, 0, 3)) for member in MEMBERS)
CLOSED = replace(TOP, state="UNAVAIL")

REFUSED = {
    "suspended": {"state": "SUSPENDED", "suspended": True},
    "it cannot be opened": {"state": "UNAVAIL"},
    "its vdev cannot be opened": {"tops": (("data", CLOSED),)},
    "another vdev that holds data cannot be opened": {
        "tops": (("data", TOP), ("special", vdev(77, "mirror-1", "mirror", 0, state="FAULTED")))
    },
    "read-only": {"properties": {**POOL.properties, "readonly": "on"}},
    "all of its disks count errors": {"tops": (("data", replace(TOP, children=(TOP.children[0], *WRONG))),)},
}
NOT_KNOWN = {
    "its vdevs": {"tops": Unknown("a row was not understood")},
    "whether it is suspended": {"suspended": Unknown("not read")},
    "whether it is read-only": {"properties": Unknown("zpool_get was not collected.")},
    "whether it is read-only is not among the properties": {"properties": {}},
    "its state": {"state": "PONDERING"},
}


def test_of_a_pool_that_serves_it_passes():
    assert nothing_of_the_pool_comes_first(FLEET, PARAMS).outcome == "pass"


@pytest.mark.parametrize("name", REFUSED)
def test_what_comes_first_is_refused_and_named(name):
    verdict = nothing_of_the_pool_comes_first(with_pool(**REFUSED[name]), PARAMS)
    assert verdict.outcome == "refuse"
    assert "first" in verdict.reason


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_not_knowing_is_no_leave(name):
    assert nothing_of_the_pool_comes_first(with_pool(**NOT_KNOWN[name]), PARAMS).outcome == "unknown"


def test_a_pool_that_another_node_has_too_is_refused():
    both = fleet(NODE, replace(NODE, node="oss09"))
    assert nothing_of_the_pool_comes_first(both, PARAMS).outcome == "refuse"


BINDS = {"zpool_replace", "zpool_replace_serving", "zpool_offline", "zpool_detach"}


@pytest.mark.parametrize("slug", RUNBOOKS)
def test_every_plan_and_order_that_takes_a_member_out_or_puts_one_in_asks_it(slug):
    for step in RUNBOOKS[slug].steps:
        if step.operation in BINDS and not step.undoes:
            assert nothing_of_the_pool_comes_first in step.guards, step.slug


@pytest.mark.parametrize("slug", RUNBOOKS)
def test_no_wait_no_look_afterwards_and_no_step_of_the_way_back_asks_it(slug):
    for step in RUNBOOKS[slug].steps:
        if step.kind in ("WAIT", "VERIFY") or step.undoes or (step.closes and step.operation not in BINDS):
            assert nothing_of_the_pool_comes_first not in (
                *step.guards,
                getattr(step, "until", None),
                getattr(step, "alarm", None),
                step.needed,
            ), step.slug


def test_no_order_that_brings_a_member_back_asks_it():
    steps = [step for runbook in RUNBOOKS.values() for step in runbook.steps if step.operation in ("zpool_online", "zpool_bring_back")]
    assert steps
    assert not [step.slug for step in steps if nothing_of_the_pool_comes_first in step.guards]


@pytest.mark.parametrize("name", STEPS)
def test_a_situation_that_gates_is_of_a_kind_that_guards_ask(name):
    for one in detect_all(captured(name)):
        assert not one.gate or SITUATIONS[one.slug] in GATING


def test_it_is_among_what_is_asked_before_any_replacement():
    verdicts = ask(TARGET_GUARDS, with_pool(**REFUSED["read-only"]), PARAMS)
    assert [v.guard for v in verdicts if v.outcome != "pass"] == ["nothing_of_the_pool_comes_first"]
