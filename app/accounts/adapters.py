"""Where django-allauth asks the house: how guessing is slowed down, what is said, how secrets of factors lie in the database.

No account is made here by signing up, and nothing needs e-mail. Lock-out is `app.accounts.throttle` alone; allauth's own rate
limits are off, because they count in each process by itself.
"""

import base64
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from app.accounts import believing, proof, throttle
from app.accounts.models import User
from app.core.oidc import PROVIDER

UNKNOWN_ADDRESS = "::"  # behind a Unix socket there is none


class Accounts(DefaultAccountAdapter):
    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": "This name and password do not fit together. Both are case-sensitive.",
        "incorrect_password": "That is not your password.",
        "enter_current_password": "That is not your present password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        if throttle.blocked(credentials["username"], *throttle.where(credentials["username"], request)):
            raise ValidationError(throttle.TEXT)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """No person whose password or factors were written into the database past this portal."""
        person: User | None = super().authenticate(request, **credentials)
        if person is not None and (why := believing.why_not(person)):
            raise ValidationError(why)
        return person

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """By every way of signing in: also with a passkey, and through the identity provider."""
        if why := believing.why_not(user):
            clear_login(request)
            raise ImmediateHttpResponse(render(request, "socialaccount/authentication_error.html", {"why": why}, status=403))
        answer: HttpResponse | None = super().pre_login(request, user, **kwargs)
        return answer

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        throttle.failed(credentials["username"], *throttle.where(credentials["username"], request))

    def is_reauthentication_required(self, *, app: str) -> bool:
        """One freshness for everything: what is fresh enough to approve is fresh enough to change a factor."""
        return not proof.is_fresh(proof.proved_at(self.request), timezone.now())

    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, Any]]:
        """Who comes through the identity provider proves it there."""
        found: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if user.is_authenticated and settings.SOCIALACCOUNT_PROVIDERS and SocialAccount.objects.filter(user=user).exists():
            found.append({"id": "sso", "description": "Sign in elsewhere again", "url": reverse("openid_connect_login", args=[PROVIDER])})
        return found

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META.get("REMOTE_ADDR") or UNKNOWN_ADDRESS)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, message_context: dict[str, Any] | None = None,
        extra_tags: str = "", message: str | None = None,
    ) -> None:  # fmt: skip
        """Only what is a sentence of its own: pages say by themselves what they did."""
        if message is not None:
            super().add_message(request, level, message=message, extra_tags=extra_tags)


class Factors(DefaultMFAAdapter):
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "That code is not right now. Wait for the next one; a code counts once.",
    }

    def get_totp_label(self, user: User) -> str:
        return user.get_username()

    def generate_authenticator_name(self, user: User, type: str) -> str:
        return f"Passkey {Authenticator.objects.filter(user=user, type=type).count() + 1}"

    def encrypt(self, text: str) -> str:
        """Who reads the database alone cannot make codes. The key follows from SECRET_KEY; with another one, factors are set up anew."""
        return _fernet().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _fernet().decrypt(encrypted_text.encode()).decode()


def _fernet() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(salted_hmac("slotlight.factors", "key", algorithm="sha256").digest()))
