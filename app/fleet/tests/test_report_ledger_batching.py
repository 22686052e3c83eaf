"""A disk that moves keeps its history: another bay, another node, another name; and its page tells all of it.

The reports are composed: a shelf of a few disks in the grammar of our own sysfs captures.
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from agents.collectors.base import Capture
from app.accounts.models import User
from app.fleet import services
from app.fleet.ingest import intake
from app.fleet.models import Disk, Sighting, Situation
from app.fleet.tests.cast import node, payload
from workflows.facts import identify, known

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
SHELF, OTHER_SHELF = "0x500605b0000272bf", "0x500605b0000299cf"
ANNA, BERT = "5000c500a65b200b", "5000c500a65b201b"
SERIALS = {ANNA: "ZA20000X", BERT: "ZA20001X"}


def report(name, minute, disks, *, shelf=SHELF, serials=SERIALS, **outcomes):
    """`name` reports `minute` minutes after AT: kernel name -> (WWN, slot or None). `outcomes` replace whole sources."""
    fields = {"block": _block(disks, serials), "enclosure": _enclosure(disks, shelf), "disk_links": _links(disks)}
    fields |= {"zpool_status": "no pools available\n", "zpool_status_guid": "no pools available\n", "node": f"hostid:5b2f9c{name[-2:]}\n"}
    captures = [outcomes.get(source) or Capture(source, "", "data", text) for source, text in fields.items()]
    captures += [Capture("zdb_label", disk, "data", "".join(f"failed to unpack label {n}\n" for n in range(4))) for disk in disks]
    assert intake.receive(node(name).name, payload(name, captures), AT + timedelta(minutes=minute)) == []


def _block(disks, serials):
    lines = [f"/sys/block:{' '.join(disks)}"]
    for name, (wwn, _) in disks.items():
        n, serial = ord(name[-1]) - ord("a"), serials[wwn].encode()
        base = f"/sys/block/{name}"
        lines += [f"{base}/device -> /sys/class/scsi_device/6:0:{n}:0/device/6:0:{n}:0", f"{base}/size:1048576", f"{base}/holders:"]
        lines += [f"{base}/device/wwid:naa.{wwn}", f"{base}/device/model:ST10000NM0256", f"{base}/device/state:running"]
        lines += [f"{base}/device/vpd_pg80:{(bytes([0, 0x80, 0, len(serial)]) + serial).hex()}"]
    return "\n".join(lines) + "\n"


def _enclosure(disks, shelf):
    base = "/sys/class/enclosure/6:0:89:0"
    lines = ["/sys/class/enclosure:6:0:89:0", f"{base}/id:{shelf}"]
    for name, (_, slot) in disks.items():
        if slot is not None:
            lines += [f"{base}/{slot}/slot:{slot}", f"{base}/{slot}/status:OK", f"{base}/{slot}/device/block:{name}"]
    return "\n".join(lines) + "\n"


def _links(disks):
    return "".join(f"/dev/disk/by-id/wwn-0x{wwn} -> /dev/{name}\n" for name, (wwn, _) in disks.items())


def stays(wwn):
    """(node, name, shelf's last digits, slot, from, to) in minutes after AT, in order of time."""

    def minutes(at):
        return None if at is None else round((at - AT).total_seconds() / 60)

    rows = Disk.objects.get(wwid=f"naa:{wwn}").sightings.select_related("node").order_by("since", "name")
    return [(r.node.name, r.name, r.enclosure_id[-3:], r.slot, minutes(r.since), minutes(r.until)) for r in rows]


def failed(source):
    return Capture(source, "", "failed", "", "timeout after 20 s")


def test_another_bay_another_node_another_name():
    report("oss01", 0, {"sda": (ANNA, 3), "sdb": (BERT, 4)})
    report("oss01", 1, {"sda": (ANNA, 7), "sdb": (BERT, 4)})
    report("oss01", 2, {"sdb": (BERT, 4)})
    report("oss02", 3, {"sdq": (ANNA, 9)}, shelf=OTHER_SHELF)
    report("oss02", 4, {"sda": (ANNA, 9)}, shelf=OTHER_SHELF)
    assert stays(ANNA) == [
        ("oss01", "sda", "2bf", 3, 0, 1),
        ("oss01", "sda", "2bf", 7, 1, 2),
        ("oss02", "sdq", "9cf", 9, 3, 4),
        ("oss02", "sda", "9cf", 9, 4, None),
    ]
    assert stays(BERT) == [("oss01", "sdb", "2bf", 4, 0, None)]
    assert Disk.objects.count() == 2


def test_two_disks_swap_their_names_in_one_report():
    report("oss01", 0, {"sda": (ANNA, 3), "sdb": (BERT, 4)})
    report("oss01", 1, {"sda": (BERT, 4), "sdb": (ANNA, 3)})
    assert stays(ANNA) == [("oss01", "sda", "2bf", 3, 0, 1), ("oss01", "sdb", "2bf", 3, 1, None)]
    assert stays(BERT) == [("oss01", "sdb", "2bf", 4, 0, 1), ("oss01", "sda", "2bf", 4, 1, None)]


def test_two_disks_swap_their_bays_in_one_report():
    report("oss01", 0, {"sda": (ANNA, 3), "sdb": (BERT, 4)})
    report("oss01", 1, {"sda": (ANNA, 4), "sdb": (BERT, 3)})
    assert [(name, slot, until) for _, name, _, slot, _, until in stays(ANNA)] == [("sda", 3, 1), ("sda", 4, None)]


def test_a_disk_that_comes_back_gets_a_new_stay():
    for minute, disks in enumerate(({"sda": (ANNA, 3)}, {}, {"sda": (ANNA, 3)})):
        report("oss01", minute, disks)
    assert [(since, until) for *_, since, until in stays(ANNA)] == [(0, 1), (2, None)]


def test_two_nodes_of_one_shelf_see_one_disk_and_each_keeps_its_own_stay():
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss02", 0, {"sdz": (ANNA, 3)})
    report("oss01", 1, {"sdc": (ANNA, 3)})
    assert stays(ANNA) == [("oss01", "sda", "2bf", 3, 0, 1), ("oss02", "sdz", "2bf", 3, 0, None), ("oss01", "sdc", "2bf", 3, 1, None)]
    assert not Situation.objects.filter(closed_at=None).exists()


@pytest.mark.parametrize("source", ["enclosure", "disk_links", "zpool_status"])
def test_a_source_that_fails_for_a_while_moves_no_disk(source):
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss01", 1, {"sda": (ANNA, 3)}, **{source: failed(source)})
    report("oss01", 2, {"sda": (ANNA, 3)})
    assert stays(ANNA) == [("oss01", "sda", "2bf", 3, 0, None)]
    row = Sighting.objects.get()
    assert row.by_id == f"/dev/disk/by-id/wwn-0x{ANNA}"


def test_another_disk_under_the_name_does_not_inherit_the_bay_that_cannot_be_read():
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss01", 1, {"sda": (BERT, 4)}, enclosure=failed("enclosure"))
    assert stays(BERT) == [("oss01", "sda", "", None, 1, None)]


# The portal's own memory is a witness.


def doubts(minute):
    fleet = services.fleet_facts(AT + timedelta(minutes=minute))
    return identify(fleet, "oss01", fleet.nodes["oss01"].disks[0]).verdict


def test_a_wwid_that_comes_back_with_another_serial_number_is_doubted_for_a_week():
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss01", 1, {"sda": (ANNA, 3)}, serials={ANNA: "ZB99999X"})
    (disk,) = Disk.objects.all()
    assert (disk.serial, [serial["serial"] for serial in disk.former_serials]) == ("ZB99999X", ["ZA20000X"])
    found = Situation.objects.get(slug="identity-conflict", closed_at=None)
    assert "ZB99999X now and had ZA20000X before" in found.data["meaning"]
    assert doubts(2) == "disagree"
    assert doubts(8 * 24 * 60) == "agreed"


def test_a_serial_number_that_was_cut_short_is_no_doubt():
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss01", 1, {"sda": (ANNA, 3)}, serials={ANNA: "ZA20000X0000C839"})
    assert Disk.objects.get().former_serials == []
    assert doubts(2) == "agreed"


# Pages.


@pytest.fixture
def reader():
    client = Client()
    client.force_login(User.objects.create_user("reader"))
    return client


def page(reader, *route):
    answer = reader.get(reverse(route[0], args=route[1:]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_disks_page_tells_who_it_is_and_everywhere_it_was(reader):
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss01", 1, {})
    report("oss02", 2, {"sdq": (ANNA, 9)}, shelf=OTHER_SHELF)
    text = page(reader, "disk", f"naa:{ANNA}")
    for expected in (
        "all sources agree",
        "the kernel (sdq)",
        "ZA20000X",
        f"{SHELF} slot 3",
        f"{OTHER_SHELF} slot 9",
        "The disk was moved since.",
    ):
        assert expected in text
    assert text.index(f"{OTHER_SHELF} slot 9</td>") < text.index(f"{SHELF} slot 3</td>"), "the latest stands first"


def test_the_pages_of_a_shared_disk_show_both_nodes(reader):
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss02", 0, {"sdz": (ANNA, 3)})
    text = page(reader, "disk", f"naa:{ANNA}")
    assert "2 nodes see this disk. It is one disk" in text
    assert "Identity, by oss02" in text
    assert "also seen by oss02" in page(reader, "node", "oss01")


def test_a_silent_node_is_said_to_be_silent(reader):
    report("oss01", 0, {"sda": (ANNA, 3)})
    assert "oss01 is silent. The disk may be somewhere else by now." in page(reader, "disk", f"naa:{ANNA}")


def test_a_disk_nobody_sees_keeps_its_page(reader):
    report("oss01", 0, {"sda": (ANNA, 3)})
    report("oss01", 1, {})
    text = page(reader, "disk", f"naa:{ANNA}")
    assert "No node sees this disk now." in text
    assert "sda [6:0:0:0]" in text


def test_it_has_facts_worth_the_name():
    report("oss01", 0, {"sda": (ANNA, 3)})
    (disk,) = services.fleet_facts(AT).nodes["oss01"].disks
    assert known(disk.bay)
    assert disk.labels == ()
