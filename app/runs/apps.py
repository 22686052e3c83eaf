from django.apps import AppConfig
from django.db.models.signals import post_migrate


class RunsConfig(AppConfig):
    name = "app.runs"
    label = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.runs import rights

        post_migrate.connect(rights.make_groups, sender=self)
