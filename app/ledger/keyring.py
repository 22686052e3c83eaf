"""Which keys signed when. A change of key is an event of the ledger, signed for by the keys it replaces.

A change goes: 1. the new key is written beside the old one, 2. the change is recorded, 3. the old keys sign a checkpoint that
ends with just that event, 4. the new key takes the old one's place. `app.ledger.key_change` does 1 and 2. Dying in between leaves the
new key waiting; `checkpoints.finish_key_change` does 3 and 4, and every checkpoint begins with it.
"""

import base64
from collections.abc import Callable, Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from app.ledger import keys
from app.ledger.forms import LedgerDown
from app.ledger.models import LedgerChain, LedgerEvent

LEDGER, ORDER = "ledger.key-rotated", "order.key-rotated"
LOST = "order.key-lost"  # the order key began anew: nothing that only the lost one signed can be checked from here on
GENERATE: Mapping[str, Callable[[], keys.SigningKey]] = {"ledger": Ed25519PrivateKey.generate, "order": keys.new_order_key}


def events(size: int | None = None) -> list[LedgerEvent]:
    """Every change of a key among the first `size` events, oldest first. Of the order key only those since it was lost."""
    rows = LedgerChain.objects.filter(event__type__in=(LEDGER, ORDER)).select_related("event").order_by("seq")
    lost = lost_at()
    return [row.event for row in (rows if size is None else rows.filter(seq__lte=size)) if row.event.type == LEDGER or row.seq > lost]


def lost_at() -> int:
    """The place of the event that says the order key was lost; 0 when it never was. Older checkpoints bear the signature of a key that is lost."""
    row = LedgerChain.objects.filter(event__type=LOST).order_by("-seq").first()
    return row.seq if row else 0


def public_at(size: int, current: bytes) -> bytes:
    """The ledger key that a checkpoint over `size` events must be signed with: the old one up to the event that replaced it."""
    rows = LedgerChain.objects.filter(event__type=LEDGER, seq__gte=size).select_related("event").order_by("seq")
    change = rows.first()
    return bytes.fromhex(change.event.parsed["body"]["old"]) if change else current


def statements() -> list[str]:
    """Every change as a signed note, oldest first: what an agent that pinned an earlier key follows to the present one."""
    return [event.parsed["body"]["statement"] for event in events()]


def stated(name: str, which: str, new: bytes) -> str:
    """What the old keys sign when they name their successor."""
    return f"{name}/keys\n{which}\n{base64.b64encode(new).decode()}\n"


def path_of(which: str) -> Path:
    return keys.key_path() if which == "ledger" else keys.order_key_path()


def waiting(which: str) -> Path:
    return path_of(which).with_name(f"{path_of(which).name}.next")


def public(key: PrivateKeyTypes) -> bytes:
    """The public part as it is written down: 32 bytes of an Ed25519 key, the DER of a P-256 key. Raises LedgerDown for a key of another kind."""
    if isinstance(key, Ed25519PrivateKey):
        return key.public_key().public_bytes_raw()
    if not isinstance(key, EllipticCurvePrivateKey):
        raise LedgerDown(f"A key file holds a {type(key).__name__}. The portal signs with Ed25519 and ECDSA P-256.")
    return keys.OrderKey(key).spki


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
        return 0  # another process has just put it in its place
    return change.seq if change.event.parsed["body"]["new"] == new else 0
