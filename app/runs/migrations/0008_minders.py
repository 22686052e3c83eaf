"""A run has a person who is responsible for it and may hand it over; a technician may be admitted to one step of it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

PERSON = settings.AUTH_USER_MODEL
PROTECT = django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    dependencies = [("runs", "0007_no_permissions"), migrations.swappable_dependency(PERSON)]

    operations = [
        migrations.AddField("run", "owner", models.ForeignKey(null=True, on_delete=PROTECT, related_name="owned_runs", to=PERSON)),
        migrations.AddField("run", "handed_by", models.ForeignKey(null=True, on_delete=PROTECT, related_name="+", to=PERSON)),
        migrations.CreateModel(
            name="TechnicianLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("step", models.CharField(max_length=60)),
                ("entered", models.FloatField()),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("browser_hash", models.CharField(blank=True, max_length=64)),
                ("name", models.CharField(blank=True, max_length=80)),
                ("opened_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                ("made_by", models.ForeignKey(on_delete=PROTECT, related_name="+", to=PERSON)),
                ("run", models.ForeignKey(on_delete=PROTECT, related_name="technician_links", to="runs.run")),
            ],
            options={
                "ordering": ("-made_at",),
                "constraints": [
                    models.UniqueConstraint(fields=["browser_hash"], condition=~Q(browser_hash=""), name="one_link_per_browser"),
                    models.CheckConstraint(
                        condition=Q(opened_at__isnull=True, browser_hash="", name="")
                        | (Q(opened_at__isnull=False) & ~Q(browser_hash="") & ~Q(name="")),
                        name="an_open_link_is_somebodys",
                    ),
                ],
            },
        ),
    ]
