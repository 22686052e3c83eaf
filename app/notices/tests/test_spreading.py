"""From the outbox to notices: who is told, once, and what is told together."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from app.accounts.models import Team
from app.core import outbox
from app.fleet.models import Node
from app.notices import spreading
from app.notices.folding import FLOOD
from app.notices.models import Happening, Notice

pytestmark = pytest.mark.django_db


def titles_sent(channel=None):
    found = Notice.objects.exclude(state="folded").order_by("pk")
    return [notice.title for notice in (found.filter(channel=channel) if channel else found)]


def test_it_tells_each_channel_once(channel, situation, spread):
    one, two = channel(), channel()
    row = situation("sdfl")
    spread()
    spread()
    outbox.put([outbox.Happening("situation-opened", f"situation-opened:{row.pk}", "oss01", details={"situation": row.pk})])
    spread()
    assert titles_sent(one) == titles_sent(two) == ["sdfl is wrong"]
    assert {notice.path for notice in Notice.objects.all()} == {f"/situations/{row.pk}/"}


def test_it_lets_a_storm_come_in_first(channel, situation):
    channel()
    situation("sdfl")
    spreading.spread(timezone.now())
    assert titles_sent() == []


def test_what_was_rolled_back_is_in_no_outbox(situation):
    def rolled_back():
        with transaction.atomic():
            situation("sdfl")
            transaction.set_rollback(True)

    rolled_back()
    assert not Happening.objects.exists()


def test_one_that_cannot_be_worded_is_told_of_and_silences_no_other(channel, situation, spread, node):
    channel()
    outbox.put([outbox.Happening("node-silent", "node-silent:x", "oss01"), outbox.Happening("of-a-newer-portal", "new:1")])
    situation("sdfl")
    spread()
    assert titles_sent() == ["Something happened: node-silent", "Something happened: of-a-newer-portal", "sdfl is wrong"]


def test_it_tells_whom_it_concerns(channel, situation, spread, team):
    elsewhere = Node.objects.create(name="mds01", team=Team.objects.create(name="south"))
    north, everybody, patient = channel(team=team), channel(severity="info"), channel(severity="act")
    situation("on-north")
    situation("on-south", on=elsewhere)
    situation("small", severity="watch")
    spread()
    assert titles_sent(north) == ["on-north is wrong"]
    assert titles_sent(everybody) == ["on-north is wrong", "on-south is wrong", "small is wrong"]
    assert titles_sent(patient) == ["on-north is wrong", "on-south is wrong"]


def test_a_channel_that_is_off_hears_nothing(channel, situation, spread):
    channel(is_on=False)
    situation("sdfl")
    spread()
    assert titles_sent() == []


def test_one_cause_is_one_notice(channel, situation, spread):
    channel(severity="info")
    situation("hba")
    for number in range(60):
        situation(f"disk-{number}", cause="hba", severity="watch")
    spread()
    assert titles_sent() == ["hba is wrong (and 60 more with the same cause)"]
    [notice] = Notice.objects.all()
    assert "- disk-0 is wrong" in notice.body
    assert "- and 48 more" in notice.body


def test_what_follows_later_from_a_cause_that_was_told_is_told_with_it(channel, situation, spread):
    channel(severity="info")
    situation("hba")
    spread()
    situation("late", cause="hba", severity="watch")
    spread()
    assert titles_sent() == ["hba is wrong"]
    assert Notice.objects.get(state="folded").into.title == "hba is wrong"


def test_what_is_worse_than_its_cause_is_told_all_the_same(channel, situation, spread):
    channel(severity="info")
    situation("hba", severity="watch")
    spread()
    situation("pool", cause="hba", severity="act")
    spread()
    assert titles_sent() == ["hba is wrong", "pool is wrong"]


def test_a_flood_without_a_common_cause_is_one_notice(channel, situation, spread, close):
    channel()
    rows = [situation(f"thing-{number}") for number in range(FLOOD + 1)]
    spread()
    assert titles_sent() == [f"{FLOOD + 1} notices at once on oss01: thing-0 is wrong"]
    assert Notice.objects.filter(state="folded").count() == FLOOD + 1
    close(rows[0])
    spread()
    assert titles_sent()[1:] == ["Over: thing-0 is wrong"]


def test_an_end_is_told_to_whom_its_beginning_was_told(channel, situation, spread, close):
    before, row = channel(), situation("sdfl")
    spread()
    after = channel()
    close(row)
    spread()
    assert titles_sent(before) == ["sdfl is wrong", "Over: sdfl is wrong"]
    assert titles_sent(after) == []


def test_what_came_and_went_before_anybody_could_be_told_is_not_told(channel, situation, spread, close):
    channel()
    close(situation("flap"))
    spread()
    assert titles_sent() == []


def test_quiet_hours_hold_back_and_then_tell_it_as_one(channel, situation, spread):
    now, hour = timezone.now(), timedelta(hours=1)
    hours = {"quiet_from": (now - hour).time(), "quiet_until": (now + hour).time(), "zone": "UTC"}
    quiet, strict = channel(severity="info", **hours), channel(urgent_passes=False, **hours)
    situation("small-1", severity="watch")
    situation("small-2", severity="watch")
    situation("big")
    spread()
    due = Notice.objects.filter(next_at__lte=timezone.now())
    assert [notice.title for notice in due] == ["big is wrong"]  # through the first channel, which lets it pass
    spreading.release(now + 2 * hour)
    assert titles_sent(quiet) == ["big is wrong", "2 notices from the quiet hours on oss01: small-1 is wrong"]
    assert titles_sent(strict) == ["big is wrong"]
    assert not Notice.objects.filter(held=True).exists()
