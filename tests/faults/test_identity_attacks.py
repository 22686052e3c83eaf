"""Whoever can write to the database, and to nothing else, is nobody here: neither as the portal's own role nor as a superuser.

Against a running web process and a real PostgreSQL: the tables are written to with plain SQL, past Django, and the portal is asked over HTTP.
"""

import json
import secrets
import urllib.error
import urllib.request
from datetime import timedelta
from hashlib import sha256

import psycopg
import pytest
from django.test import Client
from django.utils import timezone

from app.accounts import confirming, rights, seals, waiting
from app.accounts import people as administering
from app.accounts.models import Refusal, Seal, User
from app.api import tokens
from app.api.models import Token
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.notices import alarms
from tests.faults.stack import Stack, until
from tests.ground import SECRET

PASSWORD = "correct horse battery"
MAKE_TOKEN = """
INSERT INTO api_token (person_id, name, prefix, digest, scopes, bound, made_at, proved_at, expires_at)
SELECT id, 'forged', %s, %s, '{operate,approve,read}', '', now(), now(), now() + interval '1 hour' FROM accounts_user WHERE username = %s
"""


@pytest.fixture
def portal(ground, committed_db, tmp_path):
    stack = Stack(ground, committed_db, tmp_path, 1.0)
    stack.start("valkey", "web")
    until(lambda: asked(stack, "/healthz")[0] == 200, "web never came up", 90)
    yield stack
    stack.end()


@pytest.fixture
def people(portal):
    made = {}
    for name, role in (("ann", "operator"), ("bob", "approver")):
        made[name] = User.objects.create_user(name, password=PASSWORD)
        made[name].memberships.create(role=role)
    return made


@pytest.fixture(params=["app", "superuser"])
def sql(request, ground, committed_db, people):
    """SQL as the role that the portal runs as, and as one that may do anything."""
    url = ground.url(committed_db) if request.param == "app" else ground.postgres.url("postgres", SECRET, committed_db)

    def run(text, *values):
        with psycopg.connect(url, autocommit=True) as connection:
            return connection.execute(text, values)

    return run


def asked(stack, path, token="", cookie="", body=None):
    headers = {"Host": "127.0.0.1"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"Cookie": f"sessionid={cookie}"} if cookie else {}
    headers |= {"Content-Type": "application/json"} if body is not None else {}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"http://127.0.0.1:{stack.port}{path}", data, headers)
    try:
        with _opener().open(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except OSError:
        return 0, ""


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def _opener():
    return urllib.request.build_opener(_Stays)


def forged():
    prefix = secrets.token_hex(6)
    text = f"slt_{prefix}_{secrets.token_urlsafe(32)}"
    return text, prefix, sha256(text.encode()).hexdigest()


def events_about(person):
    """The alarm, as every page, notice and metric reads it, and the ledger."""
    [alarm] = [one for one in alarms.standing(timezone.now()) if one.kind == "identity-refused"]
    assert person in alarm.title
    assert LedgerEvent.objects.filter(type="identity.refused").exists()
    return alarm


def a_token(person):
    return tokens.make(person, "laptop", ["operate", "approve", "read"], timedelta(hours=1), timezone.now())[1]


def test_tokens_that_were_inserted_open_nothing(portal, sql, people):
    good = a_token(people["ann"])
    assert asked(portal, "/api/v1/status", good)[0] == 200
    for name in ("ann", "bob"):
        text, prefix, digest = forged()
        sql(MAKE_TOKEN, prefix, digest, name)
        for path, body in (("/api/v1/status", None), ("/api/v1/runs", {"runbook": "blink-and-replace", "params": {"node": "oss01"}})):
            status, page = asked(portal, path, text, body=body)
            assert (status, "not accepted" in page) == (401, True), page
    assert {one.person for one in Refusal.objects.all()} == {"ann", "bob"}
    assert len([one for one in alarms.standing(timezone.now()) if one.kind == "identity-refused"]) == 2
    assert asked(portal, "/api/v1/status", good)[0] == 200, "what the portal made goes on"


def test_a_seal_of_another_token_does_not_fit(portal, sql, people):
    a_token(people["bob"])
    text, prefix, digest = forged()
    sql(MAKE_TOKEN, prefix, digest, "bob")
    sql("INSERT INTO identity_seal (name, mark, mac) SELECT 'api_token:' || (SELECT max(id) FROM api_token), mark, mac FROM identity_seal"
        " WHERE name = 'api_token:' || (SELECT min(id) FROM api_token)")  # fmt: skip
    assert asked(portal, "/api/v1/status", text)[0] == 401
    assert "old one that was put back" in events_about("bob").text or "does not fit its seal" in events_about("bob").text


def test_a_revoked_token_that_was_put_back_stays_revoked(portal, sql, people):
    text = a_token(people["bob"])
    token = Token.objects.get()
    seal = Seal.objects.get(pk=f"api_token:{token.pk}")
    tokens.revoke(token, people["bob"])
    assert "was revoked" in asked(portal, "/api/v1/status", text)[1]
    sql("UPDATE api_token SET revoked_at = NULL")
    sql("UPDATE identity_seal SET mark = %s, mac = %s WHERE name = %s", seal.mark, seal.mac, seal.name)
    status, page = asked(portal, "/api/v1/status", text)
    assert (status, "put back" in page) == (401, True), page
    events_about("bob")


# what somebody writes -> whom it is about
CHANGES = {
    "a password": "UPDATE accounts_user SET password = (SELECT password FROM accounts_user WHERE username = 'bob') WHERE username = 'ann'",
    "a flag": "UPDATE accounts_user SET is_superuser = true, is_staff = true WHERE username = 'ann'",
    "a role": "UPDATE accounts_membership SET role = 'approver' WHERE user_id = (SELECT id FROM accounts_user WHERE username = 'ann')",
    "a new role": "INSERT INTO accounts_membership (user_id, role, from_groups) SELECT id, 'approver', false FROM accounts_user WHERE username = 'ann'",
    "a factor": "INSERT INTO mfa_authenticator (user_id, type, data, created_at) SELECT id, 'webauthn', '{}', now() FROM accounts_user WHERE username = 'ann'",
    "a link": "INSERT INTO socialaccount_socialaccount (user_id, provider, uid, last_login, date_joined, extra_data)"
    " SELECT id, 'openid_connect', 'x y', now(), now(), '{}' FROM accounts_user WHERE username = 'ann'",
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_every_table_that_says_who_somebody_is(portal, sql, people, what):
    browser = Client()
    assert browser.login(username="ann", password=PASSWORD)
    cookie = browser.cookies["sessionid"].value
    assert asked(portal, "/account/", cookie=cookie)[0] == 200
    sql(CHANGES[what])
    seals.sweep()
    events_about("ann")
    other = Client()
    answer = other.post("/sign-in/", {"login": "ann", "password": PASSWORD})
    if what in ("a role", "a new role"):
        text = a_token(people["ann"])
        assert asked(portal, "/account/", cookie=cookie)[0] == 200, "who somebody is was left alone"
        assert not seals.why_not(User, pk=people["ann"].pk)
        assert not rights.may(people["ann"], rights.APPROVE)
        assert asked(portal, "/api/v1/status", text)[0] == 200
    else:
        assert "_auth_user_id" not in other.session
        assert answer.status_code in (200, 403)
    if what in ("a password", "a flag"):
        assert asked(portal, "/account/", cookie=cookie)[0] == 302, "the session is nobody's now"


def test_a_session_that_was_copied_lengthened_or_put_back_is_nobodys(portal, sql, people):
    browser = Client()
    browser.login(username="bob", password=PASSWORD)
    cookie = browser.cookies["sessionid"].value
    assert asked(portal, "/account/", cookie=cookie)[0] == 200
    mine = secrets.token_hex(16)
    sql("INSERT INTO django_session SELECT %s, session_data, expire_date FROM django_session WHERE session_key = %s", mine, cookie)
    assert asked(portal, "/account/", cookie=mine)[0] == 302
    assert Refusal.objects.count() == 1
    sql("DELETE FROM django_session WHERE session_key = %s", mine)
    [[data, ends]] = sql("SELECT session_data, expire_date FROM django_session WHERE session_key = %s", cookie).fetchall()
    [[name, mark, mac]] = sql(
        "SELECT name, mark, mac FROM identity_seal WHERE name = 'django_session:' || encode(sha256(%s), 'hex')", cookie.encode()
    ).fetchall()
    browser.logout()
    assert asked(portal, "/account/", cookie=cookie)[0] == 302
    sql("INSERT INTO django_session VALUES (%s, %s, %s)", cookie, data, ends)
    sql("INSERT INTO identity_seal (name, mark, mac) VALUES (%s, %s, %s)", name, mark, mac)
    assert asked(portal, "/account/", cookie=cookie)[0] == 302
    assert "put back" in Refusal.objects.get(pk=name).why


# What one administrator, who can write to the database too, does to let count what waits for a second one. `{who}` is the person's key.
HURRIED_ROLES = {
    "yesterday": "UPDATE accounts_membership SET counts_at = now() - interval '2 days' WHERE user_id = {who}",
    "at once": "UPDATE accounts_membership SET counts_at = NULL, given_by_id = NULL WHERE user_id = {who}",
    "by somebody else": "UPDATE accounts_membership SET given_by_id = (SELECT id FROM accounts_user WHERE username = 'zoe') WHERE user_id = {who}",
    "from nothing": "INSERT INTO accounts_membership (user_id, role, from_groups, counts_at) VALUES ({who}, 'approver', false, now() - interval '2 days')",
    "in place of one that waits": "WITH gone AS (DELETE FROM accounts_membership WHERE user_id = {who} RETURNING id, user_id)"
    " INSERT INTO accounts_membership (id, user_id, role, from_groups) SELECT id + 1000, user_id, 'admin', false FROM gone",
}  # fmt: skip
HURRIED_ACCOUNTS = {
    "yesterday": "UPDATE accounts_user SET counts_at = now() - interval '2 days' WHERE id = {who}",
    "at once": "UPDATE accounts_user SET counts_at = NULL, changed = NULL WHERE id = {who}",
    "by somebody else": "UPDATE accounts_user SET changed = 'password:zoe' WHERE id = {who}",
}


@pytest.fixture
def root(portal):
    """One of two administrators of a portal that has a node."""
    ledger.record("token.issued", {}, "zoe", node="oss01")
    ledger.record("node.enrolled", {}, "node:oss01", node="oss01")
    for name in ("root", "zoe"):
        User.objects.create_user(name).memberships.create(role="admin")
    return User.objects.get(username="root")


def nobody_is_hurried(root, person):
    """The alarm names them, and no way of counting is left: no right, no sweep, no confirming."""
    seals.sweep()
    assert Refusal.objects.filter(person=person.username).exists()
    assert any(person.username in one.title for one in alarms.standing(timezone.now()) if one.kind == "identity-refused")
    confirming.sweep(timezone.now())
    for right in (rights.APPROVE, rights.OPERATE, rights.PEOPLE):
        assert not rights.may(person, right)
    for one in waiting.of(person):
        if seals.why_not(type(one), pk=one.pk):
            with pytest.raises(administering.PeopleRefused):
                confirming.confirm(root, one, waiting.key(one))
    assert not LedgerEvent.objects.filter(type__startswith="person.change").exists()


def test_a_role_that_waits_is_not_hurried_in_the_database(portal, sql, root):
    for number, text in enumerate(HURRIED_ROLES.values()):
        kim = User.objects.create_user(f"kim{number}", password=PASSWORD)
        administering.give(root, kim, "admin", None)
        browser = Client()
        browser.login(username=kim.username, password=PASSWORD)
        cookie = browser.cookies["sessionid"].value
        status, page = asked(portal, "/people/", cookie=cookie)
        assert (status, "admin for the whole fleet, given by root" in page) == (403, True)
        sql(text.format(who=kim.pk))
        assert asked(portal, "/people/", cookie=cookie)[0] == 403, text
        nobody_is_hurried(root, kim)


def test_an_account_whose_rights_rest_is_not_hurried_in_the_database(portal, sql, root):
    for number, text in enumerate(HURRIED_ACCOUNTS.values()):
        bob = User.objects.create_user(f"bob{number}")
        bob.memberships.create(role="approver")
        password = administering.new_password(root, bob)
        sql(text.format(who=bob.pk))
        browser = Client()
        browser.post("/sign-in/", {"login": bob.username, "password": password})
        assert "_auth_user_id" not in browser.session, text
        nobody_is_hurried(root, User.objects.get(pk=bob.pk))
