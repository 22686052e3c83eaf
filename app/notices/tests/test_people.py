"""What one administrator gives or changes is told on every channel, of whichever team, at the beginning and at the end."""

import pytest
from django.utils import timezone

from app.accounts import confirming, people, waiting
from app.ledger import services as ledger
from app.notices.models import Channel, Notice
from app.notices.watching import look
from app.runs.tests.cast import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def in_use(ada):
    ledger.record("token.issued", {}, "ada", node="oss01")
    ledger.record("node.enrolled", {}, "node:oss01", node="oss01")


def test_every_channel_hears_of_the_beginning_and_of_the_end(in_use, ada, team, channel, spread):
    every, of_a_team = channel(), channel(team=team)
    zoe, ann, bob = person("Zoe", "admin"), person("ann", "viewer"), person("bob", "approver")
    held = people.give(ada, ann, "operator", None)
    people.new_password(ada, bob)
    spread()
    asked = ["To be confirmed or withdrawn: ann, operator for the whole fleet, given by ada"]
    asked += ["To be confirmed or withdrawn: bob, a new password by ada"]
    confirming.confirm(zoe, held, waiting.key(held))
    confirming.withdraw(zoe, bob, waiting.key(bob))
    spread()
    ended = ["What ann may do: operator for the whole fleet, given by ada", "What bob may do: a new password by ada"]
    for one in (every, of_a_team):
        assert [notice.title for notice in Notice.objects.filter(channel=one).order_by("pk")] == asked + ended
    assert {(notice.severity, notice.urgent) for notice in Notice.objects.all()} == {("act", False)}
    assert {notice.path for notice in Notice.objects.all()} == {"/people/of/ann/", "/people/of/bob/"}
    assert "Withdrawn by Zoe" in Notice.objects.latest("pk").body


def test_beat_tells_of_what_a_day_has_let_count(in_use, ada, channel, spread, monkeypatch):
    assert channel() in Channel.objects.all()
    people.give(ada, person("ann", "viewer"), "operator", None)
    spread()
    real = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: real() + waiting.WAIT)
    look(timezone.now())
    spread()
    assert "A day has passed" in Notice.objects.filter(kind="person-changed").get().body
