"""Lanes for writers that find the head taken; see `0003_lanes.sql`."""

from pathlib import Path

import django.db.models.deletion
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

SQL = Path(__file__).with_name("0003_lanes.sql").read_text()
STATE = [
    migrations.AlterField("LedgerChain", "prev", models.BinaryField()),
    migrations.AlterField("LedgerChain", "link", models.BinaryField()),
    migrations.AlterField(
        "LedgerChain",
        "event",
        models.OneToOneField(
            db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="chain", to="ledger.ledgerevent"
        ),
    ),
    migrations.AddField("LedgerHead", "numbered", ArrayField(models.BigIntegerField(), default=list)),
]


class Migration(migrations.Migration):
    dependencies = (("ledger", "0002_proofs"),)
    operations = (migrations.RunSQL(SQL, migrations.RunSQL.noop, state_operations=STATE),)
