"""Puts the rules of `0004_sealed.sql` under the tables; they take the place of some of `0002_rules.sql`."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_name("0004_sealed.sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_sealed"), ("ledger", "0001_initial"), ("accounts", "0001_initial")]
    operations = [migrations.RunSQL(SQL, migrations.RunSQL.noop)]
