"""Agents' secrets at rest: AES-256-GCM under a key in the data folder, so that a copy of the database alone signs nothing.

The key file is made at first use, mode 0600, beside the ledger's key, and never anew while a secret is sealed with it: a lost
one is for a person to put back, or for every node to be enrolled again.
"""

import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from app.ledger import forms, secretfile

NONCE_BYTES = 12
MARK = b"\x01"  # the form of what follows: nonce, then ciphertext and tag


class KeyLost(forms.KeyLost):
    """No secret can be read, so no caller can be identified. It is a fault of the portal, and means nothing about the caller."""


def key_path() -> Path:
    """Beside the ledger's key, unless `SLOTLIGHT_NODES_KEY` says otherwise."""
    setting = os.environ.get("SLOTLIGHT_NODES_KEY", "")
    return Path(setting) if setting else Path(settings.SLOTLIGHT_LEDGER_KEY).with_name("nodes.key")


def seal(secret: bytes, key_id: str) -> bytes:
    """`secret` as the database may hold it, good for this key's row only."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return MARK + nonce + AESGCM(_key(may_make=True)).encrypt(nonce, secret, key_id.encode())


def reveal(sealed: bytes, key_id: str) -> bytes:
    """The secret. Raises KeyLost."""
    nonce, text = sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
    try:
        if sealed[:1] != MARK:
            raise InvalidTag
        return AESGCM(_key(may_make=False)).decrypt(nonce, text, key_id.encode())
    except InvalidTag:
        raise KeyLost(
            f"The secret of {key_id} was not sealed with {key_path()}. Put the right key file back, or enrol the node again."
        ) from None


def fault() -> str:
    """Why secrets that are sealed cannot be read by this process; "" when they can, or when there are none yet."""
    from app.nodes.models import NodeKey

    try:
        _key(may_make=False)
    except KeyLost as lost:
        return str(lost) if key_path().exists() or NodeKey.objects.exclude(secret=b"").exists() else ""
    return ""


def _key(*, may_make: bool) -> bytes:
    path = key_path()
    try:
        if may_make and not path.exists():
            _make(path)
        return secretfile.read(path)
    except (OSError, ValueError) as error:
        raise KeyLost(f"The key of the agents' secrets {path} cannot be used: {error}. Put it back, or enrol every node again.") from error


def _make(path: Path) -> None:
    """The first one stays."""
    from app.nodes.models import NodeKey  # what is sealed already says that there was a key

    if NodeKey.objects.exclude(secret=b"").exists() and not path.exists():  # another process may have made it just now
        raise OSError("secrets are sealed with it and it is gone")
    secretfile.make(path)
