"""Whether people stand behind the orders of a run: each is signed, and what must not happen twice was approved first, by a person
else than who gave it and who began the run. A part of `verify.py`."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Optional, Protocol

SAFE_AGAIN = ("pure", "idempotent")  # effects that need no other person
SEALED, APPROVED, GLASS_BROKEN, STARTED = "order.sealed", "run.approved", "run.glass-broken", "run.started"
Recorded = list[tuple[dict[str, Any], bytes]]  # events of the run, each with its leaf
Judge = Callable[[str, bytes, bytes, bytes], str]


class Findings(Protocol):
    """Where what is found of the orders is written down."""

    broken: list[str]
    unchecked: list[str]
    facts: list[tuple[str, str]]


def check_orders(events: Recorded, files: dict[str, bytes], keys: list[bytes], verdict: Judge, report: Findings) -> None:
    """`keys` are the order keys there were (DER); `verdict` judges a signature, as `signature_verdict` does."""
    sealed: set[Any] = set()
    shown = all("redacted" not in event for event, _ in events)
    for count, (event, _) in enumerate(events, 1):
        body, where = event["body"], f"events.jsonl line {count}"
        if event["type"] == SEALED:
            if body.get("order") in sealed:
                report.broken.append(f"{where}: the order {body.get('order')} was sealed before.")
            sealed.add(body.get("order"))
            check_sealed(where, events[:count], files, keys, verdict, report)
        elif shown and event["type"].startswith("order.") and isinstance(body.get("order"), str) and body["order"] not in sealed:
            report.broken.append(f"{where}: it concerns the order {body['order']}, which no event before it sealed.")
    report.facts.append(("orders", str(len(sealed))))


def check_sealed(where: str, events: Recorded, files: dict[str, bytes], keys: list[bytes], verdict: Judge, report: Findings) -> None:
    """`events` end with the one that says that it was sealed."""
    event = events[-1][0]
    body = event["body"]
    text = files.get(f"blobs/{body.get('digest')}")
    order = read_order(text) if text is not None else None
    if text is None or order is None:
        report.unchecked.append(
            f"{where}: the text of the order {body.get('order')} cannot be read here, so who approved it is not checked."
        )
        return
    fields = {"id": body.get("order"), "run": event["run"], "node": event["node"], "operation": body.get("operation")}
    wrong = sorted(name for name, value in fields.items() if order.get(name) != value)
    if wrong:
        report.broken.append(f"{where}: the order {body.get('order')} is sealed with another {', '.join(wrong)} than the one in the event.")
    if order.get("effect") != "pure":
        check_order_signature(f"{where}: the order {body.get('order')}", body, text, keys, verdict, report)
    if order.get("effect") not in SAFE_AGAIN:
        check_approvals(where, order, events, report)


def read_order(text: bytes) -> Optional[dict[str, Any]]:
    try:
        order = json.loads(text)
    except (ValueError, RecursionError):
        return None
    listed = order.get("approvals") if isinstance(order, dict) else None
    return order if isinstance(listed, list) and all(isinstance(leaf, str) for leaf in listed) else None


def check_order_signature(what: str, body: dict[str, Any], text: bytes, keys: list[bytes], verdict: Judge, report: Findings) -> None:
    if "signature" not in body:
        report.unchecked.append(
            f"{what} was sealed by a release that kept no signature in the ledger; only the ledger's own signature covers it."
        )
        return
    key = {sha256(spki).hexdigest()[:16]: spki for spki in keys}.get(str(body.get("key")))
    try:
        signature = base64.b64decode(str(body["signature"]), validate=True)
    except (binascii.Error, ValueError):
        signature = b""
    found = verdict("ecdsa", key, signature, text) if key and signature else "bad"
    if found == "bad":
        report.broken.append(f"{what} is not signed by an order key of this ledger.")
    elif found:
        report.unchecked.append(f"{what}: the signature is not checked, {found}.")


def check_approvals(where: str, order: dict[str, Any], events: Recorded, report: Findings) -> None:
    giver, what = events[-1][0]["actor"], f"{where}: the order {order.get('id')} ({order.get('operation')})"
    before = {leaf.hex(): event for event, leaf in events[:-1]}
    hands = {event["actor"]: "began the run" for event, _ in events if event["type"] == STARTED} | {giver: "gave it"}
    if not order["approvals"]:
        report.broken.append(f"{what} needs another person's approval and names none.")
    for leaf in order["approvals"]:
        event = before.get(leaf)
        if event is None:
            report.broken.append(f"{what} names the approval {leaf[:16]}, which no event of this run before it is.")
        elif "redacted" in event:
            report.unchecked.append(f"{what}: its approval is redacted, so who gave it is not checked.")
        elif event["type"] not in (APPROVED, GLASS_BROKEN) or event["body"].get("plan_digest") != order.get("plan_digest"):
            report.broken.append(f"{what} names as its approval an event that approves another plan, or nothing.")
        elif event["type"] == GLASS_BROKEN and event["actor"] != giver:
            report.broken.append(f"{what} was given by {giver}, and {event['actor']} broke the glass: that is valid for no other person.")
        elif event["type"] == GLASS_BROKEN:
            report.facts.append(("glass", f"{event['actor']} broke the glass: no other person approved the order {order.get('id')}"))
        elif event["actor"] in hands:
            report.broken.append(f"{what} was approved by {event['actor']}, who {hands[event['actor']]}: that is one person and not two.")
