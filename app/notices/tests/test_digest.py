"""Words that nothing explains: once for the whole fleet, in the digest of the day, and on no pager."""

from datetime import timedelta

import pytest
from django.utils import timezone

from app.fleet.models import Situation
from app.fleet.tests.cast import node
from app.notices import spreading
from app.notices.models import Notice

pytestmark = pytest.mark.django_db


@pytest.fixture
def word(situation):
    def make(text, on="oss01", severity="watch"):
        row = situation(f"{on}:{text}", severity=severity, on=node(on))
        data = row.data | {"subject": {"sign": f"smart:{text}", "text": text}}
        Situation.objects.filter(pk=row.pk).update(slug="unexplained", data=data)
        return row

    return make


def test_it_waits_for_the_digest_and_goes_to_no_pager(channel, word, spread):
    pager, mail = channel(), channel(severity="watch")
    word("halfway")
    spread()
    assert not Notice.objects.filter(channel=pager).exists()
    notice = Notice.objects.get(channel=mail)
    assert (notice.held, notice.urgent) == (True, False)
    assert timezone.now() < notice.next_at <= timezone.now() + timedelta(days=1)


def test_the_digest_is_one_message(channel, word, spread):
    channel(severity="watch")
    word("halfway")
    word("dreaming")
    spread()
    Notice.objects.update(next_at=timezone.now())
    spreading.release(timezone.now())
    assert Notice.objects.get(state="waiting").title.startswith("2 notices of the day")


def test_the_same_word_of_another_node_is_told_with_the_first(channel, word, spread):
    channel(severity="watch")
    word("halfway")
    spread()
    word("halfway", on="oss02")
    spread()
    assert Notice.objects.exclude(state="folded").count() == 1


def test_a_pool_that_is_not_online_wakes_somebody_all_the_same(channel, word, spread):
    pager = channel()
    word("halfway", severity="act")
    spread()
    assert Notice.objects.get(channel=pager).held is False
