"""The table of `app.accounts.counts_once`: digests of what counted, and until when that is remembered."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_membership_from_groups")]

    operations = [
        migrations.RunSQL(
            (
                "CREATE TABLE counts_once (key text PRIMARY KEY, expires timestamptz NOT NULL)",
                "CREATE INDEX counts_once_expires ON counts_once (expires)",
            ),
            "DROP TABLE counts_once",
        )
    ]
