"""kill -9 of web, worker and Valkey in the middle of the replace, and everything that then comes twice or late."""

import json
import uuid

import pytest
from kombu import Connection

from agents.orders.journal import Journal
from agents.portal.transport import Counter, Portal
from agents.trust.identity import load
from app.celery import celery
from app.ledger.models import LedgerEvent
from app.runs.models import Order
from tests.faults.stack import ALL, until


def running(incident) -> None:
    """The command is under way: given, and without effect yet."""
    incident.walk_to_execute()
    incident.execute()
    until(incident.stack.replaces)
    incident.stands("replace", "ordered")


def is_done_once(incident) -> None:
    incident.stands("verify", "done")
    assert len(incident.stack.replaces()) == 1
    order = Order.objects.get(effect="at_most_once")
    assert order.status == "SUCCEEDED"
    assert LedgerEvent.objects.filter(type="order.receipt", run=str(incident.row.pk)).count() == orders_of(incident)
    assert "Verify that the new disk has taken over" in incident.ann.sees()


def orders_of(incident) -> int:
    """Every order of the run has its one receipt: plan, replace, and the looks of the last step that saw anything new."""
    return Order.objects.filter(run=incident.row, folded=False).exclude(receipt_digest="").count()


def ring(stack, task: str, *ids, times: int = 1) -> None:
    """Put one and the same message into the worker's queue, as a broker does that delivers again."""
    message = celery.amqp.create_task_message(str(uuid.uuid4()), task, ids, {})
    with Connection(stack.broker) as connection, connection.Producer() as producer:
        for _ in range(times):
            producer.publish(message.body, routing_key="celery", serializer="json", headers=message.headers, **message.properties)


def sweep(stack) -> None:
    """What beat does every 15 seconds."""
    ring(stack, "app.runs.tasks.sweep")


def test_web_dies_while_the_command_runs(incident):
    running(incident)
    incident.stack.kill("web")
    until(incident.stack.took_effect)
    incident.stack.start("web")
    assert incident.ann.sees()
    is_done_once(incident)


@pytest.mark.parametrize("incident", [0.0], indirect=True, ids=[""])
def test_web_dies_as_soon_as_it_is_asked_to_execute(incident):
    """The order is sealed and perhaps offered; the agent's poll breaks, and it asks again."""
    incident.walk_to_execute()
    incident.execute()
    incident.stack.kill("web")
    incident.stack.start("web")
    is_done_once(incident)


def test_the_worker_dies_while_the_command_runs(incident):
    running(incident)
    incident.stack.kill("worker")
    incident.stands("resilver", "waiting")
    assert "Wait for the resilver" in incident.ann.sees()
    incident.stack.start("worker")
    sweep(incident.stack)
    is_done_once(incident)


def test_valkey_dies_and_comes_back_while_the_command_runs(incident):
    running(incident)
    incident.stack.kill("valkey")
    incident.stands("resilver", "waiting")
    assert incident.ann.sees(), "a page needs no Valkey"
    incident.stack.start("valkey")
    sweep(incident.stack)
    is_done_once(incident)


def test_all_of_them_die_at_once(incident):
    running(incident)
    for name in ("agent", "worker", "web", "valkey"):
        incident.stack.kill(name)
    incident.stack.start("valkey", *ALL)
    incident.stands("plan", "open")
    assert "The node shows that it did not take effect" in incident.ann.sees()
    assert len(incident.stack.replaces()) == 1


def test_ticks_that_come_again_and_again_change_nothing(incident):
    running(incident)
    stack, run = incident.stack, incident.row.pk
    for _ in range(3):
        ring(stack, "app.runs.tasks.tick", run, times=10)
        ring(stack, "app.runs.tasks.facts_arrived", "oss01", times=10)
        sweep(stack)
    is_done_once(incident)
    version, events_before = incident.row.version, LedgerEvent.objects.filter(run=str(run)).count()
    ring(stack, "app.runs.tasks.tick", run, times=10)
    sweep(stack)
    until(lambda: queue_length(stack) == 0)
    assert (incident.row.version, LedgerEvent.objects.filter(run=str(run)).count()) == (version, events_before)


def queue_length(stack) -> int:
    with Connection(stack.broker) as connection:
        return connection.default_channel.client.llen("celery")


@pytest.mark.parametrize("incident", [0.0], indirect=True, ids=[""])
def test_a_receipt_that_comes_twice_is_taken_once(incident):
    incident.walk_to_execute()
    incident.execute()
    is_done_once(incident)
    incident.stack.kill("agent")
    journal, portal = as_the_agent(incident.stack)
    order = Order.objects.get(effect="at_most_once")
    answer, version = json.loads(journal.find(order.pk).receipt), incident.row.version
    path = f"/agent/v1/orders/{order.pk}/receipt"
    assert portal.ask("POST", path, answer).status == 200
    assert portal.ask("POST", path, {**answer, "outcome": "failed"}).status == 409
    portal.close()
    journal.close()
    assert incident.row.version == version
    is_done_once(incident)
    assert LedgerEvent.objects.filter(type="order.second-receipt").count() == 1


def as_the_agent(stack) -> tuple[Journal, Portal]:
    """The journal and a signed connection of an agent that is dead now."""
    home = stack.folder / "oss01" / "agent"
    identity, journal = load(str(home)), Journal(str(home / "journal.sqlite"))
    counter = Counter(lambda: journal.next_counter(stack.twin.now()))
    return journal, Portal(identity.portal, identity.key, counter, stack.twin.now)
