"""Who a disk is: genuine nodes agree with themselves; one source changed is called stale, and a dispute refuses."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from agents.collectors.base import Capture
from agents.tests.scenarios import STEPS
from workflows.facts import FleetFacts, Remembered, Unknown, identify, known, lookup, node_facts
from workflows.facts.fleet.identity import Statement, same_serial, weigh
from workflows.facts.read.sources import Sources
from workflows.facts.read.witnesses import identity, lists
from workflows.facts.tests.played import captures, fleet, played

HEALTHY = "healthy-raidz2"
SDA, SDB = "naa:5000c500a65b200b", "naa:5000c500a65b201b"


def with_texts(changes, name=HEALTHY):
    """The step's captures with other texts from some sources."""
    values = {where: Capture(*where.split("/")[:1], where.partition("/")[2], "data", text) for where, text in changes.items()}
    return node_facts("oss01", captures(name) | values, 1.0, ())


def text(where, name=HEALTHY):
    return captures(name)[where].text


def of(node, wwid=SDA, remembered=None, *others):
    everybody = FleetFacts({n.node: n for n in (node, *others)})
    return identify(everybody, "oss01", next(d for d in node.disks if d.wwid == wwid), remembered)


@pytest.mark.parametrize("name", STEPS)
def test_every_genuine_disk_agrees_with_itself(name):
    """Also where names moved over a reboot, a disk is dead, or a label is another pool's: none of that is a doubt about the disk."""
    facts = played(name)
    for disk in facts.disks if known(facts.disks) else ():
        found = identify(fleet(name), "oss01", disk)
        assert (found.verdict, [s for w in found.witnesses for s in w.stale]) == ("agreed", []), (disk.names, found.reason)


def test_it_hears_every_source_that_speaks():
    found = of(played(HEALTHY))
    assert {s.source for s in found.statements} == {"block", "lsscsi", "disk_links", "smart/sda", "zdb_label/sda1", "zpool_status"}
    assert {w.kind: w.value for w in found.witnesses} == {
        "wwid": SDA,
        "serial": "ZA20000X",
        "label": "12993330246094236820",
        "bay": "",
        "port": "0x5000c500a65b200…",
    }


def test_links_of_the_disk_that_had_the_name_before_are_stale_and_refuse():
    links = text("disk_links").replace("5000c500a65b200b", "5000c500a65b2fff")
    found = of(with_texts({"disk_links": links}))
    assert found.verdict == "disagree"
    assert "udev" in found.reason
    assert "5000c500a65b2fff" in found.reason


def test_a_draw_is_won_by_nobody():
    kernel = Statement("serial", "ZA1", "block", "the kernel (sda)", "kernel")
    other = Statement("serial", "ZA2", "smart/sda", "smartctl (sda)", "disk")
    found = weigh((Statement("wwid", SDA, "block", "the kernel (sda)", "kernel"), kernel, other))
    assert (found.verdict, found.witness("serial").value) == ("disagree", "")
    assert "the kernel (sda) says ZA1; smartctl (sda) says ZA2" in found.reason


def test_who_is_alone_against_two_is_stale():
    kernel, udev = (Statement("wwid", SDA, s, s, s) for s in ("kernel", "udev"))
    smart = Statement("wwid", SDB, "smart/sda", "smartctl (sda)", "disk")
    found = weigh((kernel, udev, smart))
    assert (found.verdict, found.witness("wwid").value, found.witness("wwid").stale) == ("disagree", SDA, (smart,))
    assert "up to an hour old" in found.reason


def test_a_stored_device_id_of_another_disk_is_stale_and_harmless():
    """The seed case: the label of one member stores the device id of another."""
    label = text("zdb_label/sda1").replace("scsi-35000c500a65b200b-part1", "scsi-35000c500a65b2fff-part1")
    found = of(with_texts({"zdb_label/sda1": label}))
    assert found.verdict == "agreed"
    assert [s.by for s in found.witness("wwid").stale] == ["the device id in the label on sda1"]
    assert "as old as the last import" in found.reason


def test_a_pool_that_serves_another_vdev_from_it_contradicts_its_label():
    label = text("zdb_label/sda1").replace("12993330246094236820", "77")
    found = of(with_texts({"zdb_label/sda1": label}))
    assert found.verdict == "disagree"
    assert found.witness("label").contradicted


def test_a_smart_report_about_another_disk_is_heard_as_such():
    smart = "smartctl 7.3\nLogical Unit id:      0x5000c500a65b201b\nSerial number:        ZA20001X\n"
    found = of(with_texts({"smart/sda": smart}))
    assert (found.verdict, found.witness("wwid").value, found.witness("serial").value) == ("disagree", SDA, "ZA20000X")


def test_a_smart_report_about_this_disk_agrees():
    smart = "smartctl 7.3\nLogical Unit id:      0x5000c500a65b200b\nSerial number:        ZA20000X\n"
    found = of(with_texts({"smart/sda": smart}))
    assert found.verdict == "agreed"
    assert "smartctl (sda)" in {s.by for s in found.witness("serial").sure}


def test_a_disk_without_a_wwid_is_nobody():
    statement = Statement("serial", "ZA1", "block", "the kernel (sda)", "kernel")
    assert weigh((statement,)).verdict == "unknown"


def test_a_serial_number_cut_short_is_the_same():
    assert same_serial("ZA2ABCDE", "ZA2ABCDE0000C839")
    assert same_serial("ZA2 ABCDE", "ZA2_ABCDE")
    assert not same_serial("ZA2", "ZA20000X")


def test_the_portals_memory_of_another_serial_number_disputes_it():
    found = of(played(HEALTHY), SDA, Remembered((("ZB99999X", "oss01, until 2026-11-20 09:00 UTC"),)))
    assert found.verdict == "disagree"
    assert "2026-11-20" in found.reason


def test_the_bay_it_was_in_before_is_stale_and_harmless():
    bays = with_texts({"enclosure": ENCLOSURES})
    found = of(bays, SDA, Remembered((), (("0x500605b0000272bf/9", "oss01, until 2026-11-20 09:00 UTC"),)))
    assert (found.verdict, found.witness("bay").value) == ("agreed", "0x500605b0000272bf/3")
    assert "The disk was moved since." in found.reason


def test_another_node_of_the_shelf_is_heard():
    other = replace(played(HEALTHY), node="oss02")
    found = of(played(HEALTHY), SDA, None, other)
    assert found.verdict == "agreed"
    assert "oss02" in {s.node for s in found.witness("serial").sure}
    strange = replace(other, disks=tuple(replace(d, serial="ZB99999X") for d in other.disks))
    assert of(played(HEALTHY), SDA, None, strange).verdict == "disagree"


# Dual paths: composed from a genuine node, whose disk gets a second kernel name behind a second enclosure device.

ENCLOSURES = "/sys/class/enclosure:2:0:24:0 3:0:24:0\n" + "".join(
    f"/sys/class/enclosure/{e}/id:0x500605b0000272bf\n/sys/class/enclosure/{e}/SLOT 3/slot:3\n"
    f"/sys/class/enclosure/{e}/SLOT 3/status:OK\n/sys/class/enclosure/{e}/SLOT 3/device/block:{name}\n"
    for e, name in (("2:0:24:0", "sda"), ("3:0:24:0", "sdz"))
)


def second_path():
    listing, *lines = text("block").splitlines()
    again = [line.replace("/sda/", "/sdz/").replace("2:0:0:0", "3:0:0:0") for line in lines if line.startswith("/sys/block/sda/")]
    again = [line.replace("sda1:", "sdz1:").replace("/sda1/", "/sdz1/").replace("/sda9/", "/sdz9/") for line in again]
    labels = {"zdb_label/sdz1": text("zdb_label/sda1")}
    return with_texts({"block": "\n".join([f"{listing} sdz", *lines, *again, ""]), "enclosure": ENCLOSURES} | labels)


def test_two_paths_are_one_disk_in_one_bay():
    node = second_path()
    (disk,) = [d for d in node.disks if d.wwid == SDA]
    assert disk.names == ("sda", "sdz")
    assert (disk.bay.enclosure_id, disk.bay.slot, len(node.bays)) == ("0x500605b0000272bf", 3, 1)
    found = of(node)
    assert (found.verdict, found.witness("bay").value) == ("agreed", "0x500605b0000272bf/3")


def test_a_label_written_on_one_path_and_read_on_the_other_is_one_label():
    found = of(second_path())
    assert {s.source for s in found.witness("label").sure} == {"zdb_label/sda1", "zdb_label/sdz1", "zpool_status"}


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        ([("unit", "5000c500a65b200b"), ("port", "5000c500a65b2009")], "agreed"),
        ([("unit", "5000c500a65b2fff"), ("port", "5000c500a65b2009")], "disagree"),
        ([("unit", "5000c500a65b2fff"), ("unit", "5000c500a65b200b")], "agreed"),
        ([("unit", "600508b1001c1d2e3f405162738495a6")], "agreed"),
    ],
)
def test_the_unit_on_its_vpd_page_is_a_witness_and_its_port_is_none(names, verdict):
    page = tuple(SimpleNamespace(about=about, kind="naa", value=value) for about, value in names)
    device = SimpleNamespace(name="sda", wwid=SDA, serial=None, slot_link=None, sas_address=None, designators=page)
    assert identity(Sources({}), lists(Sources({}), {}), [device], ()).verdict == verdict


def test_what_is_kept_of_a_node_is_not_that_of_its_changed_facts():
    node = played(HEALTHY)
    assert known(node.disks)
    assert lookup.disk(FleetFacts({"oss01": node}), "oss01", SDA) is not None
    without = replace(node, disks=tuple(disk for disk in node.disks if disk.wwid != SDA))
    dark = replace(node, disks=Unknown("Not read."))
    assert lookup.disk(FleetFacts({"oss01": without}), "oss01", SDA) is None
    assert not known(lookup.disk(FleetFacts({"oss01": dark}), "oss01", SDA))
    by_pools = [statement for statement in of(node).statements if statement.source == "zpool_status"]
    assert by_pools
    assert not [statement for statement in of(replace(node, pools=())).statements if statement.source == "zpool_status"]
