"""Signing in through a real OpenID Connect provider: `tests/oidc`, a process of its own, reached over HTTP.

Without node or the provider's package these tests are skipped: `npm ci --prefix tests/oidc` makes them run.
"""

import base64
import html
import json
import re
import shutil
import subprocess
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as configured
from django.core.cache import cache
from django.urls import reverse

from app.accounts import proof, sso
from app.accounts.models import Role, Team, User
from app.accounts.rights import APPROVE, OPERATE, may
from app.core import oidc
from app.fleet.models import Node
from app.ledger.models import LedgerEvent

pytestmark = pytest.mark.django_db
FOLDER = Path(configured.BASE_DIR) / "tests" / "oidc"
CALLBACK = "http://testserver/sign-in/elsewhere/sso/callback/"
GROUPS = {"ann": ["ops", "unmapped"], "bob": ["leads"], "eve": ["accounting"], "nameless": ["ops"]}
ROLES = "ops=operator@storage, leads=approver, leads=operator@storage"


@pytest.fixture(scope="module")
def issuer():
    node = shutil.which("node")
    if node is None or not (FOLDER / "node_modules" / "oidc-provider").exists():
        pytest.skip("there is no OpenID Connect provider to sign in through: run `npm ci --prefix tests/oidc` (it needs node 18 or newer)")
    argv = [node, "provider.mjs", CALLBACK, json.dumps(GROUPS)]
    process = subprocess.Popen(argv, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    late = threading.Timer(60, process.kill)
    late.start()
    output = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
    late.cancel()
    assert output, "the provider never said where it listens"
    yield output
    process.kill()
    process.wait()


@pytest.fixture(autouse=True)
def portal(issuer, settings, tmp_path):
    cache.clear()
    secret = tmp_path / "secret"
    secret.write_text("a secret of the test\n")
    fields = {
        "SLOTLIGHT_OIDC_ISSUER": issuer,
        "SLOTLIGHT_OIDC_CLIENT_ID": "slotlight",
        "SLOTLIGHT_OIDC_SECRET_FILE": str(secret),
        "SLOTLIGHT_OIDC_NAME": "House",
    }
    settings.SOCIALACCOUNT_PROVIDERS = oidc.providers(fields)
    settings.OIDC_ROLES = oidc.roles(ROLES)
    return settings


def begin(client, more: str = "") -> str:
    """The address at the provider to which the browser is sent."""
    answer = client.get(reverse("openid_connect_login", args=["sso"]) + more)
    assert answer.status_code == 302, answer.content.decode()
    return answer.url


def at_the_provider(url: str, name: str) -> str:
    """What a person does there: type the name, agree. The address on the portal to which the browser comes back."""
    browser = requests.Session()
    answer = browser.get(url, allow_redirects=False, timeout=20)
    for _ in range(12):
        if answer.is_redirect:
            where = requests.compat.urljoin(answer.url, answer.headers["Location"])
            if where.startswith("http://testserver/"):
                return where
            answer = browser.get(where, allow_redirects=False, timeout=20)
            continue
        prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)[1]
        form = {"prompt": prompt, **({"login": name, "password": "x"} if prompt == "login" else {})}
        action = html.unescape(re.search(r'action="([^"]+)"', answer.text)[1])
        answer = browser.post(action, form, allow_redirects=False, timeout=20)
    raise AssertionError("the provider never sent the browser back")


def come(client, name: str, more: str = ""):
    return client.get(at_the_provider(begin(client, more), name))


def events(*types: str):
    return [
        (event.type, event.actor, json.loads(bytes(event.body))["body"])
        for event in LedgerEvent.objects.filter(type__in=types).order_by("pk")
    ]


def roles(name: str) -> set:
    return set(User.objects.get(username=name).memberships.values_list("role", "team__name"))


def test_the_whole_flow_signs_in_with_the_roles_of_the_groups(client):
    Node.objects.create(name="oss01", team=Team.objects.create(name="storage"))
    answer = come(client, "ann", "?next=/runs/")
    assert (answer.status_code, answer.url) == (302, "/runs/"), answer.content.decode()
    ann = User.objects.get(username="ann")
    assert client.session["_auth_user_id"] == str(ann.pk)
    assert not ann.has_usable_password()
    assert roles("ann") == {("operator", "storage")}
    assert (may(ann, OPERATE, "oss01"), may(ann, OPERATE, "mds01"), may(ann, APPROVE, "oss01")) == (True, False, False)
    assert [kind for kind, _, _ in events("person.added", "person.roles-from-groups", "person.signed-in")] == [
        "person.added",
        "person.roles-from-groups",
        "person.signed-in",
    ]
    assert proof.PROVED in client.session


def test_it_asks_with_pkce_state_and_nonce_and_for_a_fresh_proof(client):
    asked = parse_qs(urlsplit(begin(client, "?auth_params=prompt%3Dnone&scope=evil&process=connect")).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= set(asked)
    assert (asked["max_age"], set(asked["scope"][0].split()), "prompt" in asked) == (["900"], {"openid", "profile"}, False)


def test_who_comes_again_is_the_same_person_and_groups_are_applied_anew(client, portal):
    come(client, "bob")
    assert roles("bob") == {("approver", None), ("operator", "storage")}
    User.objects.get(username="bob").memberships.create(role="viewer")  # by hand: not the provider's to take
    client.logout()
    portal.OIDC_ROLES = oidc.roles("leads=technician")
    come(client, "bob")
    assert roles("bob") == {("technician", None), ("viewer", None)}
    assert User.objects.filter(username="bob").count() == SocialAccount.objects.count() == 1
    assert events("person.roles-from-groups")[-1][2]["gone"] == ["approver@", "operator@storage"]


def refused(answer, words: str, status: int = 403) -> None:
    page = answer.content.decode()
    assert answer.status_code == status, page
    assert words in html.unescape(page), page
    assert "_auth_user_id" not in answer.wsgi_request.session


def test_who_has_no_role_here_is_refused_with_words_and_recorded(client):
    refused(come(client, "eve"), "none of your groups has a role in this portal")
    assert not User.objects.filter(username="eve").exists()
    [(_, actor, body)] = events("person.sign-in-refused")
    assert (actor, body["name"], body["subject"]) == ("portal", "eve", "eve")


def test_who_has_no_name_is_refused(client):
    refused(come(client, "nameless"), "does not send your name")


def test_a_person_with_a_password_is_never_taken_over(client):
    User.objects.create_user("ann", password="correct horse battery").memberships.create(role="admin")
    refused(come(client, "ann"), "There is another ann in this portal already")
    assert not SocialAccount.objects.exists()


def test_whom_an_administrator_added_to_come_this_way_comes_in(client):
    User.objects.create_user("eve").memberships.create(role="viewer")
    assert come(client, "eve").status_code == 302
    assert SocialAccount.objects.get().user.username == "eve"


def test_who_is_switched_off_stays_out(client):
    come(client, "ann")
    client.logout()
    ann = User.objects.get(username="ann")
    ann.is_active = False
    ann.save()
    assert come(client, "ann").url == reverse("account_inactive")
    assert "_auth_user_id" not in client.session


def test_an_answer_to_another_sign_in_is_refused(client):
    back = at_the_provider(begin(client), "ann")
    session = client.session
    session[sso.NONCE] = "of another sign-in"
    session.save()
    refused(client.get(back), "belongs to another sign-in")


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(client):
    from django.test import Client

    back = at_the_provider(begin(client), "ann")
    refused(Client().get(back), "Begin again")
    refused(client.get(back.replace("state=", "state=x")), "Begin again")
    assert client.get(back).status_code == 302, "the browser that began it"


def test_an_answer_counts_once(client):
    back = at_the_provider(begin(client), "ann")
    assert client.get(back).status_code == 302
    client.logout()
    refused(client.get(back), "Begin again")


def test_a_provider_that_calls_itself_something_else_is_refused(client, portal):
    portal.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"]["issuer"] = "https://sso.example"
    answer = client.get(reverse("openid_connect_login", args=["sso"]))
    refused(answer, "and this portal expects https://sso.example")


@pytest.mark.parametrize("wrong", [{"iss": "https://sso.example"}, {"aud": "another-client"}, {"exp": 1}, {"sub": "bob"}], ids=str)
def test_a_token_that_says_something_else_than_was_signed_is_refused(client, monkeypatch, wrong):
    """The provider's own token, changed on the way: its signature does not fit any more."""
    genuine = sso.Door.get_access_token_data

    def changed(self, *args, **kwargs):
        data = genuine(self, *args, **kwargs)
        head, body, signature = data["id_token"].split(".")
        answer = json.loads(base64.urlsafe_b64decode(body + "=="))
        body = base64.urlsafe_b64encode(json.dumps(answer | wrong).encode()).decode().rstrip("=")
        return data | {"id_token": f"{head}.{body}.{signature}"}

    back = at_the_provider(begin(client), "ann")
    monkeypatch.setattr(sso.Door, "get_access_token_data", changed)
    refused(client.get(back), "could not be accepted")


@pytest.mark.parametrize("other", [{"issuer": "https://sso.example"}, {"audience": "another-client"}], ids=str)
def test_a_genuine_token_for_somebody_else_is_refused(client, monkeypatch, other):
    """Signed as it should be, by the key we know, and not by our issuer or not for us."""
    genuine = sso.jwtkit.verify_and_decode
    back = at_the_provider(begin(client), "ann")
    monkeypatch.setattr(sso.jwtkit, "verify_and_decode", lambda **asked: genuine(**asked | other))
    refused(client.get(back), "could not be accepted")


def test_a_provider_that_does_not_answer_is_said_so(client, portal):
    settings = portal.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"]
    settings["server_url"] = settings["issuer"] = "http://127.0.0.1:9"
    refused(client.get(reverse("openid_connect_login", args=["sso"])), "does not answer", status=503)


def test_who_stops_at_the_provider_is_told(client):
    asked = parse_qs(urlsplit(begin(client)).query)
    answer = client.get(f"/sign-in/elsewhere/sso/callback/?error=access_denied&state={asked['state'][0]}")
    refused(answer, "You stopped it at the identity provider")


def test_who_is_signed_in_proves_it_there_once_more(client):
    come(client, "ann")
    session = client.session
    session[proof.PROVED] = 1
    session.save()
    asked = begin(client, "?next=/account/")
    assert parse_qs(urlsplit(asked).query)["prompt"] == ["login"]
    assert client.get(reverse("mfa_add_webauthn")).url.startswith(reverse("openid_connect_login", args=["sso"]))
    answer = come(client, "ann", "?next=/account/")
    assert answer.url == "/account/"
    assert client.session[proof.PROVED] > 1


def test_the_sign_in_page_offers_it(client):
    assert "Sign in with House" in client.get(reverse("sign-in")).content.decode()


def test_without_a_provider_there_is_no_such_door(client, portal):
    portal.SOCIALACCOUNT_PROVIDERS = {}
    assert "Sign in with House" not in client.get(reverse("sign-in")).content.decode()
    assert client.get(reverse("openid_connect_login", args=["sso"])).status_code == 404


def test_the_mapping_names_roles_that_exist_or_the_portal_does_not_start():
    assert set(oidc.ROLES) == set(Role.values)
    assert oidc.roles("a=operator@night shift,b=viewer") == {"a": (("operator", "night shift"),), "b": (("viewer", ""),)}
    for wrong in ("a", "a=", "=operator", "a=king", "a=operator@"):
        with pytest.raises(ValueError, match="SLOTLIGHT_OIDC_ROLES"):
            oidc.roles(wrong)
