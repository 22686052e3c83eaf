"""Puts the rules of `0002_rules.sql` under the tables."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_suffix(".sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]
    operations = [migrations.RunSQL(SQL, migrations.RunSQL.noop)]
