from django.apps import AppConfig
from django.contrib.auth import signals


class AccountsConfig(AppConfig):
    name = "app.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from app.accounts import proof, records

        signals.user_logged_in.connect(records.signed_in)
        signals.user_logged_in.connect(proof.signed_in)
        signals.user_logged_out.connect(records.signed_out)
        signals.user_login_failed.connect(records.failed)
