from django.apps import AppConfig
from django.db.models.signals import post_migrate


class FleetConfig(AppConfig):
    name = "app.fleet"
    label = "fleet"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from app.accounts import sealing
        from app.fleet import kinds, situations
        from app.fleet.pages.disk_identity import wwids_of_serial
        from app.ledger import terms

        sealing.watch([kinds.NODE])
        post_migrate.connect(situations.catch_up_after_migrating, sender=self)
        terms.ALIASES.append(wwids_of_serial)
