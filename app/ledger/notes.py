"""Checkpoints as C2SP signed notes: the text, the Ed25519 signature under it, and the key file behind that.

The key is a PEM file, mode 0600, made at first use. It is never made anew once a checkpoint was signed: a lost key is for a person to settle.
"""

import base64
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from app.ledger.forms import LedgerDown

ED25519 = b"\x01"  # the algorithm byte of C2SP signed-note


def origin() -> str:
    """What this log is called in its checkpoints (`SLOTLIGHT_LEDGER_ORIGIN`)."""
    return setting("SLOTLIGHT_LEDGER_ORIGIN") or "slotlight/ledger"


def key_path() -> Path:
    return Path(setting("SLOTLIGHT_LEDGER_KEY") or settings.BASE_DIR / "var" / "ledger.key")


def setting(name: str) -> str:
    return str(getattr(settings, name, "") or os.environ.get(name, ""))


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
    key = serialization.load_pem_private_key(key_path().read_bytes(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerDown(f"{key_path()} holds a key of another kind. The ledger signs with Ed25519.")
    return Signer(origin(), key)


def make_key() -> None:
    """Make the key file unless somebody else just did. It appears whole or not at all."""
    path = key_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    pem = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
