"""Orders: everything that can be said against one before looking at the machine."""

from __future__ import annotations

import pytest

from agents.orders import order as orders
from agents.orders import policy
from agents.portal.wire import canonical, sha256_hex

WWID = "naa:5000c500a65b207b"
PARAMS = {"pool": "ost_0", "pool_guid": "42", "vdev_guid": "7", "wwid": WWID}
ARGV = ["zpool", "replace", "ost_0", "7", "/dev/disk/by-id/wwn-0x5000c500a65b207b"]


def value(**change):
    return {
        "v": "1",
        "id": "o1",
        "node": "oss01",
        "key_id": "k" * 16,
        "run": "r1",
        "step": "replace",
        "operation": "zpool_replace",
        "effect": "at_most_once",
        "params": PARAMS,
        "argv": ARGV,
        "plan_digest": "p" * 64,
        "preconditions": {"target.state": "FAULTED"},
        "fence": "3",
        "nonce": "n" * 43,
        "approvals": ["a" * 64],
        "sealed_at": "2026-11-21T03:00:00Z",
        "not_before": "2026-11-21T03:00:00Z",
        "expires_at": "2026-11-21T03:30:00Z",
        **change,
    }


def sealed(**change):
    text = canonical(value(**change)).decode()
    return text, sha256_hex(text.encode())


def here(**change):
    operate = policy.Policy("operate", ("zpool_replace",), ("*",), "")
    base = {
        "node": "oss01",
        "key_id": "k" * 16,
        "policy": operate,
        "earliest": orders.seconds_of("2026-11-21T03:10:00Z"),
        "latest": orders.seconds_of("2026-11-21T03:10:00Z"),
        "fence": lambda guid: 3,
        "nonce": "n" * 43,
    }
    return orders.Here(**{**base, **change})


def refusal(change=None, **now):
    return orders.refusal(orders.read(*sealed(**(change or {}))), here(**now))


def test_it_reads_what_was_sealed():
    order = orders.read(*sealed())
    assert (order.id, order.params, list(order.argv)) == ("o1", PARAMS, ARGV)
    assert orders.refusal(order, here()) == ""


def test_it_refuses_bytes_its_digest_does_not_name():
    text, digest = sealed()
    with pytest.raises(orders.BadOrder, match="digest") as bad:
        orders.read(text.replace('"3"', '"4"'), digest)
    assert bad.value.order_id == "o1"
    with pytest.raises(orders.BadOrder, match="canonical"):
        orders.read(text.replace(",", ", "), digest)


@pytest.mark.parametrize("name", sorted(orders.FIELDS))
def test_it_refuses_a_missing_field_or_one_of_another_kind(name):
    whole = value()
    for broken in (
        {k: v for k, v in whole.items() if k != name},
        {**whole, name: None},
        {**whole, name: {"a": ["b"]}},
        {**whole, name: [["a"]]},
    ):
        text = canonical(broken).decode()
        with pytest.raises(orders.BadOrder):
            orders.read(text, sha256_hex(text.encode()))


@pytest.mark.parametrize(
    "change",
    [{"more": ""}, {"v": "2"}, {"id": "../o"}, {"id": ""}, {"approvals": ["bob"]}, {"approvals": ["a" * 64] * 21}],
)
def test_it_refuses_what_it_does_not_know(change):
    with pytest.raises(orders.BadOrder):
        orders.read(*sealed(**change))


@pytest.mark.parametrize(
    ("change", "now", "why"),
    [
        ({"operation": "zpool_destroy"}, {}, "not in this agent's catalogue"),
        ({"effect": "pure"}, {}, "here it is at_most_once"),
        ({"params": {**PARAMS, "wwid": "sdfl"}}, {}, "no WWID"),
        ({"params": {**PARAMS, "wwid": "naa.5000c500a65b207b"}}, {}, "no WWID"),
        ({"params": {**PARAMS, "pool": "-f"}}, {}, "no pool name"),
        ({"params": {**PARAMS, "vdev_guid": "/dev/sdfl"}}, {}, "no guid"),
        ({"params": {**PARAMS, "force": "yes"}}, {}, "they must be"),
        ({"params": {**PARAMS, "pool_guid": ""}}, {}, "empty"),
        ({}, {"node": "oss02"}, "this is oss02"),
        ({}, {"key_id": "other"}, "this agent has other"),
        ({}, {"policy": policy.Policy("observe", why="no file.")}, "observed"),
        ({"expires_at": "2026-11-21T03:10:00Z"}, {}, "expired"),
        ({"expires_at": "2026-11-21T03:30:00"}, {}, "not a moment"),
        ({"expires_at": "soon"}, {}, "not a moment"),
        ({"not_before": "2026-11-21T03:11:01Z"}, {}, "not yet"),
        ({}, {"earliest": 0.0}, "not yet"),
        ({}, {"latest": 1e10}, "expired"),
        ({}, {"clock_doubt": "The clock jumped."}, "The clock jumped."),
        ({"nonce": "m" * 43}, {}, "another session"),
        ({"nonce": ""}, {}, "another session"),
        ({"nonce": ""}, {"nonce": ""}, "cannot keep a session"),
        ({}, {"signed": lambda order: "It is not signed."}, "It is not signed."),
        ({}, {"backed": lambda order: "It is not backed."}, "It is not backed."),
        ({"fence": "2"}, {}, "newer run"),
        ({"fence": ""}, {}, "not a number"),
        ({"argv": [*ARGV[:2], "-f", *ARGV[2:]]}, {}, "would run"),
        ({"argv": [*ARGV[:4], "/dev/sdcw"]}, {}, "would run"),
        ({"argv": []}, {}, "would run"),
    ],
)
def test_it_refuses(change, now, why):
    assert why in refusal(change, **now)


def test_it_asks_an_order_that_only_looks_for_no_fence():
    look = {
        "operation": "plan",
        "effect": "pure",
        "params": {"operation": "zpool_replace", "params": canonical(PARAMS).decode()},
        "argv": [],
        "fence": "",
        "nonce": "",
        "approvals": [],
    }
    assert refusal(look, policy=policy.Policy("observe")) == ""


GATES = (
    ({"operation": "zpool_destroy"}, "catalogue"),
    ({}, "signed"),
    ({"node": "oss02"}, "this is"),
    ({"nonce": "m" * 43}, "session"),
    ({}, "backed"),
    ({}, "observed"),
    ({"expires_at": "2026-11-21T03:01:00Z"}, "expired"),
    ({"fence": "1"}, "newer run"),
    ({"argv": []}, "would run"),
)


def test_it_asks_in_the_order_of_the_house():
    """With everything wrong the first gate speaks; with that put right the next, to the last."""
    for first in range(len(GATES)):
        wrong = [why for _, why in GATES[first:]]
        change = {name: text for fields, _ in GATES[first:] for name, text in fields.items()}
        now = {
            "signed": lambda order, w=wrong: "It is not signed." if "signed" in w else "",
            "backed": lambda order, w=wrong: "It is not backed." if "backed" in w else "",
        }
        if "observed" in wrong:
            now["policy"] = policy.Policy("observe", why="no file.")
        assert wrong[0] in refusal(change, **now)


def test_a_question_is_asked_for_neither_signature_nor_proof_nor_session():
    look = {"operation": "look", "effect": "pure", "params": {"sources": "node"}, "argv": [], "fence": "", "nonce": "", "approvals": []}
    never = {"signed": lambda order: "no", "backed": lambda order: "no", "clock_doubt": "no", "nonce": ""}
    assert refusal(look, **never) == ""


@pytest.mark.parametrize(
    "offer",
    [{}, {"order": 1, "digest": "d"}, {"order": "{}", "digest": "d", "proofs": []}, {"order": "{}", "digest": "d", "signature": None}],
)
def test_an_offer_of_another_shape_is_no_order(offer):
    with pytest.raises(orders.BadOrder):
        orders.read_offer(offer)


def test_what_comes_beside_an_order_is_of_its_kind_or_it_is_none():
    text, digest = sealed()
    whole = {"order": text, "digest": digest, "signature": "c2ln", "key": "k", "proofs": {"events": []}}
    assert orders.read_offer(whole).proofs == {"events": []}
    for broken in ({"proofs": []}, {"proofs": None}, {"signature": None}, {"key": 1}):
        with pytest.raises(orders.BadOrder, match="offers something that is no order"):
            orders.read_offer({**whole, **broken})
    assert orders.read(text, digest).proofs == {}


def test_as_many_approvals_as_may_be_are_read():
    assert len(orders.read(*sealed(approvals=["a" * 64] * orders.APPROVALS_MAX)).approvals) == 20


def test_an_order_counts_from_the_moment_at_which_the_clocks_may_agree():
    assert refusal({"not_before": "2026-11-21T03:11:00Z"}) == ""


@pytest.mark.parametrize(("ends", "expected"), [("03:10:00", "expired"), ("03:09:00", "expired"), ("03:10:01", "")])
def test_a_question_expires(ends, expected):
    look = {"operation": "look", "effect": "pure", "params": {"sources": "node"}, "argv": [], "fence": "", "nonce": "", "approvals": []}
    why = refusal({**look, "expires_at": f"2026-11-21T{ends}Z"})
    assert (expected in why) if expected else why == ""
