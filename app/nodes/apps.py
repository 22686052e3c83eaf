from django.apps import AppConfig


class NodesConfig(AppConfig):
    name = "app.nodes"
    label = "nodes"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from app.accounts import sealing
        from app.nodes import kinds

        sealing.watch(kinds.KINDS)
