"""Tokens: shown once, kept as a digest, ended by time, by their person, and with their person's account."""

from datetime import timedelta

import pytest
from django.utils import timezone

from app.api import rate, tokens
from app.api.models import Token
from app.api.tests.cast import Asker, token
from app.ledger.models import LedgerEvent
from app.runs.tests.cast import person

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def at_her_page(client):
    ann = person("ann", "operator")
    ann.set_password("correct horse battery")
    ann.save()
    client.login(username="ann", password="correct horse battery")
    return client


def form(**more) -> dict:
    return {"name": "laptop", "scopes": ["read", "operate"], "life": "12h"} | more


def test_a_token_is_shown_once_and_kept_as_a_digest(at_her_page):
    made = at_her_page.post("/account/tokens/", form(password="correct horse battery"))
    text = made.context["text"]
    assert text in made.content.decode()
    assert text not in at_her_page.get("/account/tokens/").content.decode()
    row = Token.objects.values().get()
    assert text not in str(row)
    assert row["digest"] == tokens.digest(text)
    event = LedgerEvent.objects.get(type="token.made").parsed
    assert event["actor"] == "ann"
    assert event["body"] == {
        "identity": f"api_token:{row['id']}",
        "token": row["prefix"],
        "name": "laptop",
        "scopes": ["operate", "read"],
        "expires_at": event["body"]["expires_at"],
    }
    assert text not in str(event)
    assert Asker(text).get("/status")["open_loops"] == 0


def test_making_one_asks_for_a_password_that_is_not_old(at_her_page):
    session = at_her_page.session
    session["proved_at"] = (timezone.now() - timedelta(minutes=16)).timestamp()
    session.save()
    answer = at_her_page.post("/account/tokens/", form())
    assert (answer.status_code, Token.objects.count()) == (422, 0)
    assert "Type your password once more" in answer.content.decode()
    assert at_her_page.post("/account/tokens/", form(password="wrong")).status_code == 422
    assert not Token.objects.exists()


def test_one_that_acts_does_not_last_for_days(at_her_page):
    answer = at_her_page.post("/account/tokens/", form(life="30d"))
    assert answer.status_code == 422
    assert "12 hours at most" in answer.content.decode()
    assert at_her_page.post("/account/tokens/", form(life="30d", scopes=["read"])).status_code == 200


def test_a_revoked_one_opens_nothing(at_her_page):
    text = at_her_page.post("/account/tokens/", form()).context["text"]
    at_her_page.post(f"/account/tokens/{Token.objects.get().pk}/revoke/")
    answer = Asker(text)("GET", "/status")
    assert (answer.status_code, answer.json()["type"]) == (401, "urn:slotlight:token-not-believed")
    assert "was revoked at" in answer.json()["detail"]
    assert LedgerEvent.objects.filter(type="token.revoked").count() == 1


def test_nobody_revokes_those_of_others(at_her_page, bob):
    token(bob)
    assert at_her_page.post(f"/account/tokens/{Token.objects.get().pk}/revoke/").status_code == 404
    assert "test" not in at_her_page.get("/account/tokens/").content.decode().split("Yours")[1]


@pytest.fixture
def root(client):
    made = person("root", "admin")
    made.set_password("correct horse battery")
    made.save()
    client.force_login(made)
    return client


def test_an_administrator_revokes_those_of_others_on_the_page_of_the_person(root, bob):
    first, second, third = token(bob), token(bob), token(bob, "read")
    page = root.get("/people/of/bob/").content.decode()
    assert "Revoke all 3" in page
    assert first not in page
    named = Token.objects.get(prefix=first.split("_")[1])
    assert root.post("/people/of/bob/tokens/", {"token": named.pk}).url == "/people/of/bob/"
    assert "was revoked" in Asker(first)("GET", "/status").json()["detail"]
    assert Asker(second).get("/status")
    root.post("/people/of/bob/tokens/", {"token": "all"})
    assert {Asker(text)("GET", "/status").status_code for text in (second, third)} == {401}
    assert "no program acts in the name of bob" in root.get("/people/of/bob/").content.decode()
    lines = [event.parsed for event in LedgerEvent.objects.filter(type="token.revoked").order_by("pk")]
    assert [(one["actor"], one["body"]["of"]) for one in lines] == [("root", "bob")] * 3


def test_revoking_those_of_others_takes_a_fresh_proof_the_right_and_a_token_of_that_person(root, ann, bob, client):
    text, own = token(bob), token(ann)
    for wanted in ("", "x", "999", str(Token.objects.get(person=ann).pk)):
        assert root.post("/people/of/bob/tokens/", {"token": wanted}).status_code == 404, wanted
    session = root.session
    session["proved_at"] = 1
    session.save()
    assert "/account/prove/" in root.post("/people/of/bob/tokens/", {"token": "all"}).url
    client.force_login(ann)
    assert client.post("/people/of/bob/tokens/", {"token": "all"}).status_code == 403
    assert Asker(text).get("/status")
    assert Asker(own).get("/status")


def test_it_ends_with_its_time_and_with_its_persons_account(ann):
    text = token(ann)
    row = Token.objects.get()
    row.expires_at = timezone.now()
    row.save()
    assert "expired at" in Asker(text)("GET", "/status").json()["detail"]
    row.expires_at = timezone.now() + HOUR
    row.save()
    ann.is_active = False
    ann.save()
    assert "switched off" in Asker(text)("GET", "/status").json()["detail"]


def test_one_that_acts_ends_with_the_password_it_was_made_with(ann):
    acting, reading = token(ann, "read", "operate"), token(ann, "read")
    ann.set_password("another one altogether")
    ann.save()
    assert "password of ann was changed" in Asker(acting)("GET", "/status").json()["detail"]
    assert Asker(reading).get("/status")


@pytest.mark.parametrize("wrong", ["", "slt_", "slt_" + "0" * 12 + "_" + "A" * 43, "x" * 5000, "slt_é", "Bearer"])
def test_what_is_no_token_opens_nothing(ann, wrong):
    token(ann)
    assert Asker(wrong)("GET", "/status").status_code == 401


def test_another_secret_behind_a_known_name_opens_nothing(ann):
    text = token(ann)
    assert Asker(text[:-1] + ("A" if text[-1] != "A" else "B"))("GET", "/status").status_code == 401


def test_when_it_was_used_last_is_known_to_the_minute(ann):
    asks = Asker(token(ann))
    assert Token.objects.get().last_used_at is None
    asks.get("/status")
    first = Token.objects.get().last_used_at
    asks.get("/status")
    assert Token.objects.get().last_used_at == first


def test_one_token_that_asks_too_often_waits_and_others_do_not(ann, bob, settings):
    settings.API_PER_MINUTE = 3
    asks, other = Asker(token(ann)), Asker(token(bob))
    answers = [asks("GET", "/status") for _ in range(8)]
    late = answers[-1]
    assert (late.status_code, late.json()["type"]) == (429, "urn:slotlight:too-many")
    assert 1 <= int(late.headers["Retry-After"]) <= 60
    assert other("GET", "/status").status_code == 200


def test_without_valkey_nobody_is_turned_away(ann, monkeypatch):
    import redis

    def gone():
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(rate, "valkey", gone)
    assert Asker(token(ann)).get("/status")


def test_nobody_hoards_them(ann):
    for _ in range(tokens.OPEN_MAX):
        token(ann)
    with pytest.raises(tokens.NotMade, match="Revoke those"):
        token(ann)
