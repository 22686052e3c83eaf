"""Makes the ledger from `0001_ledger.sql`; Django is only told what it will find there."""

from pathlib import Path
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).with_name("0001_ledger.sql").read_text()


def table(name: str, db_table: str, *fields: "tuple[str, models.Field[Any, Any]]") -> migrations.CreateModel:
    return migrations.CreateModel(name=name, fields=list(fields), options={"db_table": db_table})


STATE = [
    table(
        "LedgerEvent",
        "ledger_event",
        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
        ("body", models.BinaryField()),
        ("leaf", models.BinaryField()),
        ("at", models.TextField()),
        ("actor", models.TextField()),
        ("type", models.TextField()),
        ("run", models.TextField()),
        ("node", models.TextField()),
        ("run_seq", models.BigIntegerField(null=True)),
    ),
    table(
        "LedgerChain",
        "ledger_chain",
        ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
        (
            "event",
            models.OneToOneField(on_delete=django.db.models.deletion.DO_NOTHING, related_name="chain", to="ledger.ledgerevent"),
        ),
        ("prev", models.BinaryField(unique=True)),
        ("link", models.BinaryField(unique=True)),
    ),
    table(
        "LedgerHead",
        "ledger_head",
        ("one", models.BooleanField(primary_key=True, serialize=False)),
        ("seq", models.BigIntegerField()),
        ("prev", models.BinaryField()),
        ("link", models.BinaryField()),
    ),
    table(
        "LedgerCheckpoint",
        "ledger_checkpoint",
        ("size", models.BigIntegerField(primary_key=True, serialize=False)),
        ("root", models.BinaryField()),
        ("frontier", models.BinaryField()),
        ("note", models.TextField()),
        ("at", models.TextField()),
    ),
    table(
        "Blob",
        "ledger_blob",
        ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
        ("size", models.BigIntegerField()),
        ("media", models.TextField()),
        ("bytes", models.BinaryField()),
    ),
]


class Migration(migrations.Migration):
    initial = True
    dependencies = ()
    operations = (migrations.RunSQL(SQL, migrations.RunSQL.noop, state_operations=STATE),)
