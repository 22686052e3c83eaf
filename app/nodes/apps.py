from django.apps import AppConfig


class NodesConfig(AppConfig):
    name = "app.nodes"
    label = "nodes"
    default_auto_field = "django.db.models.BigAutoField"
