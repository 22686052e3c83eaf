"""Breaking the glass: loud, short, for one person and one plan, where it is allowed, and reviewed by another person."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Approval, BrokenGlass, Order
from app.runs.ordering import break_glass_review, plan_approvals
from app.runs.tests.cast import act, offers, person, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db
WHY = "Pool is one disk from loss and nobody answers the phone."


@pytest.fixture
def allowed(settings):
    settings.BREAK_GLASS = ("zpool_replace",)


@pytest.fixture
def ann(ann):
    ann.memberships.create(role="glass-breaker")
    return ann


@pytest.fixture
def run(oss01, ann, bob):
    return walk_to("approve", oss01, ann, bob)


def break_it(run, user, **more):
    return act(run, ev.GlassBroken, user, **{"plan_digest": run.here.plan_digest, "reason": WHY, **more})


def test_one_person_replaces_a_disk_alone_and_everybody_sees_it(run, allowed, oss01, ann, bob, client):
    break_it(run, ann)
    act(run, ev.ExecuteAsked, ann)
    assert oss01.work() == 1
    assert len(oss01.commands()) == 1
    broken = BrokenGlass.objects.get()
    assert not Approval.objects.exists()
    event = LedgerEvent.objects.get(type="run.glass-broken")
    assert (event.actor, bytes(event.leaf).hex()) == ("ann", broken.leaf)
    assert broken.leaf in Order.objects.get(operation="zpool_replace").canonical
    client.force_login(bob)
    for page in ("/", "/approvals/", f"/runs/{run.pk}/", "/ledger/"):
        assert "ann broke the glass" in client.get(page).content.decode().replace("</strong>", ""), page


def test_it_is_allowed_nowhere_unless_somebody_says_where(run, ann):
    with pytest.raises(services.RunRefused, match="This portal does not run"):
        break_it(run, ann)


def test_it_takes_a_right_of_its_own(run, allowed, bob, eve):
    for who in (bob, eve):
        with pytest.raises(services.NotAllowed, match="glass-breaker"):
            break_it(run, who)


def test_it_takes_a_reason_and_a_fresh_password(run, allowed, ann):
    with pytest.raises(services.RunRefused, match="Say why"):
        break_it(run, ann, reason="  ")
    with pytest.raises(services.SignInIsOld):
        break_it(run, ann, proved_at=timezone.now() - timedelta(hours=1))


def test_it_is_for_the_plan_that_was_shown(run, allowed, ann):
    with pytest.raises(services.RunRefused, match="has changed"):
        break_it(run, ann, plan_digest="0" * 64)


def test_nobody_else_uses_it(run, allowed, ann, eve):
    break_it(run, ann)
    with pytest.raises(services.RunRefused, match="no other person may use that"):
        act(run, ev.ExecuteAsked, eve)


def test_it_does_not_hold_for_long(run, allowed, ann):
    break_it(run, ann)
    assert "held until" in plan_approvals.of(run.here.plan_digest, ann, timezone.now() + timedelta(minutes=11)).why_not


def test_who_loses_the_right_meanwhile_is_stopped_at_the_node(run, allowed, ann):
    break_it(run, ann)
    act(run, ev.ExecuteAsked, ann)
    ann.memberships.filter(role="glass-breaker").delete()
    assert offers() == []
    assert "may not break the glass" in Order.objects.get(operation="zpool_replace").reason


def test_a_new_plan_is_a_new_glass(run, allowed, oss01, ann):
    break_it(run, ann)
    act(run, ev.PlanAsked, ann)
    oss01.work()
    run.refresh_from_db()
    assert run.here.glass is None


def test_an_open_review_stops_the_next(run, allowed, ann, eve):
    break_it(run, ann)
    act(run, ev.Aborted, ann, reason="Enough.")
    other = BrokenGlass.objects.get()
    with pytest.raises(IntegrityError, match="one_unreviewed_glass"), transaction.atomic():
        BrokenGlass.objects.bulk_create([clone(other)])
    assert plan_approvals.open_glass_of(ann) == other
    assert plan_approvals.open_glass_of(eve) is None


def clone(glass_: BrokenGlass) -> BrokenGlass:
    """The same person again, as far as the constraint looks."""
    plan = glass_.run.plans.create(digest="d" * 64, round=9, body={}, made_at=timezone.now())
    event = ledger.record("run.glass-broken", {"plan_digest": plan.pk}, glass_.person.username, run=str(glass_.run_id))
    row = {"reason": "x", "at": glass_.at, "proved_at": glass_.proved_at, "expires_at": glass_.expires_at, "leaf": bytes(event.leaf).hex()}
    return BrokenGlass(run=glass_.run, plan=plan, person=glass_.person, **row)


def test_another_person_reviews_it_once(run, allowed, ann, bob):
    break_it(run, ann)
    broken = BrokenGlass.objects.get()
    with pytest.raises(services.RunRefused, match="Say what"):
        break_glass_review.review(broken.pk, bob, " ")
    break_glass_review.review(broken.pk, bob, "I called the site; it was right.")
    assert LedgerEvent.objects.get(type="run.glass-reviewed").actor == "bob"
    with pytest.raises(services.RunRefused, match="has reviewed this"):
        break_glass_review.review(broken.pk, person("cid", "approver"), "me too")
    assert break_glass_review.unreviewed() == []


def test_who_had_a_hand_in_it_does_not_review_it(run, allowed, ann, eve):
    break_it(run, ann)
    broken = BrokenGlass.objects.get()
    for who in (ann, eve):
        who.memberships.create(role="approver")
    act(run, ev.PlanAsked, eve)
    for who in (ann, eve):
        with pytest.raises(services.NotAllowed, match="took part"):
            break_glass_review.review(broken.pk, who, "fine")
        with pytest.raises(IntegrityError), transaction.atomic():
            BrokenGlass.objects.filter(pk=broken.pk).update(reviewer=who, reviewed_at=timezone.now(), review="fine")
    with pytest.raises(IntegrityError, match="kept as it was"), transaction.atomic():
        BrokenGlass.objects.update(reason="Another.")


def test_an_operator_does_not_review_through_the_page(run, allowed, ann, bob, eve, client):
    break_it(run, ann)
    url = f"/broken-glass/{BrokenGlass.objects.get().pk}/review/"
    client.force_login(eve)
    assert client.post(url, {"words": "fine"}).status_code == 409
    client.force_login(bob)
    assert client.post(url, {"words": "It was right."}).status_code == 302
    assert BrokenGlass.objects.get().reviewer == bob
