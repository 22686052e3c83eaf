from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "app.runs"
    label = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from app.accounts import sealing
        from app.ledger import grants
        from app.runs import kinds
        from app.runs.ordering import database_rules

        sealing.watch(kinds.KINDS)
        grants.ALSO.append(database_rules.faults)
