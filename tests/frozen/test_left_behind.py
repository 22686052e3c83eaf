"""What 29e7ff0 left behind opens, migrates and verifies with today's code."""

import base64
import json
import shutil
from hashlib import sha256
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from agents.operations import OPERATIONS
from agents.orders import policy
from agents.orders.journal import Journal
from agents.portal.wire import canonical
from app.ledger import verify
from tests.frozen.left_behind import FOLDER, RECORDED, keys_into, restored

RUN = str(RECORDED["run"])


# --- files


def test_the_export_is_whole_under_the_pinned_key_and_says_what_its_release_did_not_keep():
    """That release put no signatures of orders into the ledger, so they cannot be checked: exit code 3, and nothing is called wrong."""
    public = base64.b64decode(RECORDED["ledger_key"].rpartition("+")[2])[1:]
    pinned = verify.Pins(sha256(public).hexdigest(), run=RUN)
    report = verify.verify(FOLDER / "run.zip", pinned)
    assert (report.exit_code, report.tampered, report.broken, report.incomplete) == (3, [], [], [])
    assert len(report.unchecked) == 1
    assert all("was sealed by a release that kept no signature in the ledger" in sentence for sentence in report.unchecked)


def test_another_key_is_refused():
    report = verify.verify(FOLDER / "run.zip", verify.Pins(sha256(b"another").hexdigest(), run=RUN))
    assert report.exit_code == 1


def test_the_journal_opens_and_holds_the_orders_of_the_run(tmp_path):
    shutil.copy(FOLDER / "journal.sqlite", tmp_path / "journal.sqlite")
    journal = Journal(str(tmp_path / "journal.sqlite"))
    assert journal.trouble() == ""
    assert (journal.unfinished(), journal.unsent()) == ((), ())
    rows = journal._rows("SELECT order_id FROM orders ORDER BY order_id")
    (replaced,) = [
        entry for entry in (journal.find(order) for (order,) in rows) if json.loads(entry.canonical)["operation"] == "zpool_replace"
    ]
    found = json.loads(replaced.canonical)
    assert (replaced.phase, json.loads(replaced.receipt)["outcome"], found["run"]) == ("ACKED", "succeeded", RUN)
    assert canonical(found).decode() == replaced.canonical
    assert sha256(replaced.canonical.encode()).hexdigest() == replaced.digest
    assert list(OPERATIONS[found["operation"]].argv(found["params"])) == found["argv"]
    assert journal.fence(found["params"]["pool_guid"]) == int(found["fence"])


def test_the_policy_file_is_read(tmp_path):
    shutil.copy(FOLDER / "policy.json", tmp_path / "policy.json")
    (tmp_path / "policy.json").chmod(0o600)
    found = policy.load(str(tmp_path / "policy.json"))
    assert found.mode == "operate"
    assert found.refusal("zpool_replace", "at_most_once", {"pool_guid": "1"}) == ""
    assert found.refusal("zpool_offline", "at_most_once", {"pool_guid": "1"})


# --- the database


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return keys_into(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def migrated(ground, django_db_blocker, keys):
    """Migrated by its owner, and from then on seen by the role of the portal."""
    from django.conf import settings

    from app.core.database import point_at
    from conftest import SHARED_DATABASE

    if ground.external:
        pytest.skip("the dump names the roles of the tests' own server")
    before = settings.SLOTLIGHT_LEDGER_KEY
    with django_db_blocker.unblock(), restored(ground, f"{SHARED_DATABASE}_left_behind") as owner:
        settings.SLOTLIGHT_LEDGER_KEY = keys
        point_at(owner)
        call_command("migrate", verbosity=0, interactive=False)
        point_at(ground.url(f"{SHARED_DATABASE}_left_behind"))
        yield
        point_at(ground.url(SHARED_DATABASE))
        settings.SLOTLIGHT_LEDGER_KEY = before


@pytest.fixture(scope="module")
def taken_over(migrated, keys):
    """As `launcher/prepare.py` takes an installation over."""
    patch = pytest.MonkeyPatch()
    patch.setenv("SLOTLIGHT_IDENTITY_KEY", str(keys.with_name("identity.key")))
    out = StringIO()
    call_command("identity", "first", stdout=out)
    yield out.getvalue()
    patch.undo()


def test_the_first_start_takes_its_people_over_and_lists_them(taken_over):
    assert all(name in taken_over for name in RECORDED["people"])
    assert "rows about people are sealed" in taken_over


@pytest.mark.parametrize("name", RECORDED["people"])
def test_its_people_sign_in_and_have_their_rights(taken_over, client, settings, name):
    from app.accounts import rights
    from app.accounts.models import User

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    wrong = client.post(reverse("sign-in"), {"login": name, "password": "wrong"})
    right = client.post(reverse("sign-in"), {"login": name, "password": RECORDED["people"][name]})
    assert (wrong.status_code, right.status_code) == (200, 302)
    assert client.get("/").status_code == 200
    assert rights.may(User.objects.get(username=name), rights.OPERATE) == (RECORDED["roles"][name] != "admin")


def test_its_token_reads_through_the_api(taken_over, client):
    answer = client.get(f"/api/v1/runs/{RUN}", headers={"Authorization": f"Bearer {RECORDED['token']}"})
    assert (answer.status_code, answer.json()["status"]) == (200, "done")


def test_its_ledger_verifies_before_and_after_the_first_start(migrated, taken_over):
    from app.ledger.audit import audit

    found = audit()
    assert (found.exit_code, found.tampered, found.incomplete, found.unchecked) == (0, [], [], [])
    assert found.counts["events"] > 20


@pytest.mark.parametrize("path", ["/", "/nodes/oss01/", f"/runs/{RUN}/", "/ledger/", "/people/"])
def test_its_pages_are_shown(taken_over, client, path):
    from app.accounts.models import User

    client.force_login(User.objects.get(username="ann"), "django.contrib.auth.backends.ModelBackend")
    assert client.get(path, follow=True).status_code == 200
