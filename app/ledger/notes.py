"""Checkpoints as C2SP signed notes: the text, and the signatures under it."""

import base64
from dataclasses import dataclass
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.ledger.forms import LedgerDown
from app.ledger.keys import ED25519, key_path, load, make, origin


@dataclass(frozen=True)
class Signer:
    """One private key under the name its signatures carry."""

    name: str
    key: Ed25519PrivateKey

    @property
    def public(self) -> bytes:
        return self.key.public_key().public_bytes_raw()

    @property
    def fingerprint(self) -> str:
        return sha256(self.public).hexdigest()

    def checkpoint(self, size: int, root: bytes) -> str:
        """The signed note over a tree. Ed25519 is deterministic, so the same tree under the same key gives the same note."""
        text = f"{self.name}\n{size}\n{base64.b64encode(root).decode()}\n"
        signature = base64.b64encode(key_id(self.name, self.public) + self.key.sign(text.encode())).decode()
        return f"{text}\n\u2014 {self.name} {signature}\n"


def key_id(name: str, public: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def signer() -> Signer:
    """The key that signs checkpoints. Raises FileNotFoundError when there is none; see `make_key`."""
    key = load(key_path())
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerDown(f"{key_path()} holds a key of another kind. The ledger signs with Ed25519.")
    return Signer(origin(), key)


def make_key() -> None:
    make(key_path(), Ed25519PrivateKey.generate)
