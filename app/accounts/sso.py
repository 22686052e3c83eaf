"""Signing in through the house's identity provider: OpenID Connect, the code flow with PKCE, state and nonce.

Whoever comes is known here by issuer and subject, never by an address or a name alone. Groups give roles by an explicit mapping, which is
applied at each sign-in; what an administrator gave by hand is left alone. Who has no role here is not let in.
"""

import logging
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import wraps
from typing import Any
from urllib.parse import urlencode

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone

from app.accounts import proof, waiting
from app.accounts.models import Team, User
from app.core.oidc import PROVIDER
from app.ledger import services as ledger

NONCE = "sso_nonce"
NEVER = datetime.fromtimestamp(0, UTC)
log = logging.getLogger(__name__)


class Refused(OAuth2Error):
    """This sign-in is not accepted. The message is for the person."""


class Door(OpenIDConnectOAuth2Adapter):
    """django-allauth's, and stricter: the ID token's signature, issuer and nonce are always checked."""

    def check(self) -> None:
        """Whether this is the provider we mean: no person is sent to another, and no other's answer is taken."""
        issuer, wanted = self.openid_config.get("issuer"), self.get_provider().app.settings["issuer"]
        if issuer != wanted:
            raise Refused(f"The provider calls itself {issuer}, and this portal expects {wanted} (SLOTLIGHT_OIDC_ISSUER).")

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        self.check()
        id_token = kwargs["response"].get("id_token")
        if not id_token:
            raise Refused("The provider sent no ID token, so who you are is not known.")
        claims = self._decode_id_token(app, id_token)
        nonce = request.session.pop(NONCE, "")
        if not nonce or not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise Refused("The provider's answer belongs to another sign-in than the one this browser began. Begin again.")
        claims = {**self._more(token.token, claims["sub"]), **claims}
        login = self.get_provider().sociallogin_from_response(request, {"id_token": claims})
        login.account.uid = f"{claims['iss']} {claims['sub']}"
        login.account.extra_data = claims
        login.email_addresses = []  # an address proves nothing here
        return login

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        config = self.openid_config
        claims: dict[str, Any] = jwtkit.verify_and_decode(
            credential=id_token,
            keys_url=config["jwks_uri"],
            issuer=self.get_provider().app.settings["issuer"],
            audience=app.client_id,
            lookup_kid=jwtkit.lookup_kid_jwk,
        )
        return claims

    def _more(self, access_token: str, subject: str) -> dict[str, Any]:
        """What only the userinfo endpoint says; groups often stand there alone."""
        if "userinfo_endpoint" not in self.openid_config:
            return {}
        answer: dict[str, Any] = self._fetch_user_info(access_token)
        if answer.get("sub") != subject:
            raise Refused("The provider's two answers are about different people. Report it to the people who run the provider.")
        return answer


def answers(view: Callable[[HttpRequest, Door], HttpResponse]) -> Callable[..., HttpResponse]:
    """A view that deals with the provider: without one there is none, and when it fails a page says why."""

    @wraps(view)
    def asked(request: HttpRequest, provider_id: str) -> HttpResponse:
        try:
            return view(request, Door(request, provider_id))
        except SocialApp.DoesNotExist:
            raise Http404("No such provider is configured.") from None
        except (requests.RequestException, OAuth2Error) as error:
            return refusal(request, error)

    return asked


@answers
def login(request: HttpRequest, door: Door) -> HttpResponse:
    """Send the browser to the provider. Who is signed in already comes to prove it once more, and must do so there."""
    door.check()
    request.session[NONCE] = secrets.token_urlsafe(24)
    asked = {"nonce": request.session[NONCE], "max_age": proof.FRESH_SECONDS}
    if request.user.is_authenticated:
        asked["prompt"] = "login"
    wanted = request.GET.get("next", "")
    # Nothing else of the address goes on to the provider.
    request.GET = QueryDict(urlencode({"process": "login", "auth_params": urlencode(asked), **({"next": wanted} if wanted else {})}))
    answer: HttpResponse = OAuth2LoginView.adapter_view(door)(request)
    return answer


@answers
def callback(request: HttpRequest, door: Door) -> HttpResponse:
    answer: HttpResponse = OAuth2CallbackView.adapter_view(door)(request)
    return answer


def refusal(request: HttpRequest, error: Exception | None) -> HttpResponse:
    """The page that says why no person was signed in, and the log line that says more."""
    log.warning("A sign-in through the identity provider failed: %r.", error)
    status = 403
    if isinstance(error, Refused):
        why = str(error)
    elif isinstance(error, ledger.LedgerDown):
        why, status = str(error), 503
    elif isinstance(error, requests.RequestException):
        why, status = "The identity provider does not answer. Sign in with your password, or try again later.", 503
    else:
        why = "The identity provider's answer could not be accepted: it is old, was used before, or is not signed as it should be. Begin again."
    return render(request, "socialaccount/authentication_error.html", {"why": why}, status=status)


class Elsewhere(DefaultSocialAccountAdapter):
    """Who may come in, asked when the provider's answer has proved to be genuine."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def on_authentication_error(
        self, request: HttpRequest, provider: object, error: str | None = None, exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        if error == "cancelled":
            exception = Refused("You stopped it at the identity provider. No person was signed in.")
        raise ImmediateHttpResponse(refusal(request, exception))

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        claims = sociallogin.account.extra_data
        try:
            with transaction.atomic():
                person = admit(claims, sociallogin.user if sociallogin.is_existing else None)
                if not sociallogin.is_existing:
                    sociallogin.connect(request, person)
        except ledger.LedgerDown as down:
            raise ImmediateHttpResponse(refusal(request, down)) from None
        except Refused as refused:
            _record_refusal(claims, str(refused))
            raise ImmediateHttpResponse(refusal(request, refused)) from None
        auth_time = claims.get("auth_time")
        setattr(request, proof.ELSEWHERE, datetime.fromtimestamp(auth_time, UTC) if isinstance(auth_time, int) else NEVER)


def admit(claims: dict[str, Any], known: User | None) -> User:
    """The person these claims are about, with the roles that the groups give now. Raises Refused."""
    name = str(claims.get("preferred_username") or "")
    person = known or _person(name)
    _give_roles(person, roles_of(claims))
    if not person.memberships.exists():
        raise Refused(
            f"You are {name or claims['sub']} there, and none of your groups has a role in this portal. Ask an administrator of the portal "
            "for one (SLOTLIGHT_OIDC_ROLES says which groups have which)."
        )
    return person


def _person(name: str) -> User:
    """A new person, or one whom an administrator has added to come this way. A person with a password is never taken over."""
    if not name:
        raise Refused(
            "The provider does not send your name (preferred_username). Ask whoever runs it to add the scope profile for Slotlight."
        )
    found = User.objects.filter(username=name).first()
    if found is None:
        found = User(username=name)
        found.set_unusable_password()
        try:
            found.full_clean(exclude=["password"])
        except ValidationError as wrong:
            raise Refused(f"The provider calls you {name}, and no account can have that name here. {' '.join(wrong.messages)}") from None
        found.save()
        ledger.record("person.added", {"of": name, "through": "identity provider"}, "portal")
    elif found.has_usable_password() or SocialAccount.objects.filter(user=found).exists():
        raise Refused(f"There is another {name} in this portal already. Ask an administrator to add you under another name.")
    return found


def roles_of(claims: dict[str, Any]) -> set[tuple[str, str]]:
    """(role, team) of every group that is mapped."""
    claim = get_adapter().get_app(None, PROVIDER).settings["groups_claim"]
    names = claims.get(claim, [])
    groups = names if isinstance(names, list) else [names]
    return {one for group in groups for one in settings.OIDC_ROLES.get(str(group), ())}


def _give_roles(person: User, wanted: Iterable[tuple[str, str]]) -> None:
    before = {
        (one.role, one.team.name if one.team else ""): one for one in person.memberships.filter(from_groups=True).select_related("team")
    }
    for held in person.memberships.filter(from_groups=False, counts_at__gt=timezone.now()).select_related("team"):
        if (held.role, held.team.name if held.team else "") in wanted:
            held.delete()  # what the groups give does not wait
    by_hand = set(person.memberships.filter(from_groups=False).values_list("role", "team__name"))
    gone = [key for key in before if key not in wanted]
    come = [(role, team) for role, team in sorted(wanted) if (role, team) not in before and (role, team or None) not in by_hand]
    for key in gone:
        before[key].delete()
    for role, team in come:
        where = Team.objects.get_or_create(name=team)[0] if team else None
        person.memberships.create(role=role, team=where, from_groups=True)
    if gone or come:
        body = {"of": person.username, "gone": sorted(map("@".join, gone)), "come": list(map("@".join, come))}
        ledger.record("person.roles-from-groups", body, "portal")
    if not waiting.ROLES.isdisjoint(role for role, _ in come) and not waiting.site_is_new():
        waiting.announce_change(
            person.username, ", ".join("@".join(one).rstrip("@") for one in come), "a group of the identity provider gives it"
        )


def _record_refusal(claims: dict[str, Any], why: str) -> None:
    try:
        with transaction.atomic():
            fields = {"name": str(claims.get("preferred_username", "")), "subject": str(claims["sub"]), "why": why}
            ledger.record("person.sign-in-refused", fields, "portal")
    except ledger.LedgerDown:
        log.exception("A refused sign-in could not be recorded in the ledger.")
