"""Orders: everything that can be said against one before looking at the machine."""

from __future__ import annotations

import pytest

from agents import orders, policy
from agents.wire import canonical, sha256_hex

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
        "sealed_at": "2026-11-21T03:00:00Z",
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
        "now": orders.seconds_of("2026-11-21T03:10:00Z"),
        "fence": lambda guid: 3,
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


@pytest.mark.parametrize("change", [{"more": ""}, {"v": "2"}, {"id": "../o"}, {"id": ""}])
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
    }
    assert refusal(look, policy=policy.Policy("observe")) == ""
