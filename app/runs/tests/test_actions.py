"""Who may do what, and what happens to those who come late or twice."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Approval, Order, Plan, Run
from app.runs.tests.cast import BLANK, PHRASE, act, begin, walk_to
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db


def test_a_second_click_on_the_same_page_is_turned_away(oss01, ann):
    run = begin(ann)
    services.act(run.pk, run.version, ev.Chosen, ann, value=BLANK)
    with pytest.raises(services.RunMoved):
        services.act(run.pk, run.version, ev.Chosen, ann, value=BLANK)
    assert [f.step for f in Run.objects.get().here.finished if not f.passed_over] == ["choose"]


def test_executing_twice_seals_one_order(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    services.act(run.pk, run.version, ev.ExecuteAsked, ann, proved_at=timezone.now())
    with pytest.raises(services.RunMoved):
        services.act(run.pk, run.version, ev.ExecuteAsked, ann, proved_at=timezone.now())
    with pytest.raises(services.RunRefused):
        act(run, ev.ExecuteAsked, ann)
    assert Order.objects.filter(operation="zpool_replace").count() == 1


def test_the_requester_cannot_approve_even_with_the_right(oss01, ann, bob):
    run = walk_to("approve", oss01, ann, bob)
    ann.memberships.create(role="approver")
    with pytest.raises(services.RunRefused, match="cannot approve"):
        act(run, ev.Approved, ann, plan_digest=run.here.plan_digest)
    assert not Approval.objects.exists()


def test_the_requester_cannot_approve_in_raw_sql_either(oss01, ann, bob):
    plan = walk_to("approve", oss01, ann, bob).plans.get()
    with pytest.raises(IntegrityError, match="cannot approve"), transaction.atomic():
        Approval.objects.create(plan=plan, approver=ann, at=timezone.now())
    with pytest.raises(IntegrityError, match="cannot approve"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO runs_approval (plan_id, approver_id, at) VALUES (%s, %s, now())", [plan.pk, ann.pk])


def test_a_superuser_is_no_exception(oss01, ann, bob):
    ann.is_superuser = True
    ann.save()
    run = walk_to("approve", oss01, ann, bob)
    with pytest.raises(services.RunRefused):
        act(run, ev.Approved, ann, plan_digest=run.here.plan_digest)


def test_an_operator_cannot_approve(oss01, ann, bob, eve):
    run = walk_to("approve", oss01, ann, bob)
    with pytest.raises(services.NotAllowed, match="approver"):
        act(run, ev.Approved, eve, plan_digest=run.here.plan_digest)


def test_who_has_left_cannot_act(oss01, ann):
    run = begin(ann)
    ann.is_active = False
    ann.save()
    with pytest.raises(services.NotAllowed):
        act(run, ev.Chosen, ann, value=BLANK)


def test_a_changed_plan_voids_the_approval(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    old = run.here.plan_digest
    act(run, ev.PlanAsked, ann)
    oss01.work()
    act(run, ev.Confirmed, ann, text=PHRASE)
    with pytest.raises(services.RunRefused, match="has changed"):
        act(run, ev.Approved, bob, plan_digest=old)
    with pytest.raises(services.RunRefused):
        act(run, ev.ExecuteAsked, ann)
    assert Plan.objects.count() == 2
    assert not Order.objects.filter(operation="zpool_replace").exists()


def test_an_approver_who_lost_the_right_counts_no_more_at_sealing(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    bob.memberships.all().delete()
    with pytest.raises(services.RunRefused, match="bob may not approve any more"):
        act(run, ev.ExecuteAsked, ann)


def test_a_refused_act_changes_nothing_and_is_kept(oss01, ann, bob):
    run = walk_to("confirm", oss01, ann, bob)
    before = Run.objects.values().get()
    with pytest.raises(services.RunRefused, match="not what the plan says"):
        act(run, ev.Confirmed, ann, text="yes")
    assert Run.objects.values().get() == before
    assert LedgerEvent.objects.get(type="run.refused").parsed["body"]["event"] == "Confirmed"


def test_a_runbook_that_changed_under_a_run_carries_nothing_out(oss01, ann, bob, monkeypatch):
    run = walk_to("replace", oss01, ann, bob)
    monkeypatch.setitem(RUNBOOKS, run.runbook, replace(RUNBOOKS[run.runbook], purpose="Another one."))
    with pytest.raises(services.RunRefused, match="has changed since"):
        act(run, ev.ExecuteAsked, ann)
    act(run, ev.Aborted, ann, reason="The runbook changed.")
    run.refresh_from_db()
    assert (run.status, run.ended_at is not None) == ("aborted", True)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runs_run SET requester_id = %(bob)s",
        "UPDATE runs_run SET params = '{}'",
        "UPDATE runs_run SET version = version - 1",
        "UPDATE runs_plan SET body = '{}'",
        "UPDATE runs_approval SET approver_id = %(ann)s",
        "DELETE FROM runs_approval",
        "DELETE FROM runs_run",
        "DELETE FROM runs_order",
        "UPDATE runs_order_move SET after = 'SUCCEEDED'",
    ],
)
def test_the_database_keeps_what_was_asked_planned_and_approved(oss01, ann, bob, sql):
    walk_to("replace", oss01, ann, bob)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, {"ann": ann.pk, "bob": bob.pk})


def test_a_run_after_one_that_was_ended_gets_a_plan_and_approvals_of_its_own(oss01, ann, bob):
    """The node plans the same again, word for word."""
    first = walk_to("replace", oss01, ann, bob)
    act(first, ev.Aborted, ann, reason="Somebody stands in front of the shelf.")
    second = walk_to("approve", oss01, ann, bob)
    first.refresh_from_db()
    assert second != first
    assert second.here.plan["argv"] == first.here.plan["argv"]
    assert second.here.plan_digest != first.here.plan_digest
    with pytest.raises(services.RunRefused, match="has changed since it was shown"):
        act(second, ev.Approved, bob, plan_digest=first.here.plan_digest)
    assert second.here.approvals == ()


def test_a_page_that_looks_again_and_finds_nothing_new_is_left_alone(oss01, ann, client):
    """So whatever somebody is typing into it stays."""
    client.force_login(ann)
    run = begin(ann)
    url, htmx = reverse("run", args=[run.pk]), {"HX-Request": "true"}
    seen = client.get(url).context["seen"]
    assert client.get(url, {"seen": seen}, headers=htmx).status_code == 204
    assert client.get(url, {"seen": seen}).status_code == 200
    act(run, ev.Chosen, ann, value=BLANK)
    again = client.get(url, {"seen": seen}, headers=htmx)
    assert (again.status_code, again.context["seen"] == seen) == (200, False)
