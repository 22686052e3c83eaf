"""What somebody with a hand in the portal, on the wire or in the database would try."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents.portal.wire import canonical
from app.ledger.models import LedgerEvent
from app.nodes import keys, sessions
from app.nodes.models import NodeKey
from app.runs import services
from app.runs.models import Approval, Hand, LockFence, Order, Plan, ResourceLock, Run
from app.runs.ordering import locks, orders, plan_approvals, sealing
from app.runs.tests.cast import act, offers, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(oss01, ann, bob) -> Run:
    """A run whose order is sealed."""
    return act(walk_to("replace", oss01, ann, bob), ev.ExecuteAsked, ann)


@pytest.fixture
def ready(oss01, ann, bob) -> Run:
    """A run before its order: approved, and its locks taken."""
    run = walk_to("replace", oss01, ann, bob)
    run.fence = locks.take(run, (f"pool:{run.params['pool_guid']}", "disk:naa:1", "bay:x/1"), timezone.now())
    return run


def the_order() -> Order:
    return Order.objects.get(operation="zpool_replace")


def refused(match: str):
    return pytest.raises(IntegrityError, match=match)


def forge(run: Run, person, **changes) -> Order:
    """An order put straight into the table, by somebody who can write to it but for its rules. Good unless `changes` spoil it."""
    now, wwids = timezone.now(), changes.pop("wwids", "")
    plan = run.plans.last() if "plan" not in changes else changes.pop("plan")
    row = {"id": "f" * 32, "node": run.node, "operation": "zpool_replace", "effect": "at_most_once", "destructive": True, "nonce": "n" * 43}
    row |= {"run": run, "step": "replace", "plan": plan, "fence": run.fence, "sealed_by": person, "proved_at": now, "sealed_at": now}
    row |= {"expires_at": now + timedelta(seconds=60), "signature": "x", "signed_by": "k"} | changes
    values = {name: str(row[name]) for name in ("id", "node", "operation", "effect", "fence", "nonce")}
    text = canonical(values | {"plan_digest": plan.digest if plan else ""} | ({"params": {"wwids": wwids}} if wwids else {})).decode()
    row |= {"canonical": text, "digest": hashlib.sha256(text.encode()).hexdigest()}
    with transaction.atomic():
        return Order.objects.create(**row)


def consent(run: Run, person, **changes) -> Approval:
    """An approval put straight into the table."""
    now = timezone.now()
    row = {
        "plan": run.plans.last(),
        "approver": person,
        "at": now,
        "proved_at": now,
        "expires_at": now + timedelta(minutes=5),
        "leaf": "0" * 64,
    }
    with transaction.atomic():
        return Approval.objects.create(**row | changes)


# --- orders


def test_a_forged_order_that_keeps_all_rules_would_be_let_in(ready, ann):
    """So that the next tests refuse for their own reason."""
    forge(ready, ann)


def test_the_ledger_says_who_had_a_hand_as_its_rows_do(run, ann, bob):
    """So that a row of `Hand` that was deleted gives nobody the right to approve."""
    statuses = (
        LedgerEvent.objects.filter(run=str(run.pk), type__in=plan_approvals.BY_HAND)
        .exclude(actor__contains=":")
        .values_list("actor", flat=True)
    )
    assert set(statuses) == {hand.person.username for hand in Hand.objects.filter(run=run)} == set(run.here.hands)
    assert plan_approvals.had_a_hand(run.pk, ann)
    assert not plan_approvals.had_a_hand(run.pk, bob)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"status": "STARTED"}, "begins as SEALED"),
        ({"signature": ""}, "signed"),
        ({"plan": None}, "Not enough other people"),
        ({"fence": 0}, "does not hold"),
        ({"fence": 10**9}, "does not hold"),
        ({"nonce": ""}, "one stay of the node"),
        ({"proved_at": None}, "typed the password"),
        ({"proved_at": timezone.now() - timedelta(minutes=20)}, "typed the password"),
        ({"proved_at": timezone.now() + timedelta(hours=1)}, "typed the password"),
        ({"sealed_by": None}, "sealed by a person"),
        ({"expires_at": timezone.now() + timedelta(hours=2)}, "Not enough other people"),
        ({"destructive": False}, "Not enough other people"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_database_lets_no_such_order_in(ready, ann, changes, why):
    if "destructive" in changes:  # at most once needs approvals too
        changes = changes | {"plan": None}
    with refused(why):
        forge(ready, ann, **changes)


def test_the_approver_does_not_seal(ready, bob):
    with refused("Not enough other people"):
        forge(ready, bob)


def test_an_approver_who_took_a_hand_in_it_counts_no_more(ready, ann, bob):
    Hand.objects.create(run=ready, person=bob)
    with refused("Not enough other people"):
        forge(ready, ann)


def test_a_threshold_of_none_is_one(oss01, ann, bob):
    """Approval code elsewhere failed open when the number was 0 or left out."""
    run = walk_to("approve", oss01, ann, bob)
    plan = Plan.objects.create(digest="e" * 64, run=run, round=9, body={}, made_at=timezone.now(), approvals_needed=0)
    run.fence = locks.take(run, ("pool:1",), timezone.now())
    with refused("Not enough other people"):
        forge(run, ann, plan=plan)
    assert "0 of 1 people" in plan_approvals.of("e" * 64, ann, timezone.now()).why_not


def test_the_columns_of_an_order_cannot_say_other_than_its_text(ready, ann):
    text = canonical({"id": "another"}).decode()
    with refused("say what its text says"), transaction.atomic():
        order = Order(
            id="f" * 32,
            node="oss01",
            run=ready,
            plan=ready.plans.last(),
            operation="zpool_replace",
            effect="at_most_once",
            destructive=True,
        )
        order.sealed_at = order.expires_at = order.proved_at = timezone.now()
        order.canonical, order.digest, order.signature = text, hashlib.sha256(text.encode()).hexdigest(), "x"
        order.save(force_insert=True)


def test_an_order_touches_one_disk(ready, ann):
    ResourceLock.objects.create(key="disk:naa:2", run=ready, fence=ready.fence, taken_at=timezone.now())
    with refused("one disk at most"):
        forge(ready, ann)


def test_an_order_of_several_disks_touches_those_that_its_text_names(ready, ann):
    held = ResourceLock.objects.get(run=ready, key__startswith="disk:").key.removeprefix("disk:")
    ResourceLock.objects.create(key="disk:naa:2", run=ready, fence=ready.fence, taken_at=timezone.now())
    for named in ("naa:2", held, f"{held} naa:3", f"{held}naa:2"):
        with refused("one disk at most"):
            forge(ready, ann, wwids=named)
    forge(ready, ann, wwids=f"{held} naa:2")


def test_an_altered_order_has_another_digest(run, oss01):
    """Whoever changes the argv on the wire must change the digest, and that order was never sealed."""
    order = the_order()
    altered = order.canonical.replace("ost_0", "ost_9")
    assert altered != order.canonical
    digest = hashlib.sha256(altered.encode()).hexdigest()
    assert "no such order" in orders.claim("oss01", order.pk, digest)
    with refused("is sealed"), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(canonical=altered, digest=digest)


def test_another_node_does_not_get_it_and_is_noted(run, oss01):
    order = the_order()
    offers()
    assert "no such order" in orders.claim("mds01", order.pk, order.digest)
    assert "no such order" in orders.receipt("mds01", order.pk, {"order": order.pk, "digest": order.digest, "outcome": "succeeded"})
    body = LedgerEvent.objects.get(type="order.held-back").parsed["body"]
    assert (body["by"], body["asked"]) == ("node:mds01", "CLAIMED")
    the_order().refresh_from_db()
    assert the_order().status == "OFFERED"


def test_a_refused_start_is_in_the_ledger_once(run, bob):
    order = the_order()
    offers()
    assert orders.claim("oss01", order.pk, order.digest) == ""
    bob.memberships.all().delete()
    for _ in range(5):
        assert orders.start("oss01", order.pk, order.digest) != ""
    lines = [event.parsed["body"]["reason"] for event in LedgerEvent.objects.filter(type="order.held-back")]
    assert len(lines) <= 2, "first why it ended, then that it has"
    assert "bob may not approve any more" in lines[0]


def test_a_replayed_claim_moves_nothing_back(run):
    order = the_order()
    offers()
    for go in (orders.claim, orders.start):
        assert go("oss01", order.pk, order.digest) == ""
    assert orders.claim("oss01", order.pk, order.digest) != ""
    assert the_order().status == "STARTED"


def test_an_order_is_for_one_stay_of_the_node(run):
    """The node was restarted, or copied, between sealing and the poll."""
    key = NodeKey.objects.get()
    assert json.loads(the_order().canonical)["nonce"] == key.nonce != ""
    assert sessions.report_received(key.pk, "z" * 43, timezone.now()) == ""
    assert offers() == []
    assert (the_order().status, "restarted" in the_order().reason) == ("REFUSED", True)


def test_nothing_is_sealed_or_started_while_two_machines_have_the_key(run, ann):
    key = NodeKey.objects.get()
    offers()
    for nonce in ("z" * 43, key.nonce):
        sessions.report_received(key.pk, nonce, timezone.now())
    order = the_order()
    assert "Two machines use the key" in orders.claim("oss01", order.pk, order.digest)
    with pytest.raises(services.RunRefused, match="Two machines use the key"):
        services.look(ann, "oss01", ("block",))


def test_nothing_goes_to_a_node_whose_key_was_revoked(run):
    keys.revoke(NodeKey.objects.get().node, "ann", timezone.now())
    assert offers() == []
    assert "revoked" in the_order().reason


def test_an_agent_that_names_no_stay_gets_no_order_that_changes_anything(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    NodeKey.objects.update(nonce="")
    with pytest.raises(services.RunRefused, match="which session"):
        act(run, ev.ExecuteAsked, ann)


@pytest.mark.parametrize("value", ["", "  ", "*", "ost_*", "naa:?"])
def test_an_empty_or_wildcard_target_is_an_error(ready, ann, value):
    seal = ev.Seal("replace", "zpool_replace", "at_most_once", {"pool": value}, ("zpool",), {}, ready.plans.last().pk)
    with pytest.raises(sealing.CannotSeal, match="names no one thing"):
        sealing.execute(ready, services.step_of(ready), seal, ready.fence, ann, timezone.now(), timezone.now())


# --- approvals


def test_nobody_with_a_hand_in_the_run_approves_it(oss01, ann, bob, eve):
    run = walk_to("approve", oss01, ann, bob)
    Hand.objects.create(run=run, person=eve)
    for person in (ann, eve):
        with refused("had a hand in it"):
            consent(run, person)


def test_a_superuser_approves_nothing_of_his_own(oss01, ann, bob):
    run = walk_to("approve", oss01, ann, bob)
    type(ann).objects.filter(pk=ann.pk).update(is_superuser=True)
    with refused("had a hand in it"):
        consent(run, ann)


def test_an_approval_that_the_ledger_does_not_tell_of_is_none(oss01, ann, bob):
    run = walk_to("approve", oss01, ann, bob)
    with refused("ledger does not tell"):
        consent(run, bob)
    other = LedgerEvent.objects.filter(type="run.planned").last()
    with refused("ledger does not tell"):
        consent(run, bob, leaf=bytes(other.leaf).hex())


@pytest.mark.parametrize("proved_at", [timezone.now() - timedelta(minutes=20), timezone.now() + timedelta(hours=1)], ids=["old", "future"])
def test_an_approval_needs_a_fresh_password(oss01, ann, bob, proved_at):
    run = walk_to("approve", oss01, ann, bob)
    with refused("within the last 15 minutes"):
        consent(run, bob, proved_at=proved_at)
    with pytest.raises(services.SignInIsOld):
        act(run, ev.Approved, bob, plan_digest=run.here.plan_digest, proved_at=proved_at)
    with pytest.raises(services.SignInIsOld):
        act(run, ev.Approved, bob, plan_digest=run.here.plan_digest, proved_at=None)
    assert not Approval.objects.exists()


def test_an_approval_does_not_hold_for_ever(oss01, ann, bob, monkeypatch):
    run = walk_to("replace", oss01, ann, bob)
    later = timezone.now() + timedelta(minutes=31)
    assert "ended at" in plan_approvals.of(run.here.plan_digest, ann, later).why_not
    with refused("30 minutes at most"):
        consent(run, bob, expires_at=timezone.now() + timedelta(hours=1))


def test_an_order_does_not_outlive_its_approval(ready, ann):
    until = Approval.objects.get().expires_at
    now, plan = until - timedelta(seconds=10), ready.plans.last()
    seal = ev.Seal("replace", "zpool_replace", "at_most_once", {"pool": "ost_0"}, ("zpool",), {}, plan.pk)
    order = sealing.execute(ready, services.step_of(ready), seal, ready.fence, ann, now, now)
    assert order.expires_at == until


def test_executing_needs_a_fresh_password(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    with pytest.raises(services.SignInIsOld):
        act(run, ev.ExecuteAsked, ann, proved_at=timezone.now() - timedelta(minutes=16))
    run.refresh_from_db()
    assert run.status == "open"


# --- locks


def test_a_fence_only_rises(ready):
    lock = ResourceLock.objects.get(key="disk:naa:1")
    locks.give_back(ready)
    with refused("not higher than the last"), transaction.atomic():
        ResourceLock.objects.create(key=lock.key, run=ready, fence=lock.fence, taken_at=timezone.now())
    for change in ({"fence": 0}, {"key": "another"}):
        with refused("only rises"), transaction.atomic():
            LockFence.objects.filter(key=lock.key).update(**change)


@pytest.mark.parametrize(
    "keys_", [(), ("pool:",), ("pool:*",), ("disk:naa:?",), ("pool: 1",), ("pool:1", "pool:2"), ("disk:a", "disk:b"), ("pool:1", "pool:1")]
)
def test_no_lock_on_nothing_everything_or_two(ready, keys_):
    with pytest.raises(locks.Held):
        locks.take(ready, keys_, timezone.now())


@pytest.mark.parametrize("key", ["", "pool:", "pool:*", "*", "disk:a b"])
def test_the_database_holds_no_wildcard(ready, key):
    with refused("lock_names_one_thing"), transaction.atomic():
        ResourceLock.objects.create(key=key, run=ready, fence=10**9, taken_at=timezone.now())
