"""The ledger's pages, as the app role sees them after real commits."""

import io
import re
import zipfile
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from app.ledger import notes, verify
from app.ledger.models import LedgerEvent
from app.ledger.services import record
from app.ledger.views import short


@pytest.fixture
def ann(cast) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_user("ann"))
    return client


def text(response) -> str:
    return response.content.decode()


@pytest.mark.parametrize("name", ["ledger", "ledger-event", "ledger-blob", "run-bundle"])
def test_it_asks_for_a_sign_in(cast, name):
    arguments = {"ledger": (), "ledger-event": (1,), "ledger-blob": ("0" * 64,), "run-bundle": ("7",)}[name]
    answer = Client().get(reverse(name, args=arguments))
    assert (answer.status_code, answer.url.split("?")[0]) == (302, reverse("sign-in"))
    assert LedgerEvent.objects.count() == 6


def test_it_lists_the_newest_first_and_says_how_far_it_is_signed(ann):
    page = text(ann.get(reverse("ledger"))).partition("<tbody>")[2]
    assert page.index("run.closed") < page.index("order.receipt") < page.index("node.enrolled")
    assert page.count(">signed<") == 6
    assert "signed up to event 6" in text(ann.get(reverse("ledger")))


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("q=14718944552882581455", 1),
        ("q=OST_", 2),
        ("actor=BOB", 3),
        ("type=run.", 4),
        ("run=7", 3),
        ("node=oss02", 2),
        ("q=ost_0&actor=bob", 0),
    ],
)
def test_it_finds_by(ann, query, count):
    assert text(ann.get(f"{reverse('ledger')}?{query}")).count("<time ") == count


def test_it_turns_pages(ann, monkeypatch):
    monkeypatch.setattr("app.ledger.search.PAGE", 3)
    first = text(ann.get(f"{reverse('ledger')}?type=run."))
    assert first.count("<time ") == 3
    assert "?type=run.&amp;before=3" in first
    second = text(ann.get(f"{reverse('ledger')}?type=run.&before=3"))
    assert second.count("<time ") == 1
    assert "Older" not in second
    assert "Newest" in second


@pytest.mark.parametrize("before", ["", "-1", "x", "9" * 30, "²", "%00"])
def test_it_takes_any_page_number(ann, before):
    assert ann.get(f"{reverse('ledger')}?before={before}&q=%00").status_code == 200


def test_it_gives_htmx_the_list_alone(ann):
    partial = text(ann.get(reverse("ledger"), headers={"HX-Request": "true"}))
    assert "<html" not in partial
    assert 'id="ledger-events"' in partial


def test_it_shows_one_event_with_its_bytes_and_its_evidence(ann):
    event = LedgerEvent.objects.get(type="run.started", run="7")
    page = text(ann.get(reverse("ledger-event", args=[event.pk])))
    digest = event.parsed["evidence"][0]
    assert f"{reverse('ledger-evidence', args=[digest])}?event={event.pk}" in page
    assert event.leaf.hex() in page
    assert "&quot;pool_guid&quot;:&quot;14718944552882581455&quot;" in page
    evidence = ann.get(reverse("ledger-blob", args=[digest]))
    assert (evidence.content, evidence["Content-Type"]) == (b"  pool: ost_0\n state: DEGRADED\n", "text/plain; charset=utf-8")
    assert ann.get(reverse("ledger-event", args=[99])).status_code == 404


def test_it_never_gives_a_browser_evidence_to_run(ann, cast):
    for media in ("text/html", "image/svg+xml", "application/octet-stream"):
        answer = ann.get(reverse("ledger-blob", args=[cast.keep(f"<script>{media}".encode(), media)]))
        assert answer["Content-Type"] in ("text/plain; charset=utf-8", "application/octet-stream")
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_download_verifies_and_says_who_took_it(ann):
    answer = ann.get(reverse("run-bundle", args=["7"]))
    assert answer["Content-Disposition"] == 'attachment; filename="slotlight-run-7.zip"'
    report = verify.Report()
    verify.check(verify.unpack(answer.content, report), verify.Pins(notes.signer().fingerprint), report)
    assert report.exit_code == 0
    assert b'"actor":"ann"' in zipfile.ZipFile(io.BytesIO(answer.content)).read("events.jsonl").splitlines()[-1]
    assert ann.get(reverse("run-bundle", args=["99"])).status_code == 404


def test_a_bundle_that_cannot_be_signed_says_why(ann):
    notes.key_path().unlink()
    answer = ann.get(reverse("run-bundle", args=["7"]))
    assert answer.status_code == 503
    assert "is gone" in text(answer)


def test_reports_of_nodes_do_not_drown_what_people_did(ann, cast):
    for number in range(30):
        record("report.changed", {"set": f"set {number}"}, f"node:oss0{number % 2 + 1}", node=f"oss0{number % 2 + 1}")
    cast.record("run.started", {"pool": "ost_3"}, "bob", run="9", node="oss02")
    page = " ".join(text(ann.get(reverse("ledger"))).split())
    assert '<span class="sl-chip">30 in a row</span> <span class="sl-muted">events 8 to 37, by node:oss02, node:oss01</span>' in page
    assert page.count("<time ") == 9, "seven events, one line for the reports, one after them"
    assert page.count('id="folded-') == 20
    assert "set 29" in page
    assert "set 5" not in page
    [every] = re.findall(r'href="([^"]+)">All 30, one by one', page)
    flat = text(ann.get(unescape(every)))
    assert flat.count("<time ") == 37, "nothing is left out"
    assert "in a row" not in flat


def test_a_few_alike_stay_apart_and_what_lies_between_divides(ann):
    for kind in ("report.changed", "report.changed", "run.note", "report.changed", "report.changed"):
        record(kind, {}, "node:oss01", node="oss01")
    page = text(ann.get(reverse("ledger")))
    assert "in a row" not in page
    assert page.count("<time ") == 12


def test_pages_of_folded_lines_miss_nothing(ann, monkeypatch):
    monkeypatch.setattr("app.ledger.search.PAGE", 2)
    monkeypatch.setattr("app.ledger.search.SCANNED", 5)
    for _ in range(9):
        record("report.changed", {}, "node:oss01", node="oss01")
    seen, where = [], ""
    for _ in range(20):
        page = text(ann.get(f"{reverse('ledger')}{where}"))
        for newest, oldest in re.findall(r'id="event-(\d+)">\s*<td class="num" data-label="event"><a href="/ledger/(?:\d+)/">(\d+)', page):
            seen += range(int(newest), int(oldest) + 1)
        older = re.search(r'href="/ledger/([^"]*)"[^>]*>Older', page)
        if not older:
            break
        where = unescape(older[1])
    assert sorted(seen) == list(range(1, 17))


@pytest.mark.parametrize(
    ("given", "rest"), [("ann asked oss10", "node oss1"), ("ann asked oss1", ""), ("oss1, ann", ""), ("", "node oss1")]
)
def test_it_leaves_out_only_what_was_said_in_whole_words(given, rest):
    assert short({"node": "oss1", "count": 3, "empty": ""}, given) == rest


def test_the_fingerprint_that_an_export_is_checked_with_stands_on_the_page(ann, capsys):
    record("run.started", {"runbook": "x"}, "ann")
    shown = text(ann.get(reverse("ledger")))
    assert 'id="ledger-key"' in shown
    if notes.key_path().exists():
        assert notes.signer().fingerprint in shown
    verify.show(verify.Report())
    output = capsys.readouterr().out
    assert "KEY NOT PINNED" in output
    assert "page Ledger" in output
