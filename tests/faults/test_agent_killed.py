"""kill -9 of the agent at every moment of the replace. The command runs at most once, and the page tells the truth."""

import time
from datetime import timedelta

import pytest

from agents import failpoints
from app.ledger.models import Blob
from app.runs.models import Order
from app.runs.ordering import orders
from tests.faults.stack import until

# where the agent dies -> (order, step, status, words on the page, how often the command was given)
BY_FAILPOINT = {
    "after_claim": ("REFUSED", "replace", "stopped", "nothing was run: The agent restarted before anything ran.", 0),
    "before_intent": ("REFUSED", "replace", "stopped", "nothing was run: The agent restarted before anything ran.", 0),
    "after_intent": ("UNKNOWN", "plan", "open", "The node shows that it did not take effect", 0),
    "after_exec": ("UNKNOWN", "verify", "done", "The node shows that it took effect", 1),
    "after_result": ("SUCCEEDED", "verify", "done", "The command succeeded.", 1),
}


@pytest.mark.parametrize("incident", [0.0], indirect=True, ids=[""])
@pytest.mark.parametrize("failpoint", failpoints.NAMES)
def test_it_dies_at_a_named_point(incident, failpoint):
    order_is, step, status, words, times = BY_FAILPOINT[failpoint]
    stack = incident.stack
    incident.walk_to_execute()
    stack.kill("agent")
    stack.start("agent", failpoint=failpoint)
    incident.execute()
    assert stack.children["agent"].wait(60) == failpoints.EXIT_CODE
    assert (incident.row.status, len(stack.replaces())) == ("ordered", times)
    assert "It runs at most once." in incident.ann.sees()
    stack.start("agent")
    incident.stands(step, status)
    assert words in incident.ann.sees()
    assert Order.objects.get(effect="at_most_once").status == order_is
    assert len(stack.replaces()) == times


def killed_at(incident, moment) -> None:
    """kill -9 while the command runs, as soon as `moment()` is so."""
    incident.walk_to_execute()
    incident.execute()
    until(moment)
    incident.stack.kill("agent")
    assert len(incident.stack.replaces()) == 1
    incident.stands("replace", "ordered")
    assert "The order is STARTED. It runs at most once." in incident.ann.sees()


def test_it_is_killed_before_the_command_took_effect_and_a_new_plan_leads_on(incident):
    stack = incident.stack
    killed_at(incident, stack.replaces)
    assert not stack.took_effect()
    stack.start("agent")
    incident.stands("plan", "open")
    seen = incident.ann.sees()
    assert "The agent ended after it had recorded the start" in seen
    assert "The node shows that it did not take effect" in seen
    first = Order.objects.get(effect="at_most_once")
    assert (first.status, first.receipt["probe"]["result"]) == ("UNKNOWN", "did_not")
    assert evidence_is_kept(first)
    assert len(stack.replaces()) == 1

    incident.walk_from_plan()
    incident.execute()
    incident.stands("verify", "done")
    assert Order.objects.filter(effect="at_most_once").count() == len(stack.replaces()) == 2
    assert stack.took_effect()


def test_it_is_killed_after_the_command_took_effect_and_the_run_goes_on(incident):
    stack = incident.stack
    killed_at(incident, stack.took_effect)
    stack.start("agent")
    incident.stands("verify", "done")
    assert "The node shows that it took effect" in incident.ann.sees()
    order = Order.objects.get(effect="at_most_once")
    assert (order.status, order.receipt["probe"]["result"]) == ("UNKNOWN", "did")
    assert evidence_is_kept(order)
    assert len(stack.replaces()) == 1


def evidence_is_kept(order: Order) -> bool:
    """Whether what the probe rests on is in the ledger's store: the pool as it was seen, and the disk's label."""
    captures = order.receipt["captures"]
    sources = {capture["source"] for capture in captures}
    return {"zpool_status", "zdb_label"} <= sources and all(Blob.objects.filter(pk=capture["digest"]).exists() for capture in captures)


def test_it_stays_away_and_nobody_says_more_than_is_known(incident):
    """Silence is never called a failure. When the agent comes back after that, its probe settles it."""
    stack = incident.stack
    killed_at(incident, stack.took_effect)
    an_hour_passes()
    orders.sweep()
    incident.stands("replace", "unknown")
    seen = incident.ann.sees()
    assert "Whether the command took effect is not known yet. It is not sent again." in seen
    assert "has not reported how it ended" in seen
    status, answer = incident.ann.act("plan")
    assert (status, len(stack.replaces())) == (409, 1), answer
    stack.start("agent")
    incident.stands("verify", "done")
    assert "The node shows that it took effect" in incident.ann.sees()
    assert len(stack.replaces()) == 1


def an_hour_passes() -> None:
    order = Order.objects.get(effect="at_most_once")
    order.started_at -= timedelta(hours=1)
    order.save(update_fields=["started_at"])


def test_it_dies_again_and_again(incident):
    """Also while it settles what the one before it left."""
    stack = incident.stack
    killed_at(incident, stack.took_effect)
    for _ in range(3):
        stack.start("agent")
        time.sleep(0.35)  # somewhere between the start of Python and the receipt
        stack.kill("agent")
    stack.start("agent")
    incident.stands("verify", "done")
    assert len(stack.replaces()) == 1
