"""A technician's link holds for a whole visit to the rack. Links that were made for one step open nothing any more."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models.functions import Now


def revoke_links_to_a_step(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("runs", "TechnicianLink").objects.filter(revoked_at=None, done_at=None).update(revoked_at=Now())


class Migration(migrations.Migration):
    dependencies = [("runs", "0008_minders")]
    operations = [
        migrations.RunPython(revoke_links_to_a_step, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField("technicianlink", "entered"),
        migrations.RenameField("technicianlink", "done_at", "left_at"),
    ]
