"""How sending checkpoints outside goes; see `app/ledger/outside.py`."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("ledger", "0005_identity"),)
    operations = (
        migrations.CreateModel(
            "LedgerSent",
            [
                ("place", models.TextField(primary_key=True, serialize=False)),
                ("size", models.BigIntegerField(null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("why", models.TextField(blank=True)),
                ("failing_since", models.DateTimeField(null=True)),
            ],
            options={"db_table": "ledger_sent"},
        ),
    )
