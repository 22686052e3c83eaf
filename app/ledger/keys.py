"""The portal's two keys: the ledger key (Ed25519) signs checkpoints, the order key (ECDSA P-256) signs orders and checkpoints again.

Each is a PEM file, mode 0600, made at first use and never made anew by itself. They lie side by side in the data folder.
P-256, because every `openssl` a storage node may have can check it; Ed25519, because that is what signed notes use.
"""

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from django.conf import settings

from app.ledger.forms import LedgerDown
from app.ledger.models import LedgerCheckpoint, LedgerEvent

SigningKey: TypeAlias = Ed25519PrivateKey | EllipticCurvePrivateKey
ED25519 = b"\x01"  # the algorithm byte of C2SP signed-note


def setting(name: str) -> str:
    return str(getattr(settings, name, "") or os.environ.get(name, ""))


def origin() -> str:
    """What this log is called in its checkpoints (`SLOTLIGHT_LEDGER_ORIGIN`)."""
    return setting("SLOTLIGHT_LEDGER_ORIGIN") or "slotlight/ledger"


def key_path() -> Path:
    """Where the ledger key is."""
    return Path(setting("SLOTLIGHT_LEDGER_KEY") or settings.BASE_DIR / "var" / "ledger.key")


def order_key_path() -> Path:
    """Where the order key is: beside the ledger key, unless `SLOTLIGHT_ORDER_KEY` says otherwise."""
    return Path(setting("SLOTLIGHT_ORDER_KEY") or key_path().with_name("order.key"))


# --- the order key


@dataclass(frozen=True)
class OrderKey:
    """The key that signs orders, and what a node needs in order to check it."""

    private: EllipticCurvePrivateKey

    @cached_property
    def spki(self) -> bytes:
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.private.public_key().public_bytes(serialization.Encoding.DER, form)

    @property
    def public_pem(self) -> str:
        """What an agent pins when it enrols."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.private.public_key().public_bytes(serialization.Encoding.PEM, form).decode()

    @cached_property
    def key_id(self) -> str:
        """The first 16 hex digits of the SHA-256 of the public key's DER."""
        return sha256(self.spki).hexdigest()[:16]

    def sign(self, data: bytes) -> bytes:
        """ECDSA over SHA-256 of exactly these bytes, as DER: what `openssl dgst -sha256 -verify` reads."""
        return self.private.sign(data, ECDSA(hashes.SHA256()))

    def sign_text(self, data: bytes) -> str:
        return base64.b64encode(self.sign(data)).decode()


def order_key() -> OrderKey:
    """The order key, made at first use and never again. Raises LedgerDown when it cannot be had: then nothing is sealed or signed."""
    path = order_key_path()
    try:
        if not path.exists():
            make_first_order_key(path)
        key = load(path)
    except (OSError, ValueError) as error:
        raise LedgerDown(f"The order key {path} cannot be used: {error}") from error
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise LedgerDown(f"{path} holds a key of another kind. Orders are signed with ECDSA P-256.")
    return OrderKey(key)


def make_first_order_key(path: Path) -> None:
    """Only while no agent can have pinned another. A key made in place of a lost one would make every node refuse, unseen."""
    if LedgerCheckpoint.objects.exists() or LedgerEvent.objects.filter(type="order.sealed").exists():
        raise LedgerDown(
            f"The order key {path} is gone, and what was signed with it exists. Put it back from the backup of the data folder. If it is "
            "lost for good, `./run manage order_key begin-anew --why ...` makes another on the record; every node then has to enrol again."
        )
    make(path, new_order_key)


def new_order_key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


# --- key files


def load(path: Path) -> PrivateKeyTypes:
    """The key in this file, read anew whenever another file is there. Raises OSError and ValueError."""
    found = path.stat()
    return _loaded(path, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@lru_cache(maxsize=8)
def _loaded(path: Path, which: tuple[int, ...]) -> PrivateKeyTypes:
    return serialization.load_pem_private_key(path.read_bytes(), password=None)


def make(path: Path, generate: Callable[[], SigningKey]) -> None:
    """Make the key file unless another process just did."""
    appear(path, generate().private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def appear(path: Path, secret: bytes) -> None:
    """A file of this secret, unless there is one: whole or not at all, and for the owner of its folder alone. A command that root runs
    makes it for the portal, which runs as another user and could not read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{token_hex(4)}")  # several threads may come at once
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
        if os.geteuid() == 0:
            owner = path.parent.stat()
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
