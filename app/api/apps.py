from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "app.api"
    label = "api"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from app.accounts import sealing
        from app.api import tokens

        sealing.watch([tokens.KIND])
