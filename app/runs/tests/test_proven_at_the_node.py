"""An order that must not happen twice proves its approvals to the node as one that destroys does; which side is too old is said."""

import json
from dataclasses import replace

import pytest

from agents.orders.approval_proof import check
from app.ledger.models import LedgerEvent
from app.runs.models import Approval, Order
from app.runs.tests.cast import Played, try_out
from app.runs.tests.walks import Walk

pytestmark = pytest.mark.django_db


@pytest.fixture
def walk(tmp_path, ann, bob) -> Walk:
    """A pool is about to be imported read-only: at most once, and nothing is destroyed."""
    walk = Walk(try_out(tmp_path, "read-only-import"), ann, bob, "read-only-import")
    walk.to("import")
    walk.go()
    return walk


def ended(walk: Walk) -> Order:
    walk.node.work()
    return Order.objects.get(operation="zpool_import_readonly")


def test_it_names_the_approval_and_brings_its_proof(walk):
    order = ended(walk)
    assert (order.destructive, order.effect) == (False, "at_most_once")
    assert order.started_at, "it ran; that this pool cannot be imported so is another matter"
    assert json.loads(order.canonical)["approvals"] == [Approval.objects.order_by("pk").last().leaf]


def test_an_older_agent_carries_it_out_no_more_and_the_sentence_says_what_to_update(walk, monkeypatch):
    ask = Played.ask

    def without_approvals(self, method, path, value):
        return ask(self, method, path, {"digest": value["digest"]} if path.endswith("/claim") else value)

    monkeypatch.setattr(Played, "ask", without_approvals)
    order = ended(walk)
    assert order.status == "REFUSED"
    assert "Update the agent first (run the install line again on the node), then make a new plan." in order.reason
    assert not [argv for argv in walk.node.commands() if "import" in argv]
    assert LedgerEvent.objects.filter(type="order.held-back").count() == 1


def test_a_node_that_is_shown_no_approval_refuses_and_says_so_where_people_look(walk, monkeypatch, client):
    """As an older portal, or somebody with the database's role alone, would have it."""
    monkeypatch.setattr(
        "agents.orders.write_permission.approval_proof.check", lambda order, *more: check(replace(order, approvals=()), *more)
    )
    order = ended(walk)
    assert order.status == "REFUSED"
    assert "update the portal first" in order.reason
    assert "update the portal first" in walk.page(client)
    assert not [argv for argv in walk.node.commands() if "import" in argv]
