"""The triage page: outputs in, situations out, nothing kept."""

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from agents.tests.scenarios import step
from app.fleet.models import Node, Situation

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
