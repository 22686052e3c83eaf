"""Signing in and out."""

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.urls import reverse_lazy

from app.accounts import throttle

ERRORS = {
    "invalid_login": "This name and password do not fit together. Both are case-sensitive.",
    "inactive": "This account is switched off.",
}


class SignInForm(AuthenticationForm):
    error_messages = ERRORS

    def clean(self):
        who = (self.data.get("username", ""), self.request.META.get("REMOTE_ADDR", ""))
        if throttle.blocked(*who):
            minutes = throttle.PAUSE_SECONDS // 60
            raise ValidationError(
                f"There were {throttle.FAILURES_MAX} failed sign-ins for this name from here. Wait {minutes} minutes, or ask another operator."
            )
        try:
            cleaned = super().clean()
        except ValidationError:
            throttle.failed(*who)
            raise
        throttle.forget(*who)
        return cleaned


sign_in = LoginView.as_view(template_name="accounts/sign_in.html", form_class=SignInForm, redirect_authenticated_user=True)
sign_out = LogoutView.as_view(next_page=reverse_lazy("sign-in"))
