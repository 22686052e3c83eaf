"""The search field finds the thing by whatever somebody has in hand, and goes there when it is the only one."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from app.accounts.models import User
from app.fleet import generated
from app.fleet.models import Disk, LabelSeen, LeafHistory, Node, PoolNow, Sighting, Situation
from app.fleet.pages.disk_search import holding, runs
from app.search.find import find, the_one, with_states

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


def test_a_part_of_a_guid_finds_the_disk_and_the_pool_and_says_what_matched(disk):
    label, pool = LabelSeen.objects.get(disk=disk), PoolNow.objects.get(node__name="load0001")
    label.vdev_guid, pool.guid = "7602440441426092393", "9138462510775318246"
    label.save()
    pool.save()
    hit = next(hit for hit in find("44142609") if hit.url == disk.get_absolute_url())
    assert "is vdev 7602440441426092393 of ost_1" in hit.detail
    assert (hit.by.what, hit.by.pieces) == ("vdev guid", ("7602440", "44142609", "2393"))
    (found,) = [hit for hit in find("46251077") if hit.by and hit.by.text == pool.guid]
    assert (found.url, found.by.what) == ("/nodes/load0001/pools/ost_1/", "pool guid")
    assert the_one(find("44142609")) is None
    assert not [hit for hit in find("4414261") if hit.by and "guid" in hit.by.what]  # its runs are there, it is not


def test_a_member_whose_label_nobody_read_is_found_by_a_part_of_its_guid(disk):
    leaf = LeafHistory.objects.get(vdev_guid=LabelSeen.objects.get(disk=disk).vdev_guid, until=None)
    leaf.vdev_guid = "5550199888777666555"
    leaf.save()
    (hit,) = [hit for hit in find("98887776665") if hit.by]
    assert (hit.kind, hit.by.what) == ("pool", "vdev guid")
    assert leaf.name in hit.detail


def test_a_raidz_or_mirror_is_found_by_its_guid_and_by_a_part_of_it(fleet):
    pool = PoolNow.objects.get(node__name="load0001")
    assert pool.vdevs, "kept with the pool when its node's situations are settled"
    pool.vdevs = "15036663161053809785 10487436580527791633"
    pool.save()
    whole = the_one(find("10487436580527791633"))
    assert (whole.url, whole.by.text) == ("/nodes/load0001/pools/ost_1/", "10487436580527791633")
    (part,) = [hit for hit in find("0527791633") if hit.by]
    assert (part.title, part.by.what, part.by.pieces) == ("ost_1 on load0001", "vdev guid", ("1048743658", "0527791633", ""))
    assert not [hit for hit in find("97851048") if hit.by], "no guid begins in one and ends in the next"
    assert not [hit for hit in find("12") if hit.kind == "pool"], "three digits and less name too many"


def test_the_label_of_a_pool_that_is_imported_nowhere_is_found_by_a_part_of_its_guid(disk):
    LabelSeen.objects.filter(disk=disk).update(pool_guid="3330199888777666555", pool="scratch9")
    (hit,) = [hit for hit in find("98887776665") if hit.by]
    assert (hit.title, hit.detail, hit.by.what) == ("load0001", "reads labels of scratch9", "pool guid")


def test_the_database_takes_the_runs_of_a_guid_as_we_do():
    with connection.cursor() as cursor:
        for text in ("7602440441426092393", "18446744073709551615", "1234", "123", "", "0000000"):
            cursor.execute("SELECT fleet_runs(%s)", [text])
            assert set(cursor.fetchone()[0]) == runs(text)


def test_a_part_of_a_guid_is_looked_up_in_an_index(disk):
    asked = {"vdev_guid": LabelSeen.objects.all(), "pool_guid": LabelSeen.objects.all(), "guid": PoolNow.objects.all()}
    asked["vdevs"] = PoolNow.objects.all()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # a small table is read through otherwise
    for field, found in asked.items():
        assert "_part" in holding(found, field, "26092393").explain(), field


def test_of_a_part_that_every_guid_holds_no_more_is_read_than_anybody_reads(fleet, monkeypatch):
    monkeypatch.setattr("app.fleet.pages.disk_search.HELD_MAX", 7)
    assert len([hit for hit in find("0000000") if hit.by and hit.by.what == "vdev guid" and hit.kind == "disk"]) == 7


def test_the_page_says_what_matched(disk):
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    LabelSeen.objects.filter(disk=disk).update(vdev_guid="7602440441426092393")
    assert 'vdev guid <span class="sl-mono">76024404414<mark>26092393</mark></span>' in client.get("/search/?q=26092393").content.decode()
    assert "serial number <span" in client.get("/search/?q=zl000100").content.decode()
    assert "WWID <span" in client.get("/search/?q=c500000100").content.decode()


def hits(text, kind):
    return [hit for hit in with_states(find(text)) if hit.kind == kind]


def test_a_silent_node_and_its_pools_are_never_found_as_good(fleet):
    pool = PoolNow.objects.get(node__name="load0001")
    [well], [pool_well] = hits("load0001", "node"), [hit for hit in hits(pool.name, "pool") if "load0001" in hit.title]
    assert (well.tone, pool_well.tone) == ("good", "good") == (well.tone, pool.tone)
    Node.objects.filter(name="load0001").update(last_report_at=timezone.now() - timedelta(minutes=5))
    [old], [pool_old] = hits("load0001", "node"), [hit for hit in hits(pool.name, "pool") if "load0001" in hit.title]
    assert (old.tone, old.state) == ("bad", "is silent; what is shown is old")
    assert pool_old.tone == "unknown"
    assert "silent" in pool_old.state


def test_a_disk_is_found_with_what_is_open_about_it_and_is_never_called_good_by_rows(disk):
    [plain] = hits(disk.wwid, "disk")
    assert (plain.tone, plain.state) == ("", "")
    where = Sighting.objects.get(disk=disk).node
    about = {
        "slug": "disk-failing",
        "severity": "act",
        "title": "it fails",
        "opened_at": timezone.now(),
        "data": {"subject": {"wwid": disk.wwid}},
    }
    Situation.objects.create(key="x", node=where, **about)
    [ill] = hits(disk.wwid, "disk")
    assert (ill.tone, ill.state) == ("bad", "it fails")


def test_a_situation_that_is_over_is_grey(fleet):
    row = Situation.objects.filter(node__name="load0007").first()
    assert hits(f"situation {row.pk}", "situation")[0].tone in ("bad", "watch", "info")
    row.closed_at = timezone.now()
    row.save()
    assert (hits(f"situation {row.pk}", "situation")[0].tone, hits(f"situation {row.pk}", "situation")[0].state) == ("idle", "over")


def test_a_bay_that_is_one_disk_leads_there_without_asking_how_any_disk_is(disk, django_assert_max_num_queries):
    row, client = Sighting.objects.get(disk=disk), Client()
    client.force_login(User.objects.create_user("ann"))
    with django_assert_max_num_queries(4):  # session, person, who is in the bay, who was
        answer = client.get("/search/", {"q": f"load0001 bay {row.slot}"})
    assert answer.headers["Location"] == disk.get_absolute_url()


def test_a_short_guid_is_exactly_found_as_well(fleet):
    PoolNow.objects.filter(node__name="load0001").update(guid="90210")
    assert [hit.exact for hit in find("90210") if hit.kind == "pool"] == [True]
