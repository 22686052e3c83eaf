from django.apps import AppConfig
from django.contrib.auth import signals
from django.db.models.signals import post_delete, post_save


class AccountsConfig(AppConfig):
    name = "app.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from allauth.account.signals import authentication_step_completed, password_changed
        from allauth.mfa import signals as mfa
        from allauth.mfa.models import Authenticator
        from django.contrib.sessions.models import Session

        from app.accounts import factors, kinds, proof, records, sealing, seals, waiting
        from app.accounts.models import made_on_the_host

        sealing.watch((kinds.USER, kinds.MEMBERSHIP, kinds.FACTOR, kinds.LINK, kinds.SESSION))
        signals.user_logged_in.connect(records.signed_in)
        signals.user_logged_in.connect(proof.signed_in)
        signals.user_logged_out.connect(records.signed_out)
        signals.user_login_failed.connect(records.failed)
        authentication_step_completed.connect(proof.step_completed)
        password_changed.connect(records.password_changed)
        mfa.authentication_failed.connect(records.factor_failed)
        post_save.connect(records.factor_saved, sender=Authenticator)
        post_delete.connect(records.factor_deleted, sender=Authenticator)
        post_save.connect(factors.changed, sender=Authenticator)
        post_delete.connect(factors.changed, sender=Authenticator)
        seals.ALSO.append(factors.faults)
        post_delete.connect(records.session_ended, sender=Session)
        made_on_the_host.connect(waiting.announce_made_on_the_host)
