"""Room for the Merkle tree's inner nodes, filled in with the next checkpoint, and the one way to erase; see `0002_proofs.sql`."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).with_name("0002_proofs.sql").read_text()
STATE = [
    migrations.AlterField("LedgerEvent", "body", models.BinaryField(null=True)),
    migrations.AlterField("Blob", "bytes", models.BinaryField(null=True)),
]


class Migration(migrations.Migration):
    dependencies = (("ledger", "0001_initial"),)
    operations = (migrations.RunSQL(SQL, migrations.RunSQL.noop, state_operations=STATE),)
