"""One administrator of a portal with nodes tries to be the other person. Nothing is approved, ordered or reviewed that way."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from app.accounts import confirming, people, waiting
from app.accounts.models import User
from app.runs import services
from app.runs.models import Approval, BrokenGlass, Order
from app.runs.ordering import break_glass_review, plan_approvals
from app.runs.tests.cast import act, begin, person, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(db):
    return person("root", "admin")


def signed_in(name: str, password: str) -> Client:
    client = Client()
    client.post(reverse("sign-in"), {"login": name, "password": password})
    assert client.get(reverse("account")).status_code == 200
    return client


def sends(client: Client, run, what: str, **form):
    run.refresh_from_db()
    return client.post(f"/runs/{run.pk}/act/", {"act": what, "version": run.version, "plan_digest": run.here.plan_digest, **form})


def test_two_accounts_that_one_administrator_made_do_nothing_together(oss01, root, ann, bob):
    administrator = Client()
    administrator.force_login(root)
    hers = {}
    for name, role in (("one", "operator"), ("two", "approver")):
        page = administrator.post(reverse("person-add"), {"name": name}).content.decode()
        hers[name] = signed_in(name, re.search(r"Password: <code>(\S+)</code>", page)[1])
        administrator.post(reverse("person-give", args=[name]), {"role": role})
    with pytest.raises(services.NotAllowed, match="operator for the whole fleet, given by root"):
        begin(User.objects.get(username="one"))
    run = walk_to("approve", oss01, ann, bob)
    answer = sends(hers["two"], run, "approve")
    assert (answer.status_code, "approver for the whole fleet, given by root" in answer.content.decode()) == (409, True)
    assert not Approval.objects.exists()
    page = hers["two"].get(f"/runs/{run.pk}/").content.decode()
    assert "approver for the whole fleet, given by root" in page, "the page of the run says why"


def test_who_resets_an_approvers_password_and_factors_is_not_that_approver(oss01, root, ann, bob, settings):
    run = walk_to("approve", oss01, ann, bob)
    people.forget_factors(root, bob)
    answer = sends(signed_in("bob", people.new_password(root, bob)), run, "approve")
    page = answer.content.decode()
    assert (answer.status_code, "second factors removed by root, a new password by root" in page) == (409, True)
    assert not Approval.objects.exists()
    zoe = person("zoe", "admin")
    confirming.confirm(zoe, bob, waiting.key(bob))
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    assert Approval.objects.exists()


def test_what_was_approved_before_the_account_was_changed_counts_no_more(oss01, root, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    people.new_password(root, bob)
    assert "a new password by root" in plan_approvals.of(run.here.plan_digest, ann, Approval.objects.get().at).why_not
    oss01.work()
    assert oss01.commands() == []
    assert Order.objects.get(operation="zpool_replace").status == "REFUSED"


def test_what_the_giver_of_an_order_is_changed_in_ends_it(oss01, root, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    people.new_password(root, ann)
    oss01.work()
    assert oss01.commands() == []
    assert "a new password by root" in Order.objects.get(operation="zpool_replace").reason


def test_nobody_breaks_or_reviews_a_glass_so(oss01, root, ann, bob, settings):
    settings.BREAK_GLASS = ("zpool_replace",)
    run = walk_to("approve", oss01, ann, bob)
    people.give(root, ann, "glass-breaker", None)
    with pytest.raises(services.NotAllowed, match="glass-breaker for the whole fleet, given by root"):
        act(run, ev.GlassBroken, ann, plan_digest=run.here.plan_digest, reason="x")
    assert "given by root" in plan_approvals.why_no_glass(ann, "zpool_replace", "oss01")
    ann.memberships.get(role="glass-breaker").delete()
    ann.memberships.create(role="glass-breaker")
    act(run, ev.GlassBroken, ann, plan_digest=run.here.plan_digest, reason="x")
    eve = person("eve", "viewer")
    people.give(root, eve, "approver", None)
    assert "approver for the whole fleet, given by root" in break_glass_review.why_not(BrokenGlass.objects.get(), eve)
