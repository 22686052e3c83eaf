"""Makes the fixtures beside this file, with the code of commit 29e7ff0. README.md says how it is run.

One run of the incident is walked to its end on the demo's node, so that all four fixtures tell of the same run.
"""

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.hashers import make_password
from django.test import override_settings
from django.utils import timezone

from app.accounts.models import Team
from app.api import tokens
from app.ledger import checkpoints, services
from app.ledger.bundle import bundle
from app.runs import services as runs
from app.runs.tests.cast import Oss01, act, person, walk_to
from tests.ground import SECRET
from workflows.engine import events as ev

KEPT = Path(os.environ["FIXTURES"])
PASSWORDS = {"ann": "a calm night at the rack", "bob": "two people for each command", "eve": "keeps the list of people"}
ROLES = {"ann": "operator", "bob": "approver", "eve": "admin"}


@pytest.fixture
def files(tmp_path, settings):
    """The keys of the installation. Nothing signs with them again but a test."""
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "ledger.key"
    return tmp_path


def test_make(ground, committed_db, files, monkeypatch):
    monkeypatch.setattr(services.well, "until", 0.0, raising=False)
    people = {name: person(name, role) for name, role in ROLES.items()}
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"]):
        for name, user in people.items():
            user.password = make_password(PASSWORDS[name])
            user.save()
    team = Team.objects.create(name="Storage on call")
    people["ann"].memberships.create(role="viewer", team=team)
    _, token = tokens.make(people["ann"], "scripts", ["read"], timedelta(days=3650), timezone.now())
    oss01 = Oss01(files)
    oss01.report()
    run = walked(oss01, people)
    checkpoints.number_waiting()
    write(ground, committed_db, files, run, token)


def walked(oss01, people):
    run = walk_to("replace", oss01, people["ann"], people["bob"])
    act(run, ev.ExecuteAsked, people["ann"])
    assert oss01.work() == 1
    time.sleep(0.5)
    oss01.report()
    runs.advance_from_facts("oss01")
    oss01.work()
    run.refresh_from_db()
    assert run.status == "done", run.here.verdicts
    oss01.journal.close()
    return run


def write(ground, database, files, run, token):
    (KEPT / "run.zip").write_bytes(bundle(run.pk, "ann"))
    for name in ("ledger.key", "order.key"):
        shutil.copy(files / name, KEPT / name)
    shutil.copy(files / "policy.json", KEPT / "policy.json")
    with sqlite3.connect(files / "journal.sqlite") as journal:  # one file, without what stands in its write-ahead log
        (KEPT / "journal.sqlite").unlink(missing_ok=True)
        journal.execute("VACUUM INTO ?", (str(KEPT / "journal.sqlite"),))
    (KEPT / "said.json").write_text(json.dumps(told(run, token), indent=1) + "\n")
    dump = subprocess.run(
        [ground.postgres.bin / "pg_dump", "--quote-all-identifiers", "--dbname", ground.postgres.url("postgres", SECRET, database)],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    (KEPT / "database.sql.gz").write_bytes(gzip.compress(dump, 9, mtime=0))


def told(run, token):
    """What a test needs to know beforehand."""
    return {"run": run.pk, "token": token, "people": PASSWORDS, "roles": ROLES, "ledger_key": services.public_keys()["log_key"]}
