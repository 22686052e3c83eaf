from django.apps import AppConfig
from django.db.models.signals import post_migrate


class FleetConfig(AppConfig):
    name = "app.fleet"
    label = "fleet"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.fleet import situations
        from app.fleet.who import wwids_of_serial
        from app.ledger import terms

        post_migrate.connect(situations.catch_up_after_migrating, sender=self)
        terms.ALIASES.append(wwids_of_serial)
