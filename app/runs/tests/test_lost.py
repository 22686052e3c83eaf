"""What a step takes away stands first and in red on the run, in the plan, for the approver and in the API, and each accepts it by name."""

import pytest
from django.urls import reverse

from app.ledger.models import LedgerEvent
from app.ledger.words import phrase
from app.runs import services
from app.runs.models import Plan
from app.runs.tests.cast import act, walk_to
from workflows.engine import events as ev
from workflows.engine import plan_losses, plans

pytestmark = pytest.mark.django_db


@pytest.fixture
def weighty(oss01, ann, bob):
    """A run that waits for bob's approval of a plan that takes the last redundancy."""
    run = walk_to("approve", oss01, ann, bob)
    fields = {"margin_now": "1", "margin_during": "0", "vdev": "raidz2-0", "pool": "ost_0", "first": "disk-6 (bay 6, OFFLINE)", "why": ""}
    run.state["plan"]["redundancy"] = fields
    run.state["plan_digest"] = plans.digest(run.state["plan"])
    run.save(update_fields=["state"])
    made = Plan.objects.get(run=run)
    Plan.objects.create(
        digest=run.here.plan_digest,
        run=run,
        round=made.round + 1,
        body=run.state["plan"],
        made_at=made.made_at,
        accepts=plan_losses.to_accept(run.here.plan),
    )
    return run


def page(client, reader, address: str) -> str:
    client.force_login(reader)
    return " ".join(client.get(address).content.decode().split())


def test_it_stands_before_everything_else_that_is_said_of_the_step(weighty, ann, bob, client):
    for reader in (ann, bob):
        shown = page(client, reader, weighty.get_absolute_url())
        now = shown[shown.index('id="now-title"') :]
        assert now.index("takes the last redundancy of raidz2-0") < now.index("sl-now-why") < now.index("<form")
        assert "Repair the other one first: disk-6 (bay 6, OFFLINE)" in now
        assert "Why this is safe" not in now
    assert "takes the last redundancy of raidz2-0" in page(client, bob, reverse("approvals"))


def test_the_approver_and_the_giver_each_accept_it_and_the_ledger_says_so(weighty, ann, bob):
    wanted = plan_losses.to_accept(weighty.here.plan)
    with pytest.raises(services.RunRefused, match="accept by name"):
        act(weighty, ev.Approved, bob, plan_digest=weighty.here.plan_digest)
    act(weighty, ev.Approved, bob, plan_digest=weighty.here.plan_digest, accepted=wanted)
    weighty.refresh_from_db()
    with pytest.raises(services.RunRefused, match="accept by name"):
        act(weighty, ev.ExecuteAsked, ann)
    approved = LedgerEvent.objects.get(run=str(weighty.pk), type="run.approved")
    assert approved.parsed["body"]["accepts"] == wanted
    assert wanted in phrase("run.approved", approved.parsed["body"])


def test_the_form_asks_for_it_and_keeps_what_was_ticked(weighty, bob, client):
    wanted = plan_losses.to_accept(weighty.here.plan)
    shown = page(client, bob, weighty.get_absolute_url())
    assert f"<strong>I, {bob.get_username()}, accept:</strong> {wanted}" in shown
    assert "checked" not in shown[shown.index('name="accepted"') :][:400].split(">")[0]
    sent = {"act": "deny", "version": weighty.version, "plan_digest": weighty.here.plan_digest, "reason": "", "accepted": wanted}
    refused = client.post(reverse("run-act", args=[weighty.pk]), sent).content.decode()
    assert "checked" in refused[refused.index('name="accepted"') :][:400].split(">")[0]


def test_a_refusal_says_only_what_is_true_of_it(oss01, ann, bob, client):
    run = walk_to("replace", oss01, ann, bob)
    stale = {"act": "execute", "version": run.version}
    client.force_login(ann)
    early = client.post(reverse("run-act", args=[run.pk]), {"act": "check", "version": run.version}).content.decode()
    assert "This request changed nothing. The refusal is recorded in the ledger." in " ".join(early.split())
    act(run, ev.ExecuteAsked, ann)
    oss01.work()
    late = " ".join(client.post(reverse("run-act", args=[run.pk]), {"act": "check", "version": stale["version"]}).content.decode().split())
    assert "This request changed nothing; what was ordered before stays as it is.</p>" in late
