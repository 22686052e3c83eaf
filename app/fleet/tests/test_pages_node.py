"""A node's page: at once what stands in rows, and the rest when it is read; whole wherever it can be, and without scripts."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from app.accounts.models import User
from app.fleet import intake, services
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
    assert "1 more disk may fail" in top
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
