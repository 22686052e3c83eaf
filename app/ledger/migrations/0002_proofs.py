"""Room for the Merkle tree's inner nodes; see `0002_proofs.sql`. They are filled in with the next checkpoint."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_name("0002_proofs.sql").read_text()


class Migration(migrations.Migration):
    dependencies = (("ledger", "0001_initial"),)
    operations = (migrations.RunSQL(SQL, migrations.RunSQL.noop),)
