"""What goes out with an order: a signature anybody can check with openssl, and proof that it stands in the ledger."""

import base64
import json
import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from agents import identity as agent_identity
from agents.host import LocalHost
from agents.proofs import proven, read_note
from app.ledger import keys, merkle
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.runs import offers as offering
from app.runs import orders, rotation, services
from app.runs.models import Approval, KeyRotation, Order
from app.runs.tests.cast import act, offers, walk_to
from workflows import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_keys(tmp_path, settings):
    """Keys of the test's own: it may rotate them."""
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "keys" / "ledger.key"


@pytest.fixture
def run(oss01, ann, bob):
    return act(walk_to("replace", oss01, ann, bob), ev.ExecuteAsked, ann)


def test_openssl_checks_the_signature(run, tmp_path):
    [offer] = offers()
    for name, data in (
        ("key", keys.order_key().public_pem.encode()),
        ("sig", base64.b64decode(offer["signature"])),
        ("order", offer["order"].encode()),
    ):
        (tmp_path / name).write_bytes(data)
    check = ["openssl", "dgst", "-sha256", "-verify", "key", "-signature", "sig", "order"]
    assert subprocess.run(check, check=False, cwd=tmp_path, capture_output=True, text=True).stdout.strip() == "Verified OK"
    (tmp_path / "order").write_bytes(offer["order"].replace("ost_0", "ost_1").encode())
    assert subprocess.run(check, check=False, cwd=tmp_path, capture_output=True).returncode != 0


def test_its_text_says_what_it_must(run):
    said = json.loads(offers()[0]["order"])
    assert said["approvals"] == [Approval.objects.get().leaf]
    assert said["not_before"] == said["sealed_at"]
    assert len(said["nonce"]) == 43
    assert said["plan_digest"] == run.plans.get().pk


def test_the_proofs_hold_against_the_checkpoint_that_comes_with_them(run):
    [offer] = offers()
    checkpoint = read_note(offer["proofs"]["checkpoint"], ledger.public_keys()["log_key"])
    events = proven(checkpoint, offer["proofs"]["events"])
    assert {said["type"] for said in events.values()} == {"order.sealed", "run.approved"}
    assert Approval.objects.get().leaf in events
    assert all(merkle.leaf_hash(e["body"].encode()).hex() in events for e in offer["proofs"]["events"])
    assert offering.log([offer], 0)["checkpoint"] == offer["proofs"]["checkpoint"]


def test_a_question_needs_no_proofs(oss01, ann):
    services.look(ann, "oss01", ("block",))
    [offer] = offers()
    said = json.loads(offer["order"])
    assert (offer["proofs"], said["nonce"], said["approvals"]) == ({}, "", [])
    assert offer["signature"]


def test_without_proof_nothing_is_offered(run, monkeypatch):
    monkeypatch.setattr(offering, "_wanted", lambda order, approvals: [])
    assert offers() == []


def test_without_a_checkpoint_nothing_is_offered(run, monkeypatch):
    def down():
        raise ledger.LedgerDown("No key.")

    monkeypatch.setattr(orders.ledger, "checkpoint_now", down)
    assert offers() == []
    assert Order.objects.get(operation="zpool_replace").status == "SEALED"


# --- the key changes


def test_agents_follow_from_key_to_key(tmp_path):
    """One that was away for two changes walks both steps."""
    pinned = agent_identity.Identity("https://p", "oss01", bytes(32), **ledger.public_keys())
    first = pinned.portal_key_id
    second, third = (rotation.rotate("ann", timezone.now()) for _ in range(2))
    assert len({first, second, third}) == 3
    assert keys.order_key().key_id == third
    host = LocalHost()
    for _ in range(2):
        pinned = agent_identity.rotated(host, pinned, rotation.next_keys(pinned.portal_key_id))
    assert pinned.portal_key_id == third
    assert rotation.next_keys(third) is None
    assert rotation.next_keys("0" * 16) is None
    assert [e.said["body"]["to"] for e in LedgerEvent.objects.filter(type="keys.rotated").order_by("pk")] == [second, third]


def test_a_hand_over_the_old_key_did_not_sign_is_not_followed(tmp_path):
    pinned = agent_identity.Identity("https://p", "oss01", bytes(32), **ledger.public_keys())
    rotation.rotate("ann", timezone.now())
    said = rotation.next_keys(pinned.portal_key_id)
    forged = said | {"signature": keys.order_key().sign_text(said["keys"].encode())}
    with pytest.raises(agent_identity.BadKeys):
        agent_identity.rotated(LocalHost(), pinned, forged)


def test_a_portal_that_dies_while_changing_its_key_goes_on(monkeypatch):
    """Before the statement is committed nothing has changed; after it, the next look at the key finishes the change."""
    first = keys.order_key().key_id
    monkeypatch.setattr(rotation, "settle", lambda: None)
    new = rotation.rotate("ann", timezone.now())
    assert keys.order_key().key_id == first
    monkeypatch.undo()
    rotation.settle()
    assert keys.order_key().key_id == new
    rotation.settle()
    assert keys.order_key().key_id == new
    assert KeyRotation.objects.count() == 1


def test_the_ledger_still_signs_after_a_change_of_key(run):
    ledger.checkpoint_now()
    rotation.rotate("ann", timezone.now() + timedelta(seconds=1))
    [offer] = offers()
    assert offer["key"] != keys.order_key().key_id, "sealed under the old key, and said so"
