from django.apps import AppConfig


class SnapshotsConfig(AppConfig):
    name = "app.snapshots"
    label = "snapshots"
    default_auto_field = "django.db.models.BigAutoField"
