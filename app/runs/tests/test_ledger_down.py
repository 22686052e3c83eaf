"""While the ledger cannot be written, looking goes on and nothing is changed."""

import pytest

from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Order, Run
from app.runs.ordering import orders
from app.runs.people import takeover
from app.runs.tests.cast import act, begin, incident, offers, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken(monkeypatch):
    """Call it to break the ledger."""

    def down(**_):
        raise ledger.LedgerDown("The ledger cannot be written, so nothing is changed: disk full.")

    def fails(*_, **__):
        raise AssertionError("nothing may be written to a ledger that is broken")

    def breaks():
        monkeypatch.setattr(ledger, "refuse_if_broken", down)
        monkeypatch.setattr(ledger, "record", fails)

    return breaks


def test_a_look_is_asked_and_answered(oss01, ann, broken):
    broken()
    events = LedgerEvent.objects.count()
    order = services.look(ann, "oss01", ("zpool_status",))
    assert oss01.work() == 1
    order.refresh_from_db()
    assert order.status == "SUCCEEDED"
    assert order.receipt["captures"]
    assert LedgerEvent.objects.count() == events


def test_nothing_is_begun_acted_or_taken_over(oss01, ann, bob, broken):
    run = walk_to("replace", oss01, ann, bob)
    broken()
    with pytest.raises(ledger.LedgerDown):
        act(run, ev.ExecuteAsked, ann)
    with pytest.raises(ledger.LedgerDown):
        begin(ann)
    with pytest.raises(ledger.LedgerDown):
        takeover.withdraw(run.pk, run.version, ann, "x")
    assert Run.objects.get().status == "open"


def test_no_order_is_offered_claimed_or_started(oss01, ann, bob, broken, monkeypatch):
    act(walk_to("replace", oss01, ann, bob), ev.ExecuteAsked, ann)
    order = Order.objects.get(operation="zpool_replace")
    broken()
    assert offers() == []
    for go in (orders.claim, orders.start):
        with pytest.raises(ledger.LedgerDown, match="cannot be written"):
            go("oss01", order.pk, order.digest)
    order.refresh_from_db()
    assert order.status == "SEALED"


def test_the_end_of_an_order_is_asked_for_again(oss01, ann, bob, broken):
    """The agent keeps its receipt until it is acknowledged."""
    act(walk_to("replace", oss01, ann, bob), ev.ExecuteAsked, ann)
    order = Order.objects.get(operation="zpool_replace")
    offers()
    orders.claim("oss01", order.pk, order.digest)
    orders.start("oss01", order.pk, order.digest)
    broken()
    with pytest.raises(ledger.LedgerDown):
        orders.receipt("oss01", order.pk, {"order": order.pk, "digest": order.digest, "outcome": "succeeded"})
    orders.sweep()
    order.refresh_from_db()
    assert (order.status, order.receipt) == ("STARTED", None)


def test_looks_that_were_not_answered_expire_all_the_same(oss01, ann, broken, monkeypatch):
    broken()
    order = services.look(ann, "oss01", ("block",))
    monkeypatch.setattr(orders.timezone, "now", lambda: order.expires_at)
    orders.sweep()
    order.refresh_from_db()
    assert order.status == "EXPIRED"


def test_a_refused_beginning_is_kept(oss01, ann):
    params = incident().data["answers"][0]["params"] | {"pool": "*"}
    with pytest.raises(services.RunRefused, match="wildcard"):
        services.start_run(ann, "wwid-mismatch-replace", params)
    assert not Run.objects.exists()
    assert "wildcard" in LedgerEvent.objects.get(type="run.start-refused").parsed["body"]["reason"]


def page(client, run) -> str:
    return " ".join(client.get(run.get_absolute_url()).content.decode().split())


def test_the_page_of_a_run_says_that_nothing_is_concluded_meanwhile(oss01, ann, bob, broken, client):
    """A command that fell silent is not called UNKNOWN while that could not be recorded; whoever waits for it must know."""
    client.force_login(ann)
    run = act(walk_to("replace", oss01, ann, bob), ev.ExecuteAsked, ann)
    order = Order.objects.get(operation="zpool_replace")
    offers()
    orders.claim("oss01", order.pk, order.digest)
    orders.start("oss01", order.pk, order.digest)
    order.refresh_from_db()
    assert "ledger-down" not in page(client, run)
    seen = client.get(run.get_absolute_url(), {"seen": "x"}).context["seen"]
    broken()
    shown = page(client, run)
    assert f"oss01 started the command at {order.started_at:%H:%M:%S} UTC" in shown
    assert "the order stays STARTED here and is not called UNKNOWN before then" in shown
    again = client.get(run.get_absolute_url(), {"seen": seen}, headers={"HX-Request": "true"})
    assert again.status_code == 200, "a page that is open hears of it"
    assert "ledger-down" in again.content.decode()


def test_the_page_of_a_run_without_a_command_says_only_that_nothing_is_changed(oss01, ann, broken, client):
    client.force_login(ann)
    run = begin(ann)
    broken()
    shown = page(client, run)
    assert "nothing is changed and no order leaves" in shown
    assert "UNKNOWN" not in shown


def test_the_page_of_an_ended_run_does_not_ask(oss01, ann, broken, client):
    client.force_login(ann)
    run = act(begin(ann), ev.Aborted, ann, reason="enough")
    broken()
    assert "ledger-down" not in page(client, run)
