"""What an agent pins of the portal, and how it learns of a new order key from the old one.

    made -> next to the key in use -> told of by the old key, in the ledger -> in use

A new key is on disk before the old one vouches for it, and takes its place only after that is committed; a portal that dies in
between goes on where it was (`settle`). The statement stays: an agent that was away for months walks from the key it knows to
today's. An old key that leaked is another matter: nodes then enrol again.
"""

import base64
import os
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from django.db import transaction

from agents.wire import canonical
from app.ledger import keys
from app.ledger import services as ledger
from app.ledger.checkpoints import signing_key
from app.runs.models import KeyRotation


def pinned() -> dict[str, str]:
    """The order key, the ledger's verifier key (C2SP) and the ledger's name, as an agent keeps them. May raise LedgerDown."""
    return _said(keys.order_key())


def _said(key: keys.OrderKey) -> dict[str, str]:
    return {"portal_key": key.public_pem, "log_key": log_key(), "origin": keys.origin()}


def log_key() -> str:
    signer = signing_key()
    public = keys.ED25519 + signer.public
    return f"{signer.name}+{_id(signer.name, public)}+{base64.b64encode(public).decode()}"


def _id(name: str, public: bytes) -> str:
    return sha256(name.encode() + b"\n" + public).digest()[:4].hex()


def next_keys() -> list[dict[str, str]]:
    """Every hand-over there was, oldest first: an agent starts with the one that its pinned key signed."""
    return [{"said": r.said, "key": r.key, "signature": r.signature} for r in KeyRotation.objects.all()]


def rotate(by: str, now: datetime) -> str:
    """Put a new order key in place of the one in use; returns its id."""
    settle()
    old, path = keys.order_key(), _next()
    path.unlink(missing_ok=True)
    keys.make(path, keys.new_order_key)
    new = keys.OrderKey(keys.load(path))
    said = canonical({"v": "1", **_said(new), "at": ledger.moment(now)})
    with transaction.atomic():
        KeyRotation.objects.create(said=said.decode(), key=old.key_id, signature=old.sign_text(said), at=now)
        ledger.record("keys.rotated", {"from": old.key_id, "to": new.key_id, "statement": ledger.keep(said, "application/json")}, by)
    settle()
    return new.key_id


def settle() -> None:
    """Finish a hand-over that was committed: the key the old one vouched for takes its place."""
    if _next().exists() and KeyRotation.objects.filter(key=keys.order_key().key_id).exists():
        os.replace(_next(), keys.order_key_path())


def _next() -> Path:
    path = keys.order_key_path()
    return path.with_name(f"{path.name}.next")
