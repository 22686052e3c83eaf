"""Bringing through the API: the archive is the body, a token with the scope operate brings it, and a refusal says what to do."""

import time

import pytest
from django.test import Client

from app.api.scopes import OPERATE, READ
from app.api.tests.cast import token
from app.fleet.models import Node
from app.ledger.models import LedgerEvent
from app.runs.tests.cast import person
from app.snapshots.tests.test_bringing import STATUS, archive_of
from twin import scenarios

pytestmark = pytest.mark.django_db


def post(text, data, query=""):
    headers = {"Authorization": f"Bearer {text}"}
    return Client().post(f"/api/v1/snapshots{query}", data, content_type="application/octet-stream", headers=headers)


def test_a_token_that_operates_brings_a_host(tmp_path):
    answer = post(token(person("ann", "operator"), OPERATE), archive_of(scenarios.tiny(), tmp_path))
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert (found["node"], found["form"], found["is_new"]) == ("oss01", "slotlight-collect", True)
    assert "zpool status" in found["holds"]
    assert Node.objects.get().is_brought
    used = LedgerEvent.objects.get(type="token.used")
    assert (used.parsed["body"]["act"], used.node) == ("snapshot", "oss01")


def test_the_same_archive_again_is_no_second_event(tmp_path):
    text, data = token(person("ann", "operator"), OPERATE), archive_of(scenarios.tiny(), tmp_path)
    assert post(text, data).status_code == 200
    assert post(text, data).json()["is_new"] is False
    assert LedgerEvent.objects.filter(type="snapshot.brought").count() == 1


def test_what_is_not_taken_says_why_and_stores_nothing(tmp_path):
    text = token(person("ann", "operator"), OPERATE)
    for data, words in ((b"", "empty"), (b"help me\n", "could be read"), (STATUS, "names the host")):
        answer = post(text, data)
        assert answer.status_code == 422, answer.content
        assert answer.json()["type"] == "urn:slotlight:not-taken"
        assert words in answer.json()["detail"]
    assert not Node.objects.exists()


def test_a_text_without_a_time_is_taken_when_somebody_says_its_time():
    text = token(person("ann", "operator"), OPERATE)
    assert "when it was taken" in post(text, STATUS, "?host=oss07").json()["detail"]
    assert post(text, STATUS, "?host=oss07&taken_at=2026-01-01T00:00:00").status_code == 422
    answer = post(text, STATUS, "?host=oss07&taken_at=2026-01-01T00:00:00Z")
    assert answer.status_code == 200, answer.content
    assert answer.json()["taken_at"].startswith("2026-01-01T00:00:00")


def test_who_may_not_bring_it_brings_nothing(tmp_path):
    data = archive_of(scenarios.tiny(), tmp_path, at=time.time())
    assert post(token(person("ann", "operator"), READ), data).status_code == 403
    assert post(token(person("vera", "viewer"), OPERATE), data).status_code == 403
    assert not Node.objects.exists()
