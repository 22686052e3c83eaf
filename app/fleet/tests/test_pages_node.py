"""Pages about nodes: at once what stands in rows, and the rest when it is read; whole wherever it can be, and without scripts."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from app.accounts.models import User
from app.fleet import generated, services
from app.fleet.ingest import intake
from app.fleet.models import NOW, PoolNow, Sighting
from app.fleet.tests.cast import collect, node, payload

pytestmark = pytest.mark.django_db
TABLE = "Disk (LU WWID)"


@pytest.fixture
def client():
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    return client


@pytest.fixture
def oss01(twins):
    node("oss01")
    assert intake.receive("oss01", payload("oss01", collect(twins["oss01"])), timezone.now()) == []


def text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_node_that_this_process_has_not_read_shows_its_rows_and_asks_for_the_rest(oss01, client):
    services.forget()
    with CaptureQueriesContext(connection) as asked:
        top = text(client.get("/nodes/oss01/"))
    assert not [query for query in asked if "ledger_blob" in query["sql"]]  # nothing it said was read
    assert "ost_0 lost the member" in top
    assert "survives the loss of 1 more disk" in top
    assert 'href="/nodes/oss01/pools/ost_0/"' in top
    assert 'hx-trigger="load, ' in top
    assert 'href="/nodes/oss01/?whole=1"' in top  # without scripts
    assert TABLE not in top
    rest = text(client.get("/nodes/oss01/", headers={"HX-Request": "true"}))
    assert TABLE in rest
    assert "<html" not in rest


def test_a_node_that_was_read_comes_whole_and_so_does_one_that_is_asked_for_whole(oss01, client):
    services.forget()
    assert TABLE in text(client.get("/nodes/oss01/?whole=1"))
    assert TABLE in text(client.get("/nodes/oss01/"))


def test_a_node_that_never_reported_has_nothing_to_be_read(client):
    node("waiting")
    page = text(client.get("/nodes/waiting/"))
    assert "has not reported yet" in page
    assert "is being read" not in page


@pytest.fixture
def place(oss01):
    return Sighting.objects.filter(NOW, pool="ost_0").exclude(enclosure_id="").select_related("disk").first()


@pytest.fixture
def addresses(place):
    """Each page, what its top says, and what only the whole page says."""
    return {
        "/nodes/oss01/pools/ost_0/": ("survives the loss of 1 more disk", "If it is lost too"),
        place.disk.get_absolute_url(): (f"bay {place.slot} of {place.enclosure_id}", "Sources"),
        f"/nodes/oss01/enclosures/{place.enclosure_id}/?tint=pool": (" seen in it", "Bays as a table"),
    }


def test_pages_of_things_that_this_process_has_not_read_show_their_rows_and_ask_for_the_rest(addresses, client):
    for address, (first, later) in addresses.items():
        services.forget()
        with CaptureQueriesContext(connection) as asked:
            top = text(client.get(address))
        assert not [query for query in asked if "ledger_blob" in query["sql"]], address
        assert first in top, address
        assert f'hx-get="{address}" hx-trigger="load, ' in top, address
        assert "The report of oss01 is being read." in top, address
        assert later not in top, address
        rest = text(client.get(address, headers={"HX-Request": "true"}))
        assert later in rest, address
        assert "<html" not in rest, address
        assert later in text(client.get(address)), address  # it is read now


def test_without_scripts_such_a_page_leads_to_the_whole_of_it(addresses, client):
    for address, (_, later) in addresses.items():
        services.forget()
        whole = f"{address}{'&amp;' if '?' in address else '?'}whole=1"
        assert f'href="{whole}"' in text(client.get(address)), address
        assert later in text(client.get(whole.replace("&amp;", "&"))), address


def test_a_top_that_has_no_row_is_none(place, client):
    services.forget()
    assert client.get(f"/nodes/oss01/enclosures/{place.enclosure_id[:-1]}0/").status_code == 404
    services.forget()
    assert client.get("/nodes/oss01/pools/nowhere/").status_code == 404
    services.forget()
    PoolNow.objects.all().delete()
    assert "If it is lost too" in text(client.get("/nodes/oss01/pools/ost_0/"))


def test_a_disk_on_a_shelf_of_two_is_whole_only_when_both_are_read(client):
    generated.load((14, 15), 20)
    shared = Sighting.objects.filter(NOW, node__name="load0014", disk__sightings__node__name="load0015").first().disk
    services.forget()
    client.get("/nodes/load0014/?whole=1")
    services._parsed.pop("load0015")
    top = text(client.get(shared.get_absolute_url()))
    assert "The report of load0014 and load0015 is being read." in top
    assert "Sources" in text(client.get(f"{shared.get_absolute_url()}?whole=1"))


def test_a_node_whose_disks_are_not_known_shows_no_count_of_them(twins, client):
    """ "Disks 0" stood there, and a sentence with its full stop inside the line of releases."""
    node("oss01")
    unread = [
        replace(each, outcome="failed", text="", reason="It was not asked.") if each.source in ("block", "node") else each
        for each in collect(twins["oss01"])
    ]
    assert intake.receive("oss01", payload("oss01", unread), timezone.now()) == []
    page = text(client.get("/nodes/oss01/?whole=1"))
    assert "<h2>Disks</h2>" in page
    assert "OpenZFS not known, module not known" in page
