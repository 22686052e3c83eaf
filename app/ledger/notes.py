"""Checkpoints as C2SP signed notes: the text, and the signatures under it.

Two keys sign: the ledger key (Ed25519) as `<origin>`, and the order key (ECDSA P-256) as `<origin>/p256`, which any openssl can check.
A key name of a signed note holds no plus, so the second name is made with a slash.
"""

import base64
import binascii
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from app.ledger.forms import LedgerDown
from app.ledger.keys import ED25519, OrderKey, key_path, load, make, order_key, origin


@dataclass(frozen=True)
class Signer:
    """The private keys that sign under one name."""

    name: str
    key: Ed25519PrivateKey
    order: OrderKey

    @property
    def public(self) -> bytes:
        return self.key.public_key().public_bytes_raw()

    @property
    def fingerprint(self) -> str:
        return sha256(self.public).hexdigest()

    @property
    def verifier_key(self) -> str:
        return verifier_key(self.name, self.public)

    def checkpoint(self, size: int, root: bytes) -> str:
        """The signed note over a tree."""
        return self.sign(stated(self.name, size, root))

    def sign(self, text: str) -> str:
        ledger = line(self.name, key_id(self.name, self.public), self.key.sign(text.encode()))
        order = line(f"{self.name}/p256", sha256(self.order.spki).digest()[:4], self.order.sign(text.encode()))
        return f"{text}\n{ledger}{order}"


def stated(name: str, size: int, root: bytes) -> str:
    """What a checkpoint says, up to its signatures."""
    return f"{name}\n{size}\n{base64.b64encode(root).decode()}\n"


def line(name: str, identity: bytes, signature: bytes) -> str:
    return f"\u2014 {name} {base64.b64encode(identity + signature).decode()}\n"


def key_id(name: str, public: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def verifier_key(name: str, public: bytes) -> str:
    """An Ed25519 key as signed notes spell it, for whoever is to check them."""
    return f"{name}+{key_id(name, public).hex()}+{base64.b64encode(ED25519 + public).decode()}"


def signed(note: str, text: str, public: bytes) -> bool:
    """Whether `note` says `text` and bears the signature of this Ed25519 key under it, in the name of the origin."""
    signed_text, _, lines = note.partition("\n\n")
    if f"{signed_text}\n" != text:
        return False
    prefix = f"\u2014 {origin()} "
    for each in lines.splitlines():
        try:
            raw = base64.b64decode(each.removeprefix(prefix), validate=True) if each.startswith(prefix) else b""
            if raw[:4] == key_id(origin(), public):
                Ed25519PublicKey.from_public_bytes(public).verify(raw[4:], text.encode())
                return True
        except (InvalidSignature, binascii.Error, ValueError):
            return False
    return False


def signer() -> Signer:
    """The keys that sign checkpoints. Raises FileNotFoundError when there is no ledger key; see `make_key`."""
    key = load(key_path())
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerDown(f"{key_path()} holds a key of another kind. The ledger signs with Ed25519.")
    return Signer(origin(), key, order_key())


def make_key() -> None:
    make(key_path(), Ed25519PrivateKey.generate)
