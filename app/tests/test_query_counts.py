"""How many questions a page asks of the database does not depend on how large the fleet is."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from app.accounts.models import User
from app.fleet import generated, services
from app.fleet.models import Disk, PoolNow, Situation

pytestmark = pytest.mark.django_db
DISKS = 20
SMALL, LARGE = (1, 7), (1, 2, 3, 7, 57, 107)  # one sick node of two, three of six


@pytest.fixture
def client():
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    return client


def addresses():
    disk, pool = Disk.objects.get(serial="ZL0001003"), PoolNow.objects.get(node__name="load0001")
    situation = Situation.objects.filter(node__name="load0007").first()
    asked = (
        disk.wwid,
        disk.serial,
        "ZL00010",
        "5000",
        "load0001+sda",
        "sda",
        "load0001+bay+4",
        pool.guid,
        pool.name,
        "load0001",
        "missing",
        "12",
        pool.guid[5:12],
    )
    return [
        "/",
        "/?severity=act&node=load&pool=ost",
        "/nodes/load0001/",
        f"/nodes/load0001/pools/{pool.name}/",
        f"/disks/{disk.wwid}/",
        f"/situations/{situation.pk}/",
        *(f"/search/?q={text}" for text in asked),
        "/runs/",
        "/approvals/",
        "/open-loops/",
        "/ledger/",
    ]


def counts(client) -> dict[str, int]:
    found = {}
    for address in addresses():
        assert client.get(address).status_code in (200, 302), address
        with CaptureQueriesContext(connection) as asked:
            client.get(address)
        found[address] = len(asked)
    return found


def test_every_page_asks_as_much_of_six_nodes_as_of_two(client):
    generated.load(SMALL, DISKS)
    small = counts(client)
    generated.load(LARGE, DISKS)
    assert counts(client) == small


def test_a_process_that_holds_nothing_reads_only_the_nodes_a_page_is_about(client):
    generated.load(LARGE, DISKS)
    services.forget()
    client.get("/")
    client.get("/search/?q=5000")
    assert not services._parsed
    client.get("/nodes/load0001/")  # what stands in rows
    assert not services._parsed
    client.get("/nodes/load0001/?whole=1")
    assert list(services._parsed) == ["load0001"]


def test_what_is_remembered_has_a_bound(client, settings):
    settings.SLOTLIGHT_FACTS_BYTES_MAX = 1
    generated.load(LARGE, DISKS)
    assert len(services._parsed) == 1
    assert client.get("/nodes/load0057/?whole=1").status_code == 200
    assert list(services._parsed) == ["load0057"]
