"""kill -9 of the agent at every moment of the replace. The command runs at most once, and the page tells the truth."""

import pytest

from agents import failpoints
from app.ledger.models import Blob
from app.runs import orders
from app.runs.models import Order
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
    assert stack.children["agent"].wait(20) == failpoints.EXIT_CODE
    assert (incident.row.status, len(stack.replaces())) == ("ordered", times)
    assert "It runs at most once." in incident.ann.sees()
    stack.start("agent")
    incident.stands(step, status)
    assert words in incident.ann.sees()
    assert Order.objects.get(effect="at_most_once").status == order_is
    assert len(stack.replaces()) == times
