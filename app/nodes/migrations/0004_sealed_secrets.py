"""Seals the secrets that lie in the clear, and forgets those of revoked keys. Its form is that of `app.nodes.vault`, as it was then."""

import os
import secrets
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def key() -> bytes:
    given = os.environ.get("SLOTLIGHT_NODES_KEY", "")
    path = Path(given) if given else Path(settings.SLOTLIGHT_LEDGER_KEY).with_name("nodes.key")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        folder = path.parent.stat()
        if os.geteuid() == 0:  # the portal runs as whoever the folder belongs to
            os.chown(path, folder.st_uid, folder.st_gid)
    return bytes.fromhex(path.read_text("ascii").strip())


def seal(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    keys = apps.get_model("nodes", "NodeKey").objects.order_by("pk")
    keys.filter(revoked_at__isnull=False).update(secret=b"")
    for row in keys.filter(revoked_at__isnull=True):
        nonce = secrets.token_bytes(12)
        sealed = b"\x01" + nonce + AESGCM(key()).encrypt(nonce, bytes(row.secret), row.key_id.encode())
        keys.filter(pk=row.pk).update(secret=sealed)


def reveal(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    keys = apps.get_model("nodes", "NodeKey").objects.order_by("pk")
    for row in keys.filter(revoked_at__isnull=True):
        sealed = bytes(row.secret)
        keys.filter(pk=row.pk).update(secret=AESGCM(key()).decrypt(sealed[1:13], sealed[13:], row.key_id.encode()))


class Migration(migrations.Migration):
    dependencies = [("nodes", "0003_sessions")]
    operations = [migrations.RunPython(seal, reveal)]
