from datetime import timedelta

import pytest
from django.utils import timezone

from app.fleet import tasks
from app.fleet.models import Node
from app.fleet.pages.rows import STALE_SECONDS


@pytest.mark.django_db
def test_it_rings_for_nodes_that_fell_silent_just_now(monkeypatch):
    rung = []
    monkeypatch.setattr(tasks, "ring", rung.append)
    for name, age_seconds in {"fresh": 5, "silent": STALE_SECONDS + 5, "long-gone": STALE_SECONDS + 500}.items():
        Node.objects.create(name=name, last_report_at=timezone.now() - timedelta(seconds=age_seconds))
    Node.objects.create(name="never-seen")
    tasks.notice_silence()
    assert rung == ["node:silent", "fleet"]
