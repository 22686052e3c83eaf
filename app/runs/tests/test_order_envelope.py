"""What goes out with an order: a signature anybody can check with openssl, and proof that it stands in the ledger."""

import base64
import json
import subprocess

import pytest

from agents.trust.transparency_log import proven, read_note
from app.ledger import keys, merkle
from app.ledger import services as ledger
from app.runs import services
from app.runs.models import Approval, Order
from app.runs.ordering import order_envelope as offering
from app.runs.ordering import orders
from app.runs.tests.cast import act, offers, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_keys(tmp_path, settings):
    """Keys of the test's own."""
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
    answer = json.loads(offers()[0]["order"])
    assert answer["approvals"] == [Approval.objects.get().leaf]
    assert answer["not_before"] == answer["sealed_at"]
    assert len(answer["nonce"]) == 43
    assert answer["plan_digest"] == run.plans.get().pk


def test_the_proofs_hold_against_the_checkpoint_that_comes_with_them(run):
    [offer] = offers()
    checkpoint = read_note(offer["proofs"]["checkpoint"], ledger.public_keys()["log_key"])
    events = proven(checkpoint, offer["proofs"]["events"])
    assert {answer["type"] for answer in events.values()} == {"order.sealed", "run.approved"}
    assert Approval.objects.get().leaf in events
    assert all(merkle.leaf_hash(e["body"].encode()).hex() in events for e in offer["proofs"]["events"])
    assert offering.log([offer], 0)["checkpoint"] == offer["proofs"]["checkpoint"]


def test_a_question_needs_no_proofs(oss01, ann):
    services.look(ann, "oss01", ("block",))
    [offer] = offers()
    answer = json.loads(offer["order"])
    assert (offer["proofs"], answer["nonce"], answer["approvals"]) == ({}, "", [])
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
