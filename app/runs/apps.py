from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "app.runs"
    label = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.ledger import grants
        from app.runs import rules

        grants.ALSO.append(rules.faults)
