"""Copies of a postmortem: each opens, says the same, carries no markup of a node, and is recorded with its digest."""

import json
from hashlib import sha256

import pytest
from django.urls import reverse

from app.ledger.models import LedgerEvent
from app.postmortems import export, pdf, services

pytestmark = pytest.mark.django_db
ODD = "Ärger mit │ └─ 磁盘 диск \U0001f4a5 <b>&"


@pytest.fixture
def written(story, ann, bob):
    services.edit(ann, story.pk, 0, {"happened": f"{ODD}\n\nA second paragraph.", "actions": "- @bob labels the bays until Friday"})
    services.comment(bob, story, f"Seen. {ODD}")
    story.refresh_from_db()
    return story


@pytest.mark.parametrize(("form", "begins"), [("markdown", b"# Postmortem: A bay swapped"), ("json", b"{"), ("pdf", b"%PDF-")])
def test_a_copy_is_taken_and_recorded(client, written, bob, form, begins):
    client.force_login(bob)
    answer = client.get(reverse("postmortem-export", args=[written.pk, form]))
    assert answer.status_code == 200
    assert answer.content.startswith(begins)
    assert f'filename="slotlight-postmortem-{written.pk}.' in answer["Content-Disposition"]
    event = LedgerEvent.objects.get(type="postmortem.exported")
    assert (event.actor, event.parsed["body"]["form"]) == ("bob", form)
    assert event.parsed["body"]["copy"] == sha256(answer.content).hexdigest()


def test_another_form_is_not_found(client, written, bob):
    client.force_login(bob)
    assert client.get(reverse("postmortem-export", args=[written.pk, "docx"])).status_code == 404


def copies(written):
    text, comments = services.text(written), list(written.comments.select_related("by"))
    return written, text, comments


def test_the_json_is_as_documented(written):
    answer = json.loads(export.as_json(*copies(written)))
    assert set(answer) == {"shape", "postmortem", "title", "begun", "narrative", "comments", "collected", "collected_digest"}
    assert set(answer["collected"]) == {"shape", "collected_at", "since", "until", "nodes", "runs", "timeline", "states", "clocks", "gaps"}
    assert set(answer["collected"]["timeline"][0]) == {"at", "source", "text", "node", "clock", "event", "digest", "run", "count", "until"}
    assert answer["narrative"]["sections"][0]["markdown"].startswith(ODD)


def test_nothing_a_node_said_is_markup_in_the_markdown(written):
    written.collected["timeline"][0]["text"] = "a | b\n# c `d` <script>"
    written.collected["states"][0]["before"]["lines"] = ["```", "  pool: x"]
    made = export.markdown(*copies(written)).decode()
    assert "| a \\| b \\# c \\`d\\` \\<script\\> |" in made
    assert "````\n```\n  pool: x\n````" in made


@pytest.mark.parametrize("fonts", [pdf.FONTS, ()], ids=["the machine's fonts", "no fonts"])
def test_no_letter_breaks_the_pdf(written, monkeypatch, fonts):
    monkeypatch.setattr(pdf, "FONTS", fonts)
    made = pdf.pdf(*copies(written))
    assert made.startswith(b"%PDF-")
    assert made.rstrip().endswith(b"%%EOF")
    assert made.count(b"/Type /Page\n") >= 3


def test_a_letter_the_font_lacks_is_written_and_said(written, monkeypatch):
    monkeypatch.setattr(pdf, "FONTS", ())
    paper = pdf._Paper(written, lacking=False)
    assert paper.fit("a│磁") == "aU+2502U+78C1"
    assert paper.lacks
    assert paper.fit("ok\n") == "ok\n"


def test_the_bundles_of_its_runs_are_offered(client, written, ann):
    client.force_login(ann)
    page = client.get(written.get_absolute_url()).content.decode()
    [run] = written.collected["runs"]
    assert reverse("run-bundle", args=[run["run"]]) in page
