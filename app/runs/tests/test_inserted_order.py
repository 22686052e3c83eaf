"""An order that somebody wrote into the database is offered to no node; it ends REFUSED, with the reason, and is an alarm."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from app.accounts.models import Refusal
from app.runs.models import Order, Plan, ResourceLock
from app.runs.ordering import orders, sealing
from app.runs.tests.cast import walk_to

pytestmark = pytest.mark.django_db
ID = "f" * 32


def test_it_is_refused_with_the_reason_and_noted(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    plan, nonce, now = Plan.objects.get(run=run), sealing.key_of("oss01").nonce, timezone.now()
    ResourceLock.objects.create(key="pool:1", run=run, fence=7, taken_at=now)
    fields = {"id": ID, "node": "oss01", "operation": "zpool_replace", "effect": "at_most_once"}
    text = json.dumps({**fields, "fence": "7", "plan_digest": plan.digest, "nonce": nonce, "approvals": []})
    more = {"run": run, "step": "replace", "number": 0, "destructive": True, "plan": plan, "fence": 7, "nonce": nonce}
    given = {"sealed_by": ann, "sealed_at": now, "proved_at": now, "expires_at": now + timedelta(minutes=5)}
    digest = hashlib.sha256(text.encode()).hexdigest()
    order = Order(**fields, **more, **given, canonical=text, digest=digest, signature="AAAA", signed_by="k", status="SEALED")
    Order.objects.bulk_create([order])  # past the portal's own way
    assert orders.next_for("oss01") == []
    found = Order.objects.get(pk=ID)
    assert (found.status, "Who gave this order" in found.reason) == ("REFUSED", True)
    assert Refusal.objects.filter(name=f"runs_order:{ID}").exists()
