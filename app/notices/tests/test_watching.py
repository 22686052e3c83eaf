"""What only time brings."""

from datetime import timedelta

import pytest
from django.utils import timezone

from app.fleet.models import Node
from app.notices import watching
from app.notices.models import Happening, Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def watched():
    """This portal has looked all along."""
    now = timezone.now()
    return Watch.objects.create(pk=1, since=now - timedelta(hours=1), last_at=now)


def kinds():
    return list(Happening.objects.order_by("pk").values_list("kind", flat=True))


def test_a_silence_is_noticed_once_and_so_is_its_end(node, watched):
    Node.objects.update(last_report_at=timezone.now() - timedelta(seconds=watching.SILENT_SECONDS + 1))
    watching.look(timezone.now())
    watching.look(timezone.now())
    assert kinds() == ["node-silent"]
    Node.objects.update(last_report_at=timezone.now())
    watching.look(timezone.now())
    watching.look(timezone.now())
    assert kinds() == ["node-silent", "node-heard"]


def test_a_portal_that_was_down_blames_no_node(node, watched):
    Watch.objects.update(last_at=timezone.now() - timedelta(hours=2))
    Node.objects.update(last_report_at=timezone.now() - timedelta(hours=2))
    watching.look(timezone.now())
    assert kinds() == []


def test_a_retired_node_may_be_silent(node, watched):
    Node.objects.update(last_report_at=timezone.now() - timedelta(hours=1), state=Node.State.RETIRED)
    watching.look(timezone.now())
    assert kinds() == []


def test_a_ledger_that_breaks_is_noticed_once_each_time(node, watched, monkeypatch):
    for is_well in (False, False, True, True, False):
        monkeypatch.setattr(watching, "ledger_is_well", lambda well=is_well: well)
        watching.look(timezone.now())
    assert kinds() == ["ledger-broken", "ledger-well", "ledger-broken"]
