"""The pages of notices: who may, what is kept, and that a secret never comes back."""

import json

import pytest

from app.ledger.models import LedgerEvent
from app.notices import tasks
from app.notices.models import Channel, Hook, Notice
from app.runs.tests.cast import person

pytestmark = pytest.mark.django_db
FORM = {
    "name": "on call",
    "severity": "act",
    "team": "",
    "zone": "Europe/Berlin",
    "quiet_from": "22:00",
    "quiet_until": "07:00",
    "urgent_passes": "on",
    "is_on": "on",
}


@pytest.fixture
def admin(client, ada):
    client.force_login(ada)
    return client


def test_a_channel_is_made_tried_and_its_secret_never_shown(admin, receiver):
    added = admin.post("/notices/channels/add/", FORM | {"url": receiver.url}, follow=True)
    made = Channel.objects.get()
    assert f"JSON at 127.0.0.1:{receiver.server_port}" in added.content.decode()
    admin.post(f"/notices/channels/{made.pk}/test/")
    tasks.sweep()
    [got] = [json.loads(text) for text in receiver.got]
    assert got["title"] == "[to know] A test of the channel on call"
    page = admin.get(f"/notices/channels/{made.pk}/").content.decode()
    assert "was delivered." in page
    shown = page + added.content.decode() + admin.get("/notices/").content.decode()
    shown += "".join(bytes(event.body).decode() for event in LedgerEvent.objects.all())
    assert "hunter2-secret" not in shown
    assert "T0KEN-secret" not in shown
    assert [event.type for event in LedgerEvent.objects.order_by("pk") if event.type.startswith(("channel", "notice"))] == [
        "channel.added",
        "channel.tested",
        "notice.delivered",
    ]


def test_a_change_without_a_url_keeps_the_one_there_is(admin, channel):
    one = channel()
    sealed = bytes(one.url)
    assert admin.post(f"/notices/channels/{one.pk}/change/", FORM | {"url": ""}).status_code == 302
    one.refresh_from_db()
    assert (one.name, bytes(one.url), str(one.quiet_from)) == ("on call", sealed, "22:00:00")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ({"url": ""}, "Where should notices go?"),
        ({"url": "nonsense-secret"}, "This is no Apprise URL."),
        ({"url": "json://h/x", "zone": "Berlin"}, "This is no time zone."),
        ({"url": "json://h/x", "quiet_until": ""}, "Quiet hours need a beginning and an end."),
        ({"url": "json://h/x", "severity": "loud"}, ""),
    ],
)
def test_what_makes_no_channel_is_refused_with_a_sentence(admin, text, why):
    answer = admin.post("/notices/channels/add/", FORM | text)
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert "nonsense-secret" not in answer.content.decode()
    assert not Channel.objects.exists()


def test_a_channel_is_removed_by_its_name_only(admin, channel):
    one = channel()
    admin.post(f"/notices/channels/{one.pk}/remove/", {"name": "another"})
    assert Channel.objects.exists()
    admin.post(f"/notices/channels/{one.pk}/remove/", {"name": one.name})
    assert not Channel.objects.exists()


def test_what_was_given_up_is_sent_again_by_hand(admin, channel, situation, spread, receiver):
    channel(receiver.url)
    situation("sdfl")
    spread()
    Notice.objects.update(state="failed", next_at=None, reason="It failed itself (5xx).")
    page = admin.get("/notices/").content.decode()
    assert "1 notice could not be delivered." in page
    admin.post(f"/notices/{Notice.objects.get().pk}/again/")
    tasks.sweep()
    assert Notice.objects.get().state == "sent"


def test_a_hook_shows_its_address_once(admin):
    page = admin.post("/notices/hooks/add/", {"name": "prometheus", "team": ""}).content.decode()
    assert "/hooks/alertmanager/" in page
    assert "/hooks/alertmanager/" not in admin.get("/notices/").content.decode()
    admin.post(f"/notices/hooks/{Hook.objects.get().pk}/revoke/")
    assert Hook.objects.get().revoked_at


@pytest.mark.parametrize("role", ["viewer", "operator", "approver"])
def test_others_look_and_change_nothing(client, channel, role):
    one = channel()
    client.force_login(person("otto", role))
    assert client.get("/notices/").status_code == 200
    for path in ("channels/add/", f"channels/{one.pk}/change/", f"channels/{one.pk}/test/", f"channels/{one.pk}/remove/", "hooks/add/"):
        assert client.post(f"/notices/{path}", FORM).status_code == 403
    assert client.get(f"/notices/channels/{one.pk}/").status_code == 403


def test_an_administrator_of_one_team_does_not_rule_them_all(client, channel, team, django_user_model):
    one = django_user_model.objects.create_user("nora")
    one.memberships.create(role="admin", team=team)
    client.force_login(one)
    assert client.get("/notices/channels/add/").status_code == 403
