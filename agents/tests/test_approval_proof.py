"""What must stand behind an order: sealed and approved, by two people, for this plan, and in the ledger the agent witnesses."""

from __future__ import annotations

import json

import pytest

from agents.orders import approval_proof
from agents.orders import order as orders
from agents.orders.policy import Policy
from agents.portal.wire import canonical
from agents.tests import rig
from agents.trust.transparency_log import leaf_hash, read_note

OPERATE = Policy("operate", ("zpool_replace",), ("*",), "policy.json says so.")
FIELDS = {"operation": "zpool_replace", "effect": "at_most_once", "params": {}, "argv": []}


def offered(behind=None, **fields):
    return rig.Ledger(rig.keys()).offer(rig.seal(behind, **{**FIELDS, **fields}))


def refusal(offer, rule=OPERATE, believed=None):
    believe = believed or (lambda note: read_note(note, rig.keys().log_key))
    return approval_proof.check(orders.read_offer(offer), believe, rule)


def event(type="run.approved", actor="bob", plan="p" * 64, **where):
    return rig.event(type, actor, {"step": "approve", "plan_digest": plan}, **where)


def test_an_approved_order_is_backed():
    assert refusal(offered()) == ""
    assert refusal(offered((event(), event(actor="eve")))) == ""


@pytest.mark.parametrize(
    ("behind", "why"),
    [
        ((event(actor="ann"),), "ann approved the plan and sealed the order. Another person must approve it."),
        ((event(), event(actor="ann")), "Another person must approve it."),
        ((event(plan="q" * 64),), "bob approved another plan"),
        ((event(run="run-2"),), "is of run run-2"),
        ((event(node="oss02"),), "on oss02"),
        ((event(type="run.denied"),), "calls an event 'run.denied'"),
        ((event(), event(type="order.receipt")), "calls an event 'order.receipt'"),
    ],
)
def test_an_approval_that_is_none_refuses(behind, why):
    assert why in refusal(offered(behind))


def test_an_order_that_names_nobody_is_refused_unless_it_is_safe_to_do_again():
    for name in ("zpool_replace", "zpool_offline"):
        assert f"{name} needs another person's approval" in refusal(offered(approvals=[], operation=name))
    assert refusal(offered(approvals=[], operation="set_tunable", effect="idempotent")) == ""


def test_who_breaks_the_glass_stands_alone_where_the_node_allows_it():
    offer = offered((event(type="run.glass-broken", actor="ann"),))
    assert refusal(offer) == ""
    never = Policy("operate", ("zpool_replace",), ("*",), "policy.json says so.", break_glass=False)
    assert "ann broke the glass" in refusal(offer, rule=never)


@pytest.mark.parametrize(("missing", "why"), [(0, "brings no proof that it is in the ledger"), (1, "The ledger does not show")])
def test_each_event_must_come_with_its_proof(missing, why):
    offer = offered()
    del offer["proofs"]["events"][missing]
    assert why in refusal(offer)


def test_the_sealing_of_another_order_does_not_count():
    offer, other = offered(), offered(id="order-2")
    offer["proofs"] = other["proofs"]
    assert "The ledger does not show that this order was sealed" in refusal(offer)


def test_only_the_sealing_of_an_order_says_that_it_was_sealed():
    order = rig.seal(None, **FIELDS)
    ledger = rig.Ledger(rig.keys())
    offer, reported = ledger.offer(order), rig.event("order.receipt", "ann", {"digest": order[1]})
    approved = json.loads(order[0])["approvals"]
    ledger.bodies.append(reported)
    behind = [body for body in ledger.bodies if leaf_hash(body).hex() in approved]
    offer["proofs"] = {"checkpoint": ledger.note(), "events": [ledger.proof(body) for body in (*behind, reported)]}
    assert refusal(offer) == "The ledger does not show that this order was sealed."


def bend(proofs, how):
    first = proofs["events"][0]
    if how == "body":
        first["body"] = first["body"].replace("bob", "eve")
    elif how == "index":
        first["index"] = str(int(first["index"]) + 1)
    elif how == "path":
        first["path"][0] = "0" * 64
    elif how == "short":
        first["path"].pop()
    elif how == "long":
        first["path"].append("0" * 64)
    return proofs


@pytest.mark.parametrize("how", ["body", "index", "path", "short", "long"])
def test_a_bent_proof_proves_nothing(how):
    offer = offered()
    bend(offer["proofs"], how)
    assert "is not under the root" in refusal(offer)


@pytest.mark.parametrize(
    "proofs",
    [
        {},
        {"checkpoint": 1, "events": []},
        {"checkpoint": "", "events": {}},
        {"events": []},
        {"checkpoint": "x", "events": [{}] * 33},
    ],
)
def test_proofs_of_another_shape_prove_nothing(proofs):
    assert "came without proof" in refusal({**offered(), "proofs": proofs})


@pytest.mark.parametrize("item", [None, [], {}, {"body": "x", "index": 0, "path": []}, {"body": "x", "index": "-1", "path": []}])
def test_a_proof_of_another_shape_proves_nothing(item):
    offer = offered()
    offer["proofs"]["events"].append(item)
    assert "not a proof as the portal writes it" in refusal(offer)


@pytest.mark.parametrize("change", [{"body": []}, {"actor": None}, {"type": ["run.approved"]}])
def test_a_proven_text_that_is_no_event_refuses(change):
    value = {**json.loads(event()), **change}
    assert "is no event of a ledger" in refusal(offered((canonical(value),)))


def test_a_checkpoint_the_witness_never_accepted_proves_nothing():
    assert "was not shown" in refusal(offered(), believed=lambda note: None)
