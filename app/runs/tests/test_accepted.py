"""A loss that must be accepted by name is asked for by the database too: of whoever approves, breaks the glass or gives the order."""

import json
from datetime import timedelta
from itertools import product

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from app.ledger import grants
from app.ledger import services as ledger
from app.runs.models import Order, Plan, Run
from app.runs.ordering import locks
from app.runs.tests.cast import walk_to
from app.runs.tests.test_attacks import forge, refused
from workflows.engine import plan_losses

pytestmark = pytest.mark.django_db
DIGEST = "e" * 64
COUNTS = ("-1", "0", "1", "2")


def loss(now: str, during: str) -> dict:
    return {"redundancy": {"margin_now": now, "margin_during": during, "vdev": "raidz2-0", "pool": "ost_0", "first": "", "why": ""}}


WEIGHTY = loss("1", "0")
WANTED = plan_losses.to_accept(WEIGHTY)


def sql(statement: str, *values) -> list:
    """As whoever has the portal's own role and leaves its code out."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def plan(run: Run, body: dict, accepts: str) -> None:
    text = "INSERT INTO runs_plan (digest, run_id, round, body, made_at, approvals_needed, accepts) VALUES (%s, %s, 9, %s, now(), 1, %s)"
    sql(text, DIGEST, run.pk, json.dumps(body), accepts)


def recorded(run: Run, kind: str, person, **body) -> str:
    return bytes(ledger.record(kind, {"plan_digest": DIGEST, **body}, person.username, run=str(run.pk), node=run.node).leaf).hex()


def approve(person, leaf: str) -> None:
    text = "INSERT INTO runs_approval (plan_id, approver_id, at, proved_at, expires_at, leaf) VALUES (%s, %s, now(), now(), %s, %s)"
    sql(text, DIGEST, person.pk, timezone.now() + timedelta(minutes=20), leaf)


def break_glass(run: Run, person, leaf: str) -> None:
    text = (
        "INSERT INTO runs_brokenglass (run_id, plan_id, person_id, reason, at, proved_at, expires_at, leaf, review)"
        " VALUES (%s, %s, %s, 'x', now(), now(), now(), %s, '')"
    )
    sql(text, run.pk, DIGEST, person.pk, leaf)


@pytest.fixture
def run(oss01, ann, bob) -> Run:
    return walk_to("approve", oss01, ann, bob)


def test_these_tests_have_the_role_of_the_portal():
    assert sql("SELECT current_user") == [(grants.app_role(),)]


def test_the_database_asks_for_it_where_the_engine_does():
    bodies = [loss(*counts) for counts in (*product(COUNTS, COUNTS), *product((*COUNTS, plan_losses.NOT_KNOWN), [plan_losses.NOT_KNOWN]))]
    asked = {json.dumps(body): sql("SELECT runs_plan_loses(%s)", json.dumps(body)) == [(True,)] for body in bodies}
    assert asked == {json.dumps(body): bool(plan_losses.to_accept(body)) for body in bodies}
    assert set(asked.values()) == {True, False}


@pytest.mark.parametrize(
    "body", [WEIGHTY, loss("unknown", "unknown"), loss("0", "-1"), {"redundancy": dict.fromkeys(("margin_now", "margin_during"))}]
)
def test_no_plan_hides_what_it_takes_away(run, body):
    with refused("says what must be accepted"):
        plan(run, body, "")


@pytest.mark.parametrize("body", [{}, loss("2", "1"), loss("0", "0"), {"redundancy": {"margin_now": "1"}}])
def test_a_plan_that_takes_nothing_of_that_weight_asks_for_nothing(run, body, bob):
    plan(run, body, "")
    approve(bob, recorded(run, "run.approved", bob))


@pytest.mark.parametrize("text", [{}, {"accepts": ""}, {"accepts": "Yes."}])
def test_nobody_approves_or_breaks_the_glass_without_accepting_it(run, ann, bob, text):
    plan(run, WEIGHTY, WANTED)
    with refused("does not tell that the approver accepted"):
        approve(bob, recorded(run, "run.approved", bob, **text))
    with refused("does not tell that who broke the glass accepted"):
        break_glass(run, ann, recorded(run, "run.glass-broken", ann, **text))
    approve(bob, recorded(run, "run.approved", bob, accepts=WANTED))
    break_glass(run, ann, recorded(run, "run.glass-broken", ann, accepts=WANTED))


def test_an_acceptance_is_of_one_person_and_one_event(run, bob, eve):
    plan(run, WEIGHTY, WANTED)
    eve.memberships.create(role="approver")
    theirs = recorded(run, "run.approved", eve, accepts=WANTED)
    with refused("accepted"):
        approve(bob, theirs)
    recorded(run, "run.approved", bob, accepts=WANTED)
    with refused("accepted"):
        approve(bob, recorded(run, "run.approved", bob))


@pytest.mark.parametrize("text", [{}, {"accepts": "Yes."}])
def test_nobody_gives_the_order_without_accepting_it(run, ann, bob, text):
    plan(run, WEIGHTY, WANTED)
    approve(bob, recorded(run, "run.approved", bob, accepts=WANTED))
    run.fence = locks.take(run, ("pool:1", "disk:naa:1"), timezone.now())
    with refused("does not tell that who gave the order accepted"), transaction.atomic():
        forge(run, ann, plan=Plan.objects.get(pk=DIGEST))
        recorded(run, "run.ordered", ann, **text)
        sql("SET CONSTRAINTS runs_order_accepts IMMEDIATE")
    assert not Order.objects.filter(plan=DIGEST).exists()
    sql("SET CONSTRAINTS runs_order_accepts DEFERRED")
    forge(run, ann, plan=Plan.objects.get(pk=DIGEST))
    recorded(run, "run.ordered", ann, accepts=WANTED)
    sql("SET CONSTRAINTS runs_order_accepts IMMEDIATE")


def test_the_sentence_of_a_plan_cannot_be_taken_out_later(run):
    plan(run, WEIGHTY, WANTED)
    with pytest.raises(IntegrityError):
        sql("UPDATE runs_plan SET accepts = '' WHERE digest = %s", DIGEST)
