"""Puts the rule of `0006_unattended.sql` under the orders: what the portal may give by itself."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_suffix(".sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_open_loops")]
    operations = [migrations.RunSQL(SQL, migrations.RunSQL.noop)]
