"""The portal dies as a real process right before or right after a commit that matters, and is started again.

Before the commit nothing has happened; after it everything has, and only the answer is lost. Whoever asked asks again, and it counts
once: one order, one command, one word in the ledger for each transition. Every other commit has its death in
`tests/simulator/test_on_postgresql.py`, in one process and therefore a hundred times as fast.
"""

import http.client
from contextlib import suppress

import pytest

from app.ledger.audit import audit
from app.ledger.models import LedgerEvent
from app.runs.models import Order, ResourceLock
from tests.faults.failing.apps import EXIT_CODE

pytestmark = pytest.mark.parametrize("incident", [0.0], indirect=True, ids=[""])


def died(incident) -> None:
    assert incident.stack.children["web"].wait(60) == EXIT_CODE
    incident.stack.kill("web")
    incident.stack.start("web")


def whole(incident) -> None:
    """Done once, with every transition in the ledger once, and nothing held any more."""
    incident.stands("verify", "done")
    assert len(incident.stack.replaces()) == 1
    order = Order.objects.get(effect="at_most_once")
    assert order.status == "SUCCEEDED"
    moves = LedgerEvent.objects.filter(type="run.order-moved", run=str(incident.row.pk))
    statuses = [event.parsed["body"]["status"] for event in moves.order_by("pk")]
    assert statuses == ["OFFERED", "CLAIMED", "STARTED", "SUCCEEDED"]
    assert LedgerEvent.objects.filter(type="run.ordered", run=str(incident.row.pk)).count() == 1
    assert audit().tampered == []
    assert not ResourceLock.objects.exists()


@pytest.mark.parametrize(("name", "when"), [("start", "after"), ("receipt", "after")])
def test_it_dies_while_the_agent_is_heard(incident, name, when):
    incident.walk_to_execute()
    incident.stack.dies_at(f"{name}:{when}")
    with suppress(OSError, http.client.HTTPException):  # the agent may be faster than the answer to the person
        incident.execute()
    died(incident)
    whole(incident)


def test_it_dies_while_a_person_executes(incident):
    """The person sees no answer, reloads, and finds it done; a second click finds another page."""
    incident.walk_to_execute()
    incident.stack.dies_at("act:after")
    with pytest.raises((OSError, http.client.HTTPException)):
        incident.execute()
    died(incident)
    assert Order.objects.filter(effect="at_most_once").count() == 1
    whole(incident)
