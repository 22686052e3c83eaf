"""Why a step is safe, what will be true afterwards, and what it means to stop: as the page says it at each phase."""

import re

import pytest
from django.urls import reverse

from app.runs import services
from app.runs.models import Order
from app.runs.pages import safety
from app.runs.tests.cast import act, begin, offers, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


def stopping(run) -> str:
    run.refresh_from_db()
    return safety.stopping(run, run.here, services.step_of(run))


def page(client, reader, run) -> str:
    client.force_login(reader)
    return " ".join(client.get(run.get_absolute_url()).content.decode().split())


def test_before_the_order_nothing_has_happened(oss01, ann):
    assert stopping(begin(ann)).startswith("Nothing has been changed on oss01")


def test_while_the_node_plans_nothing_has_happened(oss01, ann, bob):
    run = walk_to("plan", oss01, ann, bob)
    act(run, ev.PlanAsked, ann)
    assert "changes nothing" in stopping(run)


def test_what_the_order_can_still_be_is_said_at_each_of_its_states(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    assert "Withdraw it, and nothing has happened." in stopping(run)
    [offer] = offers()
    order = Order.objects.get(operation="zpool_replace")
    from app.runs.ordering import orders

    assert offer
    assert orders.claim("oss01", order.pk, order.digest) == ""
    assert "it cannot be recalled. It checks once more before it starts." in stopping(run)
    assert orders.start("oss01", order.pk, order.digest) == ""
    assert "The command has been started on oss01. It cannot be recalled" in stopping(run)


def test_while_the_node_is_at_work_ending_stops_only_the_watching(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    oss01.work()
    run.refresh_from_db()
    assert run.status == "waiting"
    assert "Ending the run stops only the watching, not what the node does." in stopping(run)


@pytest.mark.parametrize("step", ["check", "plan", "confirm", "approve", "replace"])
def test_each_answer_leads_to_kept_evidence(oss01, ann, bob, client, step):
    run = walk_to(step, oss01, ann, bob)
    shown = page(client, ann, run)
    assert re.search(r"All \d+ guards pass", shown)
    digests = set(re.findall(reverse("ledger-blob", args=["0" * 64]).replace("0" * 64, "([0-9a-f]{64})"), shown))
    assert len(digests) > 3
    for digest in digests:
        assert client.get(reverse("ledger-blob", args=[digest])).status_code == 200


def test_what_speaks_against_it_stands_first_and_open(oss01, ann, bob, client):
    run = walk_to("check", oss01, ann, bob)
    with oss01.host.store.changing() as node:
        node.pool("ost_0").suspended = "io"
    oss01.report()
    shown = page(client, ann, run)
    assert re.search(r"\d+ of \d+ guards refuses? it at this moment", shown)
    assert "All 24 questions" not in shown


def test_afterwards_marks_what_is_gone_and_what_is_new(oss01, ann, bob):
    run = walk_to("confirm", oss01, ann, bob)
    lines = safety.afterwards(run.here.plan)
    assert [mark for mark, _ in lines if mark] == ["new", "gone", "new", "new"]
    assert safety.afterwards(None) == []
