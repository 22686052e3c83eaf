"""Puts the rule of `0012_several_disks.sql` under orders: several disks only where the order's text names each of them."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_suffix(".sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_looks")]
    operations = [migrations.RunSQL(SQL, migrations.RunSQL.noop)]
