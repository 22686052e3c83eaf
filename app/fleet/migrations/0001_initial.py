import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Disk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("wwid", models.TextField(unique=True)),
                ("serial", models.TextField(blank=True)),
                ("vendor", models.TextField(blank=True)),
                ("model", models.TextField(blank=True)),
                ("firmware", models.TextField(blank=True)),
                ("size_bytes", models.BigIntegerField(blank=True, null=True)),
                ("first_seen_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["wwid"],
            },
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        max_length=63,
                        unique=True,
                        validators=[django.core.validators.RegexValidator("^[A-Za-z0-9][A-Za-z0-9._-]{0,62}\\Z")],
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting for its agent"), ("enrolled", "enrolled"), ("retired", "retired")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("mode", models.CharField(blank=True, max_length=10)),
                ("version", models.CharField(blank=True, max_length=40)),
                ("boot_id", models.CharField(blank=True, max_length=64)),
                ("last_report_at", models.DateTimeField(blank=True, null=True)),
                ("report_digest", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                (
                    "node",
                    models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to="fleet.node"),
                ),
                ("captures", models.JSONField(default=dict)),
                ("changed_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="LeafHistory",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pool_guid", models.CharField(max_length=20)),
                ("pool", models.TextField()),
                ("vdev_guid", models.CharField(max_length=20)),
                ("name", models.TextField()),
                ("before", models.TextField(blank=True)),
                ("state", models.TextField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
                ("node", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="leaves", to="fleet.node")),
            ],
            options={
                "ordering": ["-since", "name"],
                "indexes": [models.Index(fields=["since"], name="leaf_since")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until__isnull", True)), fields=("node", "pool_guid", "vdev_guid"), name="one_state_per_leaf"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LabelSeen",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("partition", models.TextField()),
                ("pool_guid", models.CharField(blank=True, max_length=20)),
                ("pool", models.TextField(blank=True)),
                ("vdev_guid", models.CharField(max_length=20)),
                ("state", models.IntegerField()),
                ("hostname", models.TextField(blank=True)),
                ("txg", models.CharField(blank=True, max_length=20)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
                ("disk", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="labels", to="fleet.disk")),
                ("node", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="labels", to="fleet.node")),
            ],
            options={
                "ordering": ["-since", "partition"],
                "indexes": [
                    models.Index(condition=models.Q(("until__isnull", True)), fields=["node"], name="label_now"),
                    models.Index(fields=["vdev_guid"], name="label_vdev"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Sighting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.TextField()),
                ("hctl", models.TextField(blank=True)),
                ("by_id", models.TextField(blank=True)),
                ("enclosure_id", models.TextField(blank=True)),
                ("slot", models.IntegerField(blank=True, null=True)),
                ("pool", models.TextField(blank=True)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
                ("disk", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="sightings", to="fleet.disk")),
                ("node", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="sightings", to="fleet.node")),
            ],
            options={
                "ordering": ["-since", "name"],
                "indexes": [models.Index(fields=["enclosure_id", "slot"], name="sighting_bay")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until__isnull", True)), fields=("node", "name"), name="one_disk_per_kernel_name"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Situation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.TextField()),
                ("slug", models.CharField(max_length=60)),
                ("severity", models.CharField(max_length=10)),
                ("title", models.TextField()),
                ("data", models.JSONField()),
                ("opened_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("node", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="situations", to="fleet.node")),
            ],
            options={
                "ordering": ["-opened_at"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)), fields=("key",), name="one_open_situation_per_key"
                    )
                ],
            },
        ),
    ]
