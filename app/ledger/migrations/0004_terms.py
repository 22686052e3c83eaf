"""What the search stands on: words of events, and an index of what persons did; see `app/ledger/terms.py`."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).with_name("0004_terms.sql").read_text()


class Migration(migrations.Migration):
    dependencies = (("ledger", "0003_lanes"),)
    operations = (
        migrations.CreateModel(
            "LedgerTerm",
            [
                ("pk", models.CompositePrimaryKey("term", "event_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("term", models.TextField(db_collation="C")),
                ("event_id", models.BigIntegerField()),
            ],
            options={"db_table": "ledger_term"},
        ),
        migrations.AddIndex("LedgerTerm", models.Index(fields=["event_id"], name="ledger_term_event")),
        migrations.CreateModel(
            "LedgerTermsHead",
            [("one", models.BooleanField(primary_key=True, serialize=False)), ("seq", models.BigIntegerField())],
            options={"db_table": "ledger_terms_head"},
        ),
        migrations.RunSQL(SQL, migrations.RunSQL.noop),
    )
