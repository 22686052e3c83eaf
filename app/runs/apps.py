from django.apps import AppConfig
from django.db.models.signals import post_migrate


class RunsConfig(AppConfig):
    name = "app.runs"
    label = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.ledger import grants
        from app.runs import rights, rules

        grants.ALSO.append(rules.faults)
        post_migrate.connect(rights.make_groups, sender=self)
