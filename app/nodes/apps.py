from django.apps import AppConfig
from django.db.models.signals import post_migrate


class NodesConfig(AppConfig):
    name = "app.nodes"
    label = "nodes"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.nodes import rights

        post_migrate.connect(rights.make_groups, sender=self)
