"""A piece of evidence says which command said it, when, how it ended, and what is new in it."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from agents.collectors.base import Capture
from agents.portal.wire import canonical
from app.ledger import origins
from app.ledger.services import keep, record

STATUS = "  pool: ost_0\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME <b>x</b>\n"


def kept(text: str, **more) -> str:
    capture = Capture("zpool_status", "", more.pop("outcome", "data"), text, exit_code=0, **more)
    return keep(canonical(capture.body()), "application/json")


@pytest.fixture
def recorded(ledger):
    """oss01 said ONLINE, then DEGRADED among sets that were recorded together; oss02 said the first too."""
    first, second = kept(STATUS), kept(STATUS.replace("ONLINE", "DEGRADED"))
    record("report.changed", {"changed": {"zpool_status": first}, "between": []}, "node:oss01", node="oss01")
    record("report.changed", {"changed": {"zpool_status": first}, "between": []}, "node:oss02", node="oss02")
    between = [{"at": "2026-11-21T03:00:00.000000Z", "report": "", "changed": {"zpool_status": second}}]
    third = record("report.changed", {"changed": {"mounts": first}, "between": between}, "node:oss01", node="oss01")
    return first, second, third


@pytest.fixture
def ann(ledger) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_user("ann"))
    return client


def test_the_event_says_of_which_source_and_when(recorded):
    _, second, third = recorded
    [naming] = origins.named_by(second, third.pk)
    assert (naming.place, naming.at, naming.command) == ("zpool_status", "2026-11-21T03:00:00.000000Z", "zpool status -P -p")
    assert origins.before(naming, second)[0] == recorded[0]


def test_what_reports_brought_is_found_without_being_led_there(recorded):
    assert {(naming.event.node, naming.place) for naming in origins.named_by(recorded[0])} == {
        ("oss01", "zpool_status"),
        ("oss02", "zpool_status"),
        ("oss01", "mounts"),
    }


def test_it_is_found_after_somebody_looked_at_it_too(recorded, ann):
    for _ in range(2):
        page = ann.get(reverse("ledger-evidence", args=[recorded[1]])).content.decode()
        assert "oss01: zpool_status" in page


def test_the_page_shows_lines_and_what_changed(recorded, ann):
    page = ann.get(reverse("ledger-evidence", args=[recorded[1]]), {"event": recorded[2].pk}).content.decode()
    assert "oss01: zpool_status" in page
    assert '<span class="gone">- state: ONLINE</span>' in page
    assert '<span class="added">+ state: DEGRADED</span>' in page
    assert 'id="L2"' in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x</b>" not in page
    assert "<code data-copy>zpool status -P -p</code>" in page


def test_a_source_that_failed_says_how(ann):
    digest = kept("", outcome="failed", reason="zpool status: no answer after 20.0 s", stderr="cannot open\n")
    page = ann.get(reverse("ledger-evidence", args=[digest])).content.decode()
    assert "no answer after 20.0 s" in page
    assert "cannot open" in page
    assert "No event among the newest names it." in page


@pytest.mark.parametrize("data", [b"\x00\xff", b"not json", b"[]", b'{"a":1}'])
def test_what_is_no_capture_is_shown_as_it_is(ann, data):
    digest = keep(data, "text/plain")
    assert ann.get(reverse("ledger-evidence", args=[digest]), {"event": "9" * 30}).status_code == 200
    assert origins.capture(data) is None


def test_what_is_not_kept_is_not_found(ann):
    assert ann.get(reverse("ledger-evidence", args=["0" * 64])).status_code == 404


def test_too_much_is_not_compared():
    long = origins.Capture("x\n" * 6000, "data", "", "0", "")
    assert origins.difference(long, long) is None
