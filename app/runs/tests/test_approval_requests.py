"""A plan that waits for an approver says who may, who was told and when, and lets somebody remind them or send a link."""

import pytest
from django.urls import reverse
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.notices.models import Channel, Happening, Notice
from app.runs import services
from app.runs.people import approval_requests
from app.runs.tests.cast import act, person, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def waits(oss01, ann, bob):
    return walk_to("approve", oss01, ann, bob)


def page(client, reader, run) -> str:
    client.force_login(reader)
    return " ".join(client.get(run.get_absolute_url()).content.decode().split())


def notice_in(run, ann, state: str) -> Notice:
    """What the worker makes of the happening: one notice for one channel."""
    at = timezone.now()
    channel, _ = Channel.objects.get_or_create(
        name="on call", defaults={"mark": "m", "url": b"u", "service": "json", "created_at": at, "created_by": ann}
    )
    Happening.objects.filter(kind=approval_requests.WANTED, run=run.pk).update(spread_at=at)
    key = f"{approval_requests.WANTED}:{run.pk}:{run.here.plan_digest}"
    return Notice.objects.create(
        channel=channel, kind=approval_requests.WANTED, key=key, run=run.pk, severity="act", title="t", path="/", at=at, state=state
    )


def test_who_may_approve_is_named_and_nobody_who_had_a_hand(waits, ann, bob, client):
    carl = person("carl", "approver")
    assert approval_requests.approvers(waits, waits.here) == [bob.username, carl.username]
    shown = page(client, ann, waits)
    assert f"{bob.username}, {carl.username}. One of them" in shown
    client.force_login(ann)
    assert f"<dd>{bob.username}, {carl.username}</dd>" in client.get(reverse("approvals")).content.decode()


def test_where_nobody_may_it_says_so_and_who_can_change_that(waits, ann, bob, client):
    bob.memberships.all().delete()
    assert "No one.</span>" in page(client, ann, waits)
    assert "An administrator can give the right" in page(client, ann, waits)


def test_who_was_told_and_when_or_that_nobody_was(waits, ann, client):
    Happening.objects.update(spread_at=timezone.now())
    assert "No notice was sent outside this portal." in page(client, ann, waits)
    notice = notice_in(waits, ann, Notice.State.FAILED)
    assert "on call: could not be delivered" in page(client, ann, waits)
    Notice.objects.filter(pk=notice.pk).update(state=Notice.State.SENT)
    assert "on call: delivered" in page(client, ann, waits)


def test_reminding_tells_once_more_is_on_record_and_is_no_noise(waits, ann, client):
    before = Happening.objects.filter(kind=approval_requests.WANTED).count()
    client.force_login(ann)
    sent = {"act": "remind", "version": waits.version}
    client.post(reverse("run-act", args=[waits.pk]), sent)
    assert Happening.objects.filter(kind=approval_requests.WANTED).count() == before + 1
    assert LedgerEvent.objects.get(run=str(waits.pk), type="run.reminded").actor == ann.username
    again = client.post(reverse("run-act", args=[waits.pk]), sent)
    assert again.status_code == 409
    assert Happening.objects.filter(kind=approval_requests.WANTED).count() == before + 1
    assert "Again from" in page(client, ann, waits)


def test_nobody_is_reminded_of_what_nobody_waits_for(waits, ann, bob):
    act(waits, ev.Approved, bob, plan_digest=waits.here.plan_digest)
    waits.refresh_from_db()
    with pytest.raises(services.RunRefused, match="no one to remind"):
        approval_requests.remind(waits.pk, waits.version, ann)


def test_the_link_to_send_is_this_run(waits, ann, client):
    assert f"http://testserver{waits.get_absolute_url()}" in page(client, ann, waits)
