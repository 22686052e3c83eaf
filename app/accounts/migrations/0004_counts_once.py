"""The table behind Django's cache: what must be remembered for a moment by all web processes together. See CACHES in the settings."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_membership_from_groups")]

    operations = [
        migrations.RunSQL(
            (
                "CREATE TABLE counts_once (cache_key varchar(255) PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL)",
                "CREATE INDEX counts_once_expires ON counts_once (expires)",
            ),
            "DROP TABLE counts_once",
        )
    ]
