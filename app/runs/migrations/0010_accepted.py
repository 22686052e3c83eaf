"""Puts the rule of `0010_accepted.sql` under plans, approvals, broken glasses and orders: what is lost is accepted by name."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).with_suffix(".sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("runs", "0009_visits")]
    operations = [
        migrations.AddField("plan", "accepts", models.TextField(blank=True, db_default="", default="")),
        migrations.RunSQL(SQL, migrations.RunSQL.noop),
    ]
