"""Which row about a person an event is about, as a column that the database reads out of the body; see app/accounts/seals.py."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).with_name("0005_identity.sql").read_text()


class Migration(migrations.Migration):
    dependencies = (("ledger", "0004_terms"),)
    operations = (
        migrations.RunSQL(
            SQL,
            migrations.RunSQL.noop,
            state_operations=[migrations.AddField("LedgerEvent", "identity", models.TextField(null=True))],
        ),
    )
