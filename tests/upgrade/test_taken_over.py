"""The data of an older version is taken over without loss: its people sign in, its token opens, its team keeps its node, its ledger is whole.

`make.py` says how the data was made, with the code of that version.
"""

import tarfile
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import global_settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from app.accounts import believing, rights, seals
from app.accounts.models import Seal, User
from app.api import tokens
from app.core.database import point_at
from app.ledger.audit import audit
from app.ledger.models import LedgerEvent
from app.runs.models import Approval, Run
from tests.ground import SECRET
from tests.upgrade.make import PASSWORD

OLDER = Path(__file__).with_name("from-29e7ff0.tar.xz")
NAME = "slotlight_older"


@pytest.fixture
def older(ground, tmp_path, monkeypatch, settings, django_db_blocker):
    """The data of then, before anything of today has seen it."""
    if ground.external:
        pytest.skip("It needs a PostgreSQL server of its own.")
    with tarfile.open(OLDER) as packed:
        packed.extractall(tmp_path)  # made by ourselves
    for which in ("LEDGER", "ORDER", "NODES", "IDENTITY"):
        setattr(settings, f"SLOTLIGHT_{which}_KEY", str(tmp_path / f"{which.lower()}.key"))  # undone by pytest-django
    ground.drop(NAME)
    ground.postgres.psql(f'CREATE DATABASE "{NAME}" OWNER slotlight_owner TEMPLATE template0', SECRET)
    ground.postgres.psql((tmp_path / "dump.sql").read_text(), SECRET, NAME)
    ground.postgres.psql(f"UPDATE api_token SET expires_at = '{now() + timedelta(days=1)}';", SECRET, NAME)  # it was made for a month
    before = connection.settings_dict["NAME"]
    with django_db_blocker.unblock():
        yield tmp_path
        connection.close()
        point_at(ground.url(before))
    ground.drop(NAME)


def counted() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        return {name: cursor.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


def taken_over(ground) -> tuple[dict[str, int], str]:
    """As a start does it: migrated by its owner, then taken over by the portal's role. How many rows there were before, and what was said."""
    point_at(ground.url(NAME, "owner"))
    before = counted()
    call_command("migrate", verbosity=0, interactive=False)
    point_at(ground.url(NAME))
    out = StringIO()
    call_command("identity", "first", stdout=out)
    return before, out.getvalue()


def test_what_29e7ff0_left_is_taken_over_without_loss(older, ground, settings):
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS  # of then, and not the quick one of the tests
    before, answers = taken_over(ground)
    after = counted()
    assert {name: (count, after.get(name)) for name, count in before.items() if after.get(name, -1) < count} == {}, "nothing is lost"
    assert "of ann (role operator" in answers.replace("team_id 1, ", "")
    assert list(seals.faults()) == []

    ann, bob = User.objects.get(username="ann"), User.objects.get(username="bob")
    assert rights.may(ann, rights.OPERATE, "oss01")
    assert rights.may(bob, rights.APPROVE, "oss01")
    assert not rights.may(bob, rights.APPROVE), "a role in a team stays one"
    assert rights.may(User.objects.get(username="root"), rights.PEOPLE)
    assert (bob.factors, believing.why_not(bob)) == (1, "")
    client = Client()
    client.post("/sign-in/", {"login": "ann", "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(ann.pk)
    assert client.get("/").status_code == 200
    run = Run.objects.get()
    assert client.get(f"/runs/{run.pk}/").status_code == 200
    assert (run.step, seals.why_not(Approval, plan_id=run.here.plan_digest)) == ("replace", "")
    assert tokens.find((older / "token").read_text()).person == ann
    assert audit().exit_code == 0, "the ledger is whole, and signed with the key of then"

    assert LedgerEvent.objects.filter(type="identity.blessed").count() == 1
    sealed = Seal.objects.count()
    _before, again = taken_over(ground)
    assert (again, Seal.objects.count()) == ("", sealed), "once"
