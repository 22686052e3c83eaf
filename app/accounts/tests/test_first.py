"""The first account is made at the console, and asks no less of its password than the pages do."""

import pytest
from django.core.management import CommandError, call_command

from app.accounts.models import User

pytestmark = pytest.mark.django_db


def make(monkeypatch, password, name="ada"):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", password)
    call_command("createsuperuser", "--noinput", "--username", name, "--email", "ada@example.org")


@pytest.mark.parametrize(("password", "why"), [("short", "too short"), ("sonyericsson", "too common"), ("ada-lovelace-1", "too similar")])
def test_a_weak_password_is_refused(password, why, monkeypatch):
    name = "ada-lovelace" if why == "too similar" else "ada"
    with pytest.raises(CommandError, match=why):
        make(monkeypatch, password, name)
    assert not User.objects.exists()


def test_a_good_one_makes_an_administrator(monkeypatch):
    make(monkeypatch, "four-words-of-her-own")
    person = User.objects.get()
    assert person.check_password("four-words-of-her-own")
    assert [held.role for held in person.memberships.all()] == ["admin"]
