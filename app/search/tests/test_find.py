"""The search field finds the thing by whatever somebody has in hand, and goes there when it is the only one."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from app.accounts.models import User
from app.fleet import generated
from app.fleet.models import Disk, LabelSeen, PoolNow, Sighting, Situation
from app.search.find import find, the_one

pytestmark = pytest.mark.django_db
DISKS = 20


@pytest.fixture
def fleet():
    generated.load((1, 2, 7), DISKS)


@pytest.fixture
def disk(fleet):
    return Disk.objects.get(serial="ZL0001003")


def test_a_disk_is_found_by_everything_that_is_its_own(disk):
    row = Sighting.objects.get(disk=disk)
    label = LabelSeen.objects.get(disk=disk)
    for text in (
        disk.wwid,
        disk.wwid[4:].upper(),
        f"scsi-3{disk.wwid[4:]}",
        disk.serial,
        disk.serial.lower(),
        f"load0001 {row.name}",
        f"load0001:{row.name}",
        f"load0001 bay {row.slot}",
        f"{row.enclosure_id}/{row.slot}",
        f"load0001 [{row.hctl}]",
        row.sas_address,
        label.vdev_guid,
        hex(int(label.vdev_guid)),
    ):
        assert getattr(the_one(find(text)), "url", None) == disk.get_absolute_url(), text


@pytest.mark.parametrize("text", ["1003", "zl000100", "c500000100"])
def test_a_part_finds_without_going_anywhere(disk, text):
    hits = find(text)
    assert disk.get_absolute_url() in [hit.url for hit in hits]
    assert the_one(hits) is None


def test_a_bare_name_lists_the_disks_of_all_nodes(fleet):
    assert len([hit for hit in find("sda") if hit.kind == "disk"]) == 3


def test_a_bay_without_a_shelf_lists_it_on_all_nodes_and_goes_nowhere(fleet):
    hits = find("bay 4")
    assert len([hit for hit in hits if hit.kind == "disk"]) == 3
    assert the_one(hits) is None


def test_what_it_was_before_says_until_when(disk):
    now = timezone.now()
    disk.former_serials = [{"serial": "OLD77XYZ", "node": "load0001", "until": "2026-11-01T10:11:12+00:00"}]
    disk.parts = [*disk.parts, "old7", "ld77", "d77x", "77xy", "7xyz"]
    disk.save()
    Sighting.objects.filter(disk=disk).update(until=now)
    Sighting.objects.create(disk=disk, node=Sighting.objects.filter(disk=disk).first().node, name="sdzz", since=now - timedelta(hours=1))
    assert "was OLD77XYZ until 2026-11-01 10:11 UTC" in find("old77")[0].detail
    (hit,) = (hit for hit in find("load0001 bay 3") if hit.kind == "disk")
    assert "was sdd on load0001, bay 3" in hit.detail
    assert not hit.exact


def test_pools_nodes_and_situations_are_found(fleet):
    pool, situation = PoolNow.objects.get(node__name="load0001"), Situation.objects.filter(node__name="load0007").first()
    assert the_one(find("ost_1")).url == the_one(find(pool.guid)).url == "/nodes/load0001/pools/ost_1/"
    assert the_one(find("load0002")).url == "/nodes/load0002/"
    assert {hit.title for hit in find("load00")} >= {"load0001", "load0002", "load0007"}
    assert the_one(find(f"situation {situation.pk}")).url == situation.get_absolute_url()
    assert situation.get_absolute_url() in [hit.url for hit in find("ost_7")]


def test_the_page_goes_to_the_one_thing_and_else_says_what_there_is(disk):
    client = Client()
    assert client.get("/search/?q=x").status_code == 302  # to the sign-in
    client.force_login(User.objects.create_user("ann"))
    assert client.get("/search/", {"q": disk.serial}).headers["Location"] == disk.get_absolute_url()
    page = client.get("/search/", {"q": "zl000100"}).content.decode()
    assert disk.wwid in page
    assert "What can be found" in client.get("/search/", {"q": "no such thing <b>"}).content.decode()
    assert client.get("/search/", {"q": "\0'\"%_\\"}).status_code == 200
