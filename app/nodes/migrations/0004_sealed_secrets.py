"""Seals the secrets that lie in the clear, and forgets those of revoked keys."""

from django.db import migrations

from app.nodes import vault


def seal(apps, schema_editor):
    keys = apps.get_model("nodes", "NodeKey").objects.order_by("pk")
    keys.filter(revoked_at__isnull=False).update(secret=b"")
    waiting = [key for key in keys.filter(revoked_at__isnull=True) if key.secret]
    plain = {key.pk: bytes(key.secret) for key in waiting}
    keys.filter(pk__in=plain).update(secret=b"")  # so that a first key file may be made
    for key in waiting:
        keys.filter(pk=key.pk).update(secret=vault.seal(plain[key.pk], key.key_id))


def reveal(apps, schema_editor):
    for key in apps.get_model("nodes", "NodeKey").objects.filter(revoked_at__isnull=True):
        key.secret = vault.reveal(bytes(key.secret), key.key_id)
        key.save(update_fields=["secret"])


class Migration(migrations.Migration):
    dependencies = [("nodes", "0003_sessions")]
    operations = [migrations.RunPython(seal, reveal)]
