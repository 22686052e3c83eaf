"""A few hundred schedules in every test run; `./run bench simulator` plays ten thousand.

A failure names its seed; `SLOTLIGHT_SIMULATOR_SEED=<seed> ./run test tests/simulator` plays it again, with its smallest trace.
"""

import logging
import os
from collections import Counter

import pytest

from tests.simulator.playing import failure, prepare, report, room, simulate, smallest
from tests.simulator.portal import Portal
from tests.simulator.simulator import Simulation, Violation, schedule

SEEDS = 120
SEED = os.environ.get("SLOTLIGHT_SIMULATOR_SEED", "")


@pytest.fixture(scope="module")
def folders():
    logging.disable(logging.CRITICAL)
    with room() as folder:
        yield prepare(folder)
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def seen(folders):
    """How often what happened in all schedules together; the first that fails ends it."""
    seen = Counter()
    for seed in [int(SEED)] if SEED else range(SEEDS):
        try:
            seen += simulate(schedule(seed), *folders).seen
        except Exception as error:
            raise AssertionError(report(seed, *folders)) from error
    return seen


def test_it_holds_whatever_the_schedule(seen):
    assert seen["run done"]


@pytest.mark.parametrize("seed", [3, 17])
def test_a_seed_always_plays_the_same(seed, folders):
    once, again = (simulate(schedule(seed), *folders) for _ in range(2))
    assert once.trace == again.trace
    assert once.history == again.history


@pytest.mark.skipif(bool(SEED), reason="One schedule alone cannot.")
def test_the_schedules_go_where_it_hurts(seen):
    """Otherwise nothing failing would prove nothing."""
    for name in ("command amid faults", "order UNKNOWN", "order REFUSED", "alarm", "run.taken-over", "run.went-back", "run done"):
        assert seen[name] >= 3, (name, seen)
    assert sum(number for name, number in seen.items() if name.startswith("killed")) > 20


# --- each rule, left out, is missed: the invariants are able to fail


def offers_all(portal, node):
    """A portal that offers an order until it has ended."""
    return [{"order": o.canonical, "digest": o.digest} for o in portal.tables.orders.values() if o.node == node and o.status != "EXPIRED"]


BROKEN = {
    "no approval is needed": lambda patch: (
        patch.setattr("workflows.engine.decide._not_ready", lambda *args: ""),
        patch.setattr(Portal, "_not_allowed", lambda portal, order: ""),
        patch.setattr("agents.orders.approval_proof._approved", lambda *params: None),
    ),
    "an order is taken for its own": lambda patch: patch.setattr("agents.orders.journal.Journal.find", lambda journal, order_id: None),
    "nobody holds anything": lambda patch: (
        patch.setattr(Portal, "_take", lambda portal, run, keys: 0),
        patch.setattr(Portal, "_not_allowed", lambda portal, order: ""),
    ),
    "what was left behind is run again": lambda patch: patch.setattr("agents.orders.executor.Executor._report_left", runs_again),
    "verified without looking": lambda patch: patch.setattr("workflows.engine.decide.blocked", lambda verdicts: False),
    "silence is failure": lambda patch: patch.setattr("workflows.engine.order_outcomes._unknown", reports_failed),
}


def runs_again(executor, entry):
    from agents.orders import order as orders
    from agents.orders.receipts import receipt

    order = orders.read(entry.canonical, entry.digest)
    ran = executor._host.run(order.argv, 60)
    return receipt(order.id, order.digest, "succeeded" if ran.exit_code == 0 else "failed", "It ran again.")


def reports_failed(runbook, state, event, probe, record):
    from workflows.engine.order_outcomes import _did_not

    return _did_not(runbook, state, event, "It cannot have run.", record)


@pytest.mark.parametrize("rule", BROKEN)
def test_a_rule_that_is_left_out_is_missed(rule, folders, monkeypatch):
    BROKEN[rule](monkeypatch)
    found = next((seed for seed in range(400) if failure(schedule(seed), *folders)), None)
    assert found is not None, "no schedule noticed"


def test_a_failing_schedule_is_made_small(folders, monkeypatch):
    BROKEN["nobody holds anything"](monkeypatch)
    actions = smallest(schedule(0, 20), *folders)
    assert len(actions) < 10
    assert isinstance(failure(actions, *folders), Violation)
    report_text = report(0, *folders, 20)
    assert report_text.startswith("Seed 0 fails: Violation: ")
    assert "begins a run" in report_text


def test_every_action_has_its_method():
    from tests.simulator.simulator import SOMETIMES, WEIGHTS

    assert all(callable(getattr(Simulation, name)) for name in WEIGHTS)
    assert set(SOMETIMES) < set(WEIGHTS)
