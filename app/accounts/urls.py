"""Signing in, the account, people. Names with `mfa_`, `account_` or `socialaccount_` are those by which django-allauth finds its pages."""

from allauth.account import views as allauth
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.contrib.auth.decorators import login_required
from django.urls import path
from django.views.generic import RedirectView

from app.accounts import people_views, sso, views
from app.accounts.changing import changing, fresh
from app.core.handlers import View

to_sign_in = RedirectView.as_view(pattern_name="sign-in", query_string=True)
to_account = login_required(RedirectView.as_view(pattern_name="account"))


def own(view: View) -> View:
    """A page of one's own that shows or changes what proves one."""
    return login_required(fresh(changing(view)))


urlpatterns = [
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-in/again/", to_sign_in, name="account_login"),
    path("sign-in/second/", mfa.authenticate, name="mfa_authenticate"),
    path("sign-in/passkey/", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("sign-in/inactive/", allauth.account_inactive, name="account_inactive"),
    path("sign-in/elsewhere/<slug:provider_id>/", sso.login, name="openid_connect_login"),
    path("sign-in/elsewhere/<slug:provider_id>/callback/", sso.callback, name="openid_connect_callback"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("account/", views.account, name="account"),
    path("account/sessions/<int:pk>/end/", views.end_session, name="session-end"),
    path("account/withdraw/", views.withdraw, name="account-withdraw"),
    path("account/password/", login_required(changing(allauth.password_change)), name="account_change_password"),
    path("account/prove/", login_required(allauth.reauthenticate), name="account_reauthenticate"),
    path("account/prove/code/", login_required(mfa.reauthenticate), name="mfa_reauthenticate"),
    path("account/prove/passkey/", login_required(passkeys.reauthenticate_webauthn), name="mfa_reauthenticate_webauthn"),
    path("account/app/", own(totp.activate_totp), name="mfa_activate_totp"),
    path("account/app/remove/", own(totp.deactivate_totp), name="mfa_deactivate_totp"),
    path("account/codes/", own(codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path("account/codes/new/", own(codes.generate_recovery_codes), name="mfa_generate_recovery_codes"),
    path("account/passkeys/add/", own(passkeys.add_webauthn), name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove/", own(passkeys.remove_webauthn), name="mfa_remove_webauthn"),
    path("people/", people_views.people_page, name="people"),
    path("people/add/", people_views.add, name="person-add"),
    path("people/teams/add/", people_views.add_team, name="team-add"),
    path("people/of/<str:name>/", people_views.person_page, name="person"),
    path("people/of/<str:name>/give/", people_views.give, name="person-give"),
    path("people/of/<str:name>/take/", people_views.take, name="person-take"),
    path("people/of/<str:name>/switch/", people_views.switch, name="person-switch"),
    path("people/of/<str:name>/password/", people_views.new_password, name="person-password"),
    path("people/of/<str:name>/factors/", people_views.forget_factors, name="person-factors"),
    path("people/of/<str:name>/confirm/", people_views.confirm, name="person-confirm"),
    path("people/of/<str:name>/withdraw/", people_views.withdraw, name="person-withdraw"),
    # Pages of django-allauth whose place the page of the account takes.
    path("account/factors/", to_account, name="mfa_index"),
    path("account/passkeys/", to_account, name="mfa_list_webauthn"),
    path("account/sessions/", to_account, name="usersessions_list"),
    path("account/elsewhere/", to_account, name="socialaccount_connections"),
    path("account/password/set/", to_account, name="account_set_password"),
]
