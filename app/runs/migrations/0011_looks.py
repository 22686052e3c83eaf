"""Looks of a run that saw nothing else than the one before are told of together."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0010_accepted")]
    operations = [migrations.AddField("order", "folded", models.BooleanField(db_default=False, default=False))]
