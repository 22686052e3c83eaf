"""The forms of signing in: codes are slowed down like passwords."""

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from django.core.exceptions import ValidationError

from app.accounts import throttle


class _Slowed(BaseAuthenticateForm):
    def clean_code(self) -> str:
        """Under the person's name and address, together with wrong passwords; `records` counts the wrong ones."""
        name = self.user.get_username()
        if throttle.blocked(name, *throttle.where(name, context.request)):
            raise ValidationError(throttle.TEXT)
        return str(super().clean_code())


class Authenticate(_Slowed, AuthenticateForm):
    """The second step of signing in."""


class Reauthenticate(_Slowed, ReauthenticateForm):
    """A code, to prove once more who is there."""
