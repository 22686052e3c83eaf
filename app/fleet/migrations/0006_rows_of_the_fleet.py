import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.db import migrations, models

SITUATIONS = """
UPDATE fleet_situation SET rank = CASE severity WHEN 'act' THEN 0 WHEN 'watch' THEN 1 ELSE 2 END,
    cause_key = coalesce(data->>'cause', ''), pool = coalesce(data#>>'{subject,pool}', '')
"""


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0005_node_team"),
    ]

    operations = [
        migrations.CreateModel(
            name="PoolNow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.SmallIntegerField()),
                ("name", models.TextField()),
                ("guid", models.CharField(blank=True, max_length=20)),
                ("state", models.TextField()),
                ("tone", models.CharField(max_length=10)),
                ("left", models.TextField()),
                ("left_tone", models.CharField(max_length=10)),
                ("percent", models.TextField(blank=True)),
            ],
            options={
                "ordering": ["node", "place"],
            },
        ),
        migrations.CreateModel(
            name="Standing",
            fields=[
                (
                    "node",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="standing",
                        serialize=False,
                        to="fleet.node",
                    ),
                ),
                ("rank", models.SmallIntegerField()),
                ("tone", models.CharField(max_length=10)),
                ("why", models.TextField()),
                ("disks", models.IntegerField(null=True)),
                ("hostname", models.TextField(blank=True)),
                ("restless", models.BooleanField(default=False)),
                ("settled_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Touch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("thing", models.TextField()),
                ("binds", models.BooleanField()),
            ],
        ),
        migrations.AddField(
            model_name="disk",
            name="parts",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None),
        ),
        migrations.AddField(
            model_name="node",
            name="touched",
            field=models.SmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="sighting",
            name="sas_address",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="situation",
            name="cause_key",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="situation",
            name="pool",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="situation",
            name="rank",
            field=models.SmallIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name="disk",
            index=models.Index(fields=["serial"], name="disk_serial"),
        ),
        migrations.AddIndex(
            model_name="disk",
            index=django.contrib.postgres.indexes.GinIndex(fastupdate=False, fields=["parts"], name="disk_part"),
        ),
        migrations.AddIndex(
            model_name="labelseen",
            index=models.Index(fields=["pool_guid"], name="label_pool"),
        ),
        migrations.AddIndex(
            model_name="labelseen",
            index=models.Index(fields=["pool"], name="label_pool_name"),
        ),
        migrations.AddIndex(
            model_name="leafhistory",
            index=models.Index(fields=["vdev_guid"], name="leaf_vdev"),
        ),
        migrations.AddIndex(
            model_name="sighting",
            index=models.Index(fields=["name", "until"], name="sighting_name"),
        ),
        migrations.AddIndex(
            model_name="sighting",
            index=models.Index(fields=["hctl"], name="sighting_hctl"),
        ),
        migrations.AddIndex(
            model_name="sighting",
            index=models.Index(fields=["sas_address"], name="sighting_port"),
        ),
        migrations.AddIndex(
            model_name="sighting",
            index=models.Index(condition=models.Q(("until__isnull", True)), fields=["node", "slot"], name="sighting_slot"),
        ),
        migrations.AddIndex(
            model_name="situation",
            index=models.Index(condition=models.Q(("closed_at__isnull", True)), fields=["rank", "opened_at"], name="situation_worst"),
        ),
        migrations.AddIndex(
            model_name="situation",
            index=models.Index(condition=models.Q(("closed_at__isnull", True)), fields=["cause_key"], name="situation_cause"),
        ),
        migrations.AddIndex(
            model_name="situation",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.search.SearchVector("title", config="simple"),
                condition=models.Q(("closed_at__isnull", True)),
                name="situation_words",
            ),
        ),
        migrations.AddField(
            model_name="poolnow",
            name="node",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="pools_now", to="fleet.node"),
        ),
        migrations.AddIndex(
            model_name="standing",
            index=models.Index(fields=["rank", "node"], name="standing_worst"),
        ),
        migrations.AddIndex(
            model_name="standing",
            index=models.Index(fields=["hostname"], name="standing_host"),
        ),
        migrations.AddField(
            model_name="touch",
            name="node",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="touches", to="fleet.node"),
        ),
        migrations.AddIndex(
            model_name="poolnow",
            index=models.Index(fields=["name"], name="pool_name"),
        ),
        migrations.AddIndex(
            model_name="poolnow",
            index=models.Index(fields=["guid"], name="pool_guid"),
        ),
        migrations.AddConstraint(
            model_name="poolnow",
            constraint=models.UniqueConstraint(fields=("node", "place"), name="one_pool_per_place"),
        ),
        migrations.AddIndex(
            model_name="touch",
            index=models.Index(fields=["thing", "node"], name="touch_thing"),
        ),
        migrations.AddConstraint(
            model_name="touch",
            constraint=models.UniqueConstraint(fields=("node", "thing"), name="one_touch_per_thing"),
        ),
        migrations.RunSQL(SITUATIONS, migrations.RunSQL.noop),
    ]
