"""Replacing a key of the portal: the new key is written and the change recorded; the next checkpoint puts it in its place (see `keyring`)."""

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from django.db import transaction

from app.ledger import keyring, keys
from app.ledger.checkpoints import checkpoint_now, finish_key_change, number_waiting, signing_key
from app.ledger.forms import LedgerDown
from app.ledger.services import record


def rotate(which: str, why: str, actor: str, also: Callable[[Any], Mapping[str, Any]] = lambda new: {}) -> str:
    """Replace the "ledger" or the "order" key. Returns the SHA-256 of the new public key. Call it outside a transaction.

    `also(new key)` does what must be committed together with the change, and returns what the event says of it. The order key is
    changed through `app.runs.ordering.key_rotation`, which makes it known to the agents.
    """
    finish_key_change()
    signer = signing_key()
    keyring.waiting(which).unlink(missing_ok=True)  # one that was never recorded never was a key
    keys.make(keyring.waiting(which), keyring.GENERATE[which])
    old, new = keyring.public(keys.load(keyring.path_of(which))), keyring.public(keys.load(keyring.waiting(which)))
    statement = signer.sign(keyring.stated(signer.name, which, new))
    with transaction.atomic():
        more = also(keys.load(keyring.waiting(which)))
        record(f"{which}.key-rotated", {**more, "old": old.hex(), "new": new.hex(), "statement": statement, "why": why}, actor)
    number_waiting()
    finish_key_change()
    return sha256(new).hexdigest()


def begin_anew(why: str, actor: str) -> str:
    """Another order key in place of one that is lost. No key vouches for it, so the ledger records it and every node enrols again."""
    if keys.order_key_path().exists():
        raise LedgerDown(f"The order key {keys.order_key_path()} is there. Change it with `order_key rotate`, which the agents follow.")
    keyring.waiting("order").unlink(missing_ok=True)
    keys.make(keyring.waiting("order"), keys.new_order_key)
    new = keyring.public(keys.load(keyring.waiting("order")))
    record(keyring.LOST, {"new": new.hex(), "why": why}, actor)
    os.replace(keyring.waiting("order"), keys.order_key_path())
    checkpoint_now()
    return sha256(new).hexdigest()
