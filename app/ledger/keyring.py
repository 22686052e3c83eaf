"""Which keys signed when. A change of key is an event of the ledger, signed for by the keys it replaces.

A change goes: 1. the new key is written beside the old one, 2. the change is recorded, 3. the old keys sign a checkpoint that
ends with just that event, 4. the new key takes the old one's place. Dying in between leaves the new key waiting;
`finish` goes on from there, and the next checkpoint calls it.
"""

import base64
import os
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction

from app.ledger import keys
from app.ledger.models import LedgerChain, LedgerEvent

LEDGER, ORDER = "ledger.key-rotated", "order.key-rotated"
GENERATE = {"ledger": Ed25519PrivateKey.generate, "order": keys.new_order_key}


def events(size: int | None = None) -> list[LedgerEvent]:
    """Every change of a key among the first `size` events, oldest first."""
    rows = LedgerChain.objects.filter(event__type__in=(LEDGER, ORDER)).select_related("event").order_by("seq")
    return [row.event for row in (rows if size is None else rows.filter(seq__lte=size))]


def public_at(size: int, current: bytes) -> bytes:
    """The ledger key that a checkpoint over `size` events must be signed with: the old one up to the event that replaced it."""
    rows = LedgerChain.objects.filter(event__type=LEDGER, seq__gte=size).select_related("event").order_by("seq")
    change = rows.first()
    return bytes.fromhex(change.event.said["body"]["old"]) if change else current


def statements() -> list[str]:
    """Every change as a signed note, oldest first: what an agent that pinned an earlier key follows to the present one."""
    return [event.said["body"]["statement"] for event in events()]


def stated(name: str, which: str, new: bytes) -> str:
    """What the old keys sign when they name their successor."""
    return f"{name}/keys\n{which}\n{base64.b64encode(new).decode()}\n"


def path_of(which: str) -> Path:
    return keys.key_path() if which == "ledger" else keys.order_key_path()


def waiting(which: str) -> Path:
    return path_of(which).with_name(f"{path_of(which).name}.next")


def public(key) -> bytes:
    """The public part as it is written down: 32 bytes of an Ed25519 key, the DER of a P-256 key."""
    return key.public_key().public_bytes_raw() if isinstance(key, Ed25519PrivateKey) else keys.OrderKey(key).spki


def rotate(which: str, why: str, actor: str) -> str:
    """Replace the "ledger" or the "order" key. Returns the SHA-256 of the new public key. Call it outside a transaction."""
    from app.ledger.checkpoints import number_waiting, signing_key
    from app.ledger.services import record

    finish()
    signer = signing_key()
    waiting(which).unlink(missing_ok=True)  # one that was never recorded never was a key
    keys.make(waiting(which), GENERATE[which])
    old, new = public(keys.load(path_of(which))), public(keys.load(waiting(which)))
    statement = signer.sign(stated(signer.name, which, new))
    record(f"{which}.key-rotated", {"old": old.hex(), "new": new.hex(), "statement": statement, "why": why}, actor)
    number_waiting()
    finish()
    return sha256(new).hexdigest()


def finish() -> None:
    """Put a recorded new key in its place, after the old ones have signed the change."""
    from app.ledger.checkpoints import one_at_a_time, sign_up_to

    for which, seq in pending():
        with transaction.atomic():
            one_at_a_time()
            if (which, seq) in pending():
                sign_up_to(seq)
        with transaction.atomic():  # only now is that signature there for good
            one_at_a_time()
            if (which, seq) in pending():
                os.replace(waiting(which), path_of(which))


def pending() -> list[tuple[str, int]]:
    """Which key has a recorded successor that is not in its place yet, and where the record stands."""
    return [(which, seq) for which in GENERATE if waiting(which).exists() and (seq := _recorded(which))]


def _recorded(which: str) -> int:
    change = LedgerChain.objects.filter(event__type=f"{which}.key-rotated").select_related("event").order_by("-seq").first()
    if change is None:
        return 0
    try:
        new = public(keys.load(waiting(which))).hex()
    except FileNotFoundError:
        return 0  # somebody else has just put it in its place
    return change.seq if change.event.said["body"]["new"] == new else 0
