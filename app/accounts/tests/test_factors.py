"""Second factors: setting one up, signing in with it, proving with it, and who needs one."""

import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from app.accounts import proof, throttle
from app.accounts.models import User
from app.accounts.rights import APPROVE, MANUAL, OPERATE, lacks_factor, may, may_somewhere, why_not
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def ann(settings):
    throttle.forget("ann", "127.0.0.1")
    made = User.objects.create_user("ann", password=PASSWORD)
    made.memberships.create(role="approver")
    return made


@pytest.fixture
def codes(monkeypatch):
    """The app's code of this moment for a secret; each call is thirty seconds later, since a code counts once."""
    from django.core.cache import cache

    cache.clear()
    began, calls = int(time.time()), iter(range(1, 100))

    def code(secret: str) -> str:
        at = began + 30 * next(calls)
        monkeypatch.setattr(totp.time, "time", lambda: at)
        return totp.format_hotp_value(totp.hotp_value(secret, at // 30))

    return code


@pytest.fixture
def app(ann, codes):
    """ann has set up the app; gives the code of this moment."""
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(ann, secret)
    return lambda: codes(secret)


def types():
    return list(LedgerEvent.objects.filter(identity=None).order_by("pk").values_list("type", flat=True))


def test_it_sets_up_an_app_and_shows_recovery_codes(ann, client, codes):
    client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
    page = client.get(reverse("mfa_activate_totp"))
    secret = page.context["form"].secret
    assert "data:image/svg+xml" in page.content.decode()
    answer = client.post(reverse("mfa_activate_totp"), {"code": "000000"})
    assert "not right now" in answer.content.decode()
    answer = client.post(reverse("mfa_activate_totp"), {"code": codes(secret)}, follow=True)
    assert "10 of 10 are left" in answer.content.decode()
    assert types() == ["person.signed-in", "person.factor-added", "person.factor-added"]
    stored = Authenticator.objects.get(type="totp").data["secret"]
    assert secret not in stored, "who reads the database alone cannot make codes"
    assert "Remove the app" in client.get(reverse("account")).content.decode()


def test_it_asks_for_the_second_step_before_anything_is_shown(ann, client, app):
    answer = client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
    assert answer.url == reverse("mfa_authenticate")
    assert client.get(reverse("fleet")).status_code == 302
    assert "_auth_user_id" not in client.session
    assert "not right now" in client.post(reverse("mfa_authenticate"), {"code": "000000"}).content.decode()
    assert client.post(reverse("mfa_authenticate"), {"code": app()}).url == "/"
    assert types() == ["person.factor-added", "person.sign-in-failed", "person.signed-in"]


def test_a_code_counts_once(ann, client, app):
    code = app()
    for expected in (302, 200):
        client.logout()
        client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
        assert client.post(reverse("mfa_authenticate"), {"code": code}).status_code == expected


def test_guessing_codes_is_slowed_down_also_across_right_passwords(ann, client, app):
    for _ in range(throttle.FAILURES_MAX):
        client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
        client.post(reverse("mfa_authenticate"), {"code": "000000"})
        client.logout()
    assert "Wait 10 minutes" in client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD}).content.decode()


def test_a_recovery_code_gets_in_once(ann, client, app):
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    [code, *_] = RecoveryCodes.activate(ann).get_unused_codes()
    for expected in (302, 200):
        client.logout()
        client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
        assert client.post(reverse("mfa_authenticate"), {"code": code}).status_code == expected


def test_a_password_or_a_code_is_a_fresh_proof_and_nothing_else_is(ann, client, app, rf):
    client.force_login(ann)
    request = rf.post("/")
    request.user, request.session = ann, client.session
    request.session.pop("proved_at", None)
    assert proof.prove(request, "wrong") == "That is neither your password nor a code of your authenticator. Nothing was done."
    assert proof.proved_at(request) is None
    for typed in (PASSWORD, app()):
        request.session.pop("proved_at", None)
        assert proof.prove(request, typed) == ""
        assert proof.is_fresh(proof.proved_at(request), timezone.now())


def test_changing_a_factor_asks_for_a_fresh_proof_and_takes_it_on_its_own_page(ann, client, app):
    client.force_login(ann)
    session = client.session
    session["proved_at"] = time.time() - 3600
    session.save()
    answer = client.get(reverse("mfa_add_webauthn"))
    assert answer.url == f"{reverse('account_reauthenticate')}?next={reverse('mfa_add_webauthn').replace('/', '%2F')}"
    assert "Use a code of your app" in client.get(answer.url).content.decode()
    answer = client.post(reverse("mfa_reauthenticate"), {"code": app(), "next": reverse("mfa_add_webauthn")})
    assert answer.url == reverse("mfa_add_webauthn")
    assert client.get(answer.url).status_code == 200
    assert "person.proved" in types()


def test_a_factor_is_not_changed_while_the_ledger_cannot_be_written(ann, client, app, monkeypatch):
    client.force_login(ann)

    def down(*_, **__):
        raise ledger.LedgerDown("The ledger cannot be written now.")

    monkeypatch.setattr(ledger, "refuse_if_broken", down)
    assert client.get(reverse("mfa_deactivate_totp")).status_code == 200
    assert client.post(reverse("mfa_deactivate_totp")).status_code == 409
    assert Authenticator.objects.filter(type="totp").exists()


def test_removing_the_app_is_recorded(ann, client, app):
    client.force_login(ann)
    assert client.post(reverse("mfa_deactivate_totp")).status_code == 302
    assert types()[-1] == "person.factor-removed"


def test_where_a_second_factor_is_required_rights_rest_until_there_is_one(ann, settings):
    settings.REQUIRE_SECOND_FACTOR = True
    assert (may(ann, OPERATE, "oss01"), may(ann, APPROVE), may_somewhere(ann, APPROVE)) == (False, False, False)
    assert may(ann, MANUAL, "oss01"), "hands at the rack wait for nobody's phone"
    assert why_not(ann, APPROVE, "oss01").startswith("ann may not do this without a second factor.")
    assert lacks_factor(ann)
    totp.TOTP.activate(ann, totp.generate_totp_secret())
    assert (may(ann, OPERATE, "oss01"), may(ann, APPROVE), lacks_factor(ann)) == (True, True, False)


def test_the_account_page_says_what_is_missing(ann, client, settings):
    client.force_login(ann)
    assert "Set up a second factor." not in client.get(reverse("account")).content.decode()
    settings.REQUIRE_SECOND_FACTOR = True
    assert "Set up a second factor." in client.get(reverse("account")).content.decode()


def test_it_lists_sessions_and_signs_one_of_them_out(ann, client):
    other = Client(HTTP_USER_AGENT="the laptop at home")
    for browser in (client, other):
        browser.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
    page = client.get(reverse("account")).content.decode()
    assert "the laptop at home" in page
    assert page.count("Sign out that one") == 1
    theirs = UserSession.objects.get(user_agent="the laptop at home")
    assert client.post(reverse("session-end", args=[theirs.pk])).status_code == 302
    assert other.get(reverse("account")).status_code == 302
    assert client.get(reverse("account")).status_code == 200
    assert types()[-1] == "person.session-ended"


def test_nobody_signs_out_somebody_elses_session(ann, client):
    client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
    eve = Client()
    eve.force_login(User.objects.create_user("eve"))
    assert eve.post(reverse("session-end", args=[UserSession.objects.get(user=ann).pk])).status_code == 404
    assert client.get(reverse("account")).status_code == 200


def test_the_password_is_changed_with_the_old_one_and_recorded(ann, client):
    client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
    form = {"oldpassword": "wrong", "password1": "another horse 42", "password2": "another horse 42"}
    assert "not your present password" in client.post(reverse("account_change_password"), form).content.decode()
    assert client.post(reverse("account_change_password"), form | {"oldpassword": PASSWORD}).url == reverse("account")
    assert types()[-1] == "person.password-changed"
    ann.refresh_from_db()
    assert ann.check_password("another horse 42")
