"""The label census on the pages: a pool's own labels wherever they are read, and foreign ones on the node that reads them."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.tests.scenarios import step
from app.accounts.models import User
from app.fleet.ingest import intake
from app.fleet.tests.cast import collect, node, payload
from twin.captured_host import CapturedHost

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader():
    client = Client()
    client.force_login(User.objects.create_user("reader"))
    return client


def report(name, scenario):
    captures = collect(CapturedHost(step(scenario)))
    assert intake.receive(node(name).name, payload(name, captures), timezone.now()) == []


def page(reader, *route):
    answer = reader.get(reverse(route[0], args=route[1:]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_whole_pool_says_so(reader):
    report("oss01", "healthy-raidz2")
    assert "6 disks carry a label of this pool, read by oss01. Nothing about them stands out." in page(reader, "pool", "oss01", "ost_0")


def test_a_shelf_that_two_nodes_read_is_counted_once(reader):
    report("oss02", "other-host/3-forced")
    report("oss03", "other-host/1-last-used-by-oss01")
    text = page(reader, "pool", "oss02", "ost_on")
    assert "3 disks carry a label of this pool, read by oss02 and oss03." in text
    assert "imported on another node" in text
    assert "must not be imported here too" in page(reader, "node", "oss03")


def test_a_node_shows_the_split_timeline_of_a_pool_it_has_not_imported(reader):
    report("oss01", "import-blocked-diverged-disk/1-not-imported")
    text = page(reader, "node", "oss01")
    assert "split timeline" in text
    assert "naa:5000c500a65b203b" in text


def test_a_pool_whose_guid_is_not_known_says_why_it_has_no_census(reader):
    report("oss01", "wwid-drift/5-refused-commands")
    assert "Which labels are those of ost_1 is not known" in page(reader, "pool", "oss01", "ost_1")
