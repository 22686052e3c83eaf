"""Who looked at which evidence is on the record, whichever page showed it: its digest, and once an hour."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.urls import reverse

from app.accounts.models import User
from app.api.tests.cast import token
from app.core.permissions_by_route import EVIDENCE, ROUTES
from app.ledger import looking
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.postmortems import services as postmortems
from app.runs import services
from app.runs.ordering import orders
from app.runs.tests.cast import Oss01, incident, person
from tests.test_architecture import imports, sources

# Who may touch kept bytes at all, and why that shows nobody evidence without a record of it.
READERS = {
    "app/ledger/views.py": "the page of one piece of evidence records the look",
    "app/api/ledger.py": "the API's way to one piece of evidence records the look",
    "app/ledger/bundle.py": "taking a bundle is an event of the run",
    "app/postmortems/captures.py": "reads captures into a timeline; its page and its copies are events",
    "app/runs/pages/look_again.py": "counts which captures of an answer failed, and shows none",
    "app/runs/pages/run_page.py": "the answer to a look; its view records it",
    "app/fleet/services.py": "reads captures into facts",
    "app/ledger/audit.py": "hashes them",
    "app/ledger/redact.py": "erases them",
    "app/ledger/services.py": "keeps and gives them",
    "app/ledger/models.py": "says what they are",
    "app/ledger/grants.py": "says who may write them",
}
HANDLES = ("app.ledger.services.blob", "app.ledger.models.Blob")


@pytest.fixture
def seen(committed_db, tmp_path, settings, client):
    """ann at her browser, a node that has answered a look, and every path that shows evidence of it."""
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "ledger.key"
    node, ann = Oss01(tmp_path), person("ann", "operator")
    node.report()
    order = services.look(ann, "oss01", ("zpool_status",))
    node.work()
    order.refresh_from_db()
    [digest] = [capture["digest"] for capture in order.receipt["captures"]]
    ledger.record("run.started", {"capture": digest}, "ann", run="7")
    story = postmortems.begin(ann, "Seen", [], incident())
    client.force_login(person("eve", "operator"))
    return {
        "ledger-blob": (digest, lambda: client.get(reverse("ledger-blob", args=[digest]))),
        "ledger-evidence": (digest, lambda: client.get(reverse("ledger-evidence", args=[digest]))),
        "look-answer": (order.receipt_digest, lambda: client.get(reverse("look-answer", args=[order.pk]))),
        "look": (order.receipt_digest, lambda: _answered(client, node)),
        "api-evidence": (digest, lambda: client.get(reverse("api:api-evidence", args=[digest]), headers=_token_of_eve())),
        "api-run-bundle": (None, lambda: client.get(reverse("api:api-run-bundle", args=["7"]), headers=_token_of_eve())),
        "postmortem": (None, lambda: client.get(story.get_absolute_url())),
        "postmortem-export": (None, lambda: client.get(reverse("postmortem-export", args=[story.pk, "json"]))),
        "run-bundle": (None, lambda: client.get(reverse("run-bundle", args=["7"]))),
    }


def _token_of_eve():
    return {"Authorization": f"Bearer {token(User.objects.get(username='eve'))}"}


def _answered(client, node):
    """The page that was loaded again after its node answered shows what `look-answer` shows."""
    asked = client.post(reverse("look", args=["oss01"]), {"source": "zpool_status"})
    node.work()
    return client.get(asked.headers["Location"])


def looks() -> list[LedgerEvent]:
    return list(LedgerEvent.objects.filter(type__in=set(EVIDENCE.values()), actor="eve").order_by("id"))


def test_the_routes_that_show_evidence_are_those_of_the_portal(seen):
    assert set(EVIDENCE) <= set(ROUTES)
    assert set(seen) == set(EVIDENCE)


@pytest.mark.parametrize("route", sorted(EVIDENCE))
def test_whoever_is_shown_evidence_is_on_the_record(seen, route):
    digest, opened = seen[route]
    assert opened().status_code == 200
    [look] = looks()
    assert look.type == EVIDENCE[route]
    if route in ("ledger-blob", "ledger-evidence", "look-answer", "api-evidence"):
        assert look.parsed["body"] == {"digest": digest}, "the digest and nothing else"


@pytest.mark.parametrize("route", ["ledger-blob", "ledger-evidence", "look-answer", "api-evidence"])
def test_opened_again_and_again_it_is_one_event(seen, route):
    for _ in range(5):
        seen[route][1]()
    assert len(looks()) == 1


def test_who_asked_is_on_the_record_by_asking_and_an_hour_later_by_looking(committed_db, tmp_path, client, monkeypatch):
    node, eve = Oss01(tmp_path), person("eve", "operator")
    node.report()
    client.force_login(eve)
    order = services.look(eve, "oss01", ("zpool_status",))
    node.work()
    assert client.get(reverse("look-answer", args=[order.pk])).status_code == 200
    assert [event.type for event in looks()] == ["order.sealed"]
    monkeypatch.setattr(looking, "ONCE_PER", timedelta(0))
    client.get(reverse("look-answer", args=[order.pk]))
    assert [event.type for event in looks()] == ["order.sealed", looking.LOOKED]


def test_who_asked_while_the_ledger_took_nothing_is_recorded_for_looking(committed_db, tmp_path, client, monkeypatch):
    node, eve = Oss01(tmp_path), person("eve", "operator")
    node.report()
    client.force_login(eve)
    with monkeypatch.context() as down:
        down.setattr(services, "ledger_is_well", lambda: False)
        order = services.look(eve, "oss01", ("zpool_status",))
    node.work()
    assert client.get(reverse("look-answer", args=[order.pk])).status_code == 200
    assert [event.type for event in looks()] == [looking.LOOKED]


def test_a_look_that_is_still_out_shows_nothing_and_records_nothing(committed_db, tmp_path, client):
    node, eve = Oss01(tmp_path), person("eve", "operator")
    node.report()
    client.force_login(eve)
    order = services.look(eve, "oss01", ("zpool_status",))
    assert client.get(reverse("look-answer", args=[order.pk])).status_code == 200
    assert not LedgerEvent.objects.filter(type=looking.LOOKED).exists()


def test_nobody_else_reads_kept_bytes():
    """A new page that shows evidence has to be named above, and to record the look."""
    found = {str(path) for path in sources("app") for name, _ in imports(path) if name in HANDLES}
    found |= {str(path) for path in sources("app") if "ledger.blob(" in path.read_text() or "ledger_blob" in path.read_text()}
    assert {path for path in found if "/migrations/" not in path} == set(READERS)


def test_a_question_that_another_poll_takes_in_this_moment_is_handed_over_all_the_same(committed_db, tmp_path):
    """That poll's node may have hung up, and the next one would not look again before it is rung."""
    node, ann = Oss01(tmp_path), person("ann", "operator")
    node.report()
    order = services.look(ann, "oss01", ("zpool_status",))
    lines = []
    poll = threading.Thread(target=lambda: (lines.extend(orders.next_for("oss01")), connection.close()))
    with transaction.atomic():
        assert len(orders.next_for("oss01")) == 1
        poll.start()
        poll.join(0.5)
        assert poll.is_alive(), "it waits for the other one"
    poll.join(10)
    assert [offer["digest"] for offer in lines] == [order.digest]
