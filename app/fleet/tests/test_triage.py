"""The triage page: outputs in, situations out, nothing kept."""

import threading

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

import confined
from agents.tests.scenarios import step
from app.fleet import triage_process
from app.fleet.models import Node, Situation
from app.fleet.pages import triage as view
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.runs.tests.cast import person

STATUS = step("disk-removed/2-removed") / "zpool-status-P.txt"


@pytest.fixture
def reader(client, db):
    client.force_login(get_user_model().objects.create_user("reader"))
    return client


def test_it_asks_for_a_sign_in(client, db):
    assert client.get(reverse("triage")).status_code == 302


def test_a_pasted_status_shows_its_situation_and_leaves_nothing_behind(reader):
    answer = reader.post(reverse("triage"), {"text": STATUS.read_text()})
    assert answer.status_code == 200
    assert "is REMOVED" in answer.content.decode()
    assert not Node.objects.exists()
    assert not Situation.objects.exists()


def test_files_are_read_too(reader):
    answer = reader.post(reverse("triage"), {"files": [SimpleUploadedFile("status.txt", STATUS.read_bytes())]})
    page = answer.content.decode()
    assert "status.txt" in page
    assert "is REMOVED" in page


def test_nothing_given_is_said_and_what_was_typed_stays(reader):
    answer = reader.post(reverse("triage"), {"text": "  \n"})
    assert answer.status_code == 422
    assert "There is nothing to read yet" in answer.content.decode()


def test_a_text_nobody_can_read_is_said_so_and_stays_in_the_form(reader):
    page = reader.post(reverse("triage"), {"text": "it is broken, help"}).content.decode()
    assert "Nothing of this could be read" in page
    assert "it is broken, help</textarea>" in page


def test_markup_in_an_output_stays_text(reader):
    page = reader.post(reverse("triage"), {"text": STATUS.read_text().replace("raidz2-0", "<script>alert(1)</script>")}).content.decode()
    assert "<script>alert(1)" not in page


def test_it_shows_the_lines_the_manuals_and_what_to_run_next(reader):
    page = reader.post(reverse("triage"), {"text": STATUS.read_text()}).content.decode()
    assert 'class="hit"' in page
    assert reverse("runbook", args=["wwid-mismatch-replace"]) in page
    assert "<code data-copy>lsscsi -i -g -s</code>" in page
    assert not LedgerEvent.objects.exclude(type__startswith="person.").exists()


def test_it_is_kept_when_somebody_who_may_asks_for_it(reader, client):
    answer = reader.post(reverse("triage"), {"text": STATUS.read_text(), "keep": "1"})
    assert "Nothing was kept." in answer.content.decode()
    client.force_login(person("ann", "operator"))
    page = client.post(reverse("triage"), {"text": STATUS.read_text(), "keep": "1"}).content.decode()
    [event] = LedgerEvent.objects.filter(type="triage.kept")
    [digest] = event.parsed["evidence"]
    assert event.actor == "ann"
    assert ledger.blob(digest).decode().replace("\r\n", "\n").strip() == STATUS.read_text().strip()
    assert reverse("ledger-evidence", args=[digest]) in page


def test_a_third_reader_is_told_to_wait_and_loses_nothing(reader, monkeypatch):
    monkeypatch.setattr(triage_process, "_free", threading.BoundedSemaphore(1))
    with triage_process._free:
        answer = reader.post(reverse("triage"), {"text": "zpool status of mine"})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "send it again" in answer.content.decode()
    assert "zpool status of mine</textarea>" in answer.content.decode()


def test_a_text_that_takes_too_long_is_stopped_in_words_and_stays_in_the_form(reader, monkeypatch):
    monkeypatch.setattr(confined, "WALL_SECONDS", 0)
    answer = reader.post(reverse("triage"), {"text": "zpool status of mine"})
    assert answer.status_code == 422
    assert "was stopped" in answer.content.decode()
    assert "zpool status of mine</textarea>" in answer.content.decode()


def test_text_and_files_have_one_limit_together(reader, monkeypatch):
    monkeypatch.setattr(view, "PASTE_BYTES_MAX", 1000)
    answer = reader.post(reverse("triage"), {"text": "x" * 600, "files": [SimpleUploadedFile("status.txt", b"x" * 600)]})
    assert answer.status_code == 422
    assert "more than" in answer.content.decode()


def test_five_megabytes_fit_the_form(reader):
    page = reader.post(reverse("triage"), {"text": STATUS.read_text() + "x" * 5_000_000})
    assert page.status_code == 200
    assert "is REMOVED" in page.content.decode()
