from django.apps import AppConfig, apps
from django.contrib.auth import signals
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "app.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.accounts import records, roles

        # The rights belong to `runs`, and Django makes them when that app has migrated.
        post_migrate.connect(roles.make, sender=apps.get_app_config("runs"))
        signals.user_logged_in.connect(records.signed_in)
        signals.user_logged_out.connect(records.signed_out)
        signals.user_login_failed.connect(records.failed)
