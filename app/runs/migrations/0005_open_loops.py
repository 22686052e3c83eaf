"""A table for what runs have switched on and nobody has switched off yet."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_rules")]

    operations = [
        migrations.CreateModel(
            name="OpenLoop",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("node", models.CharField(db_index=True, max_length=63)),
                ("loop", models.CharField(max_length=60)),
                ("what", models.TextField()),
                ("undo", models.TextField()),
                ("by", models.CharField(max_length=150)),
                ("at", models.DateTimeField()),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="loops", to="runs.run")),
            ],
            options={
                "ordering": ("at", "pk"),
                "constraints": [models.UniqueConstraint(fields=("run", "loop"), name="one_loop_of_a_kind_per_run")],
            },
        ),
    ]
