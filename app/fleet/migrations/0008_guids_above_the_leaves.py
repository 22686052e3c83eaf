import django.contrib.postgres.indexes
from django.db import migrations, models

import app.fleet.models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0007_parts_of_guids"),
    ]

    operations = [
        migrations.AddField(
            model_name="poolnow",
            name="vdevs",
            field=models.TextField(blank=True),
        ),
        migrations.AddIndex(
            model_name="poolnow",
            index=django.contrib.postgres.indexes.GinIndex(app.fleet.models.Runs("vdevs"), fastupdate=False, name="pool_vdev_part"),
        ),
    ]
