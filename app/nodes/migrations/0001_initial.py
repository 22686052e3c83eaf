import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("fleet", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="EnrolToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL),
                ),
                ("node", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="tokens", to="fleet.node")),
            ],
        ),
        migrations.CreateModel(
            name="NodeKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key_id", models.CharField(max_length=16, unique=True)),
                ("secret", models.BinaryField()),
                ("counter", models.BigIntegerField(default=0)),
                ("hostname", models.CharField(blank=True, max_length=255)),
                ("created_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("node", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="keys", to="fleet.node")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("revoked_at__isnull", True)), fields=("node",), name="one_key_per_node")
                ],
            },
        ),
    ]
