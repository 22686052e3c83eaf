from typing import Any

import django.contrib.postgres.indexes
from django.db import migrations, models

import app.fleet.models

# Every run of four characters, for an index. A text that is shorter has none. Only names of pg_catalog: an index may rest on nothing else.
RUNS = """
CREATE FUNCTION fleet_runs(said text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT lower(substr(said, at, 4))), '{}') FROM generate_series(1, length(said) - 3) AS at
$$
"""


def index(model: str, field: str, name: str, **more: Any) -> migrations.AddIndex:
    runs = app.fleet.models.Runs(field)
    made = django.contrib.postgres.indexes.GinIndex(runs, fastupdate=False, name=name, **more)
    return migrations.AddIndex(model_name=model, index=made)


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0006_rows_of_the_fleet"),
    ]

    operations = [
        migrations.RunSQL(RUNS, "DROP FUNCTION fleet_runs(text)"),
        index("labelseen", "vdev_guid", "label_vdev_part"),
        index("labelseen", "pool_guid", "label_pool_part"),
        index("leafhistory", "vdev_guid", "leaf_vdev_part", condition=models.Q(until__isnull=True)),
        index("poolnow", "guid", "pool_guid_part"),
    ]
