from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "app.fleet"
    label = "fleet"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.fleet.who import wwids_of_serial
        from app.ledger import terms

        terms.ALIASES.append(wwids_of_serial)
