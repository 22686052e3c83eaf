"""Disks behind multipath maps on a twin: sysfs, udev's links and the daemon tell of the same maps, and each command finds the disk."""

from __future__ import annotations

import pytest

from agents.collectors import block, disk_links, enclosure, multipath, zdb_label
from agents.domain.multipath_maps import map_of, paths_down
from twin import disk_kinds, scenarios
from twin.host import TwinHost
from twin.store import Store


@pytest.fixture
def host(tmp_path):
    node = disk_kinds.turned(scenarios.tiny(), disk_kinds.multipath)
    node.disks[1].paths[1].state = "offline"
    Store(tmp_path / "state.json").create(node)
    return TwinHost(tmp_path / "state.json")


def test_each_map_is_one_disk_and_holds_its_paths(host):
    maps = multipath.parse(multipath.collect(host)[0].text)
    disks = block.parse(block.collect(host)[0].text)
    assert len(maps) == len(disks) / 2 == 8
    for one in maps:
        devices = [disk for disk in disks if disk.wwid == one.wwid]
        assert map_of(one.wwid, devices, maps) == (one, "")
        assert one.size_bytes == devices[0].size_bytes
    assert [name for one in maps for name in paths_down(one)] == ["sdcx"]


def test_udev_leads_to_the_map_by_every_name_but_that_of_a_path(host):
    links = dict(disk_links.parse(disk_links.collect(host)[0].text))
    of_the_first = {name.rpartition("/")[2] for name, device in links.items() if device == "dm-0"}
    assert of_the_first == {
        "dm-uuid-mpath-35000c500a65b200b",
        "dm-name-mpatha",
        "mpatha",
        "wwn-0x5000c500a65b200b",
        "scsi-35000c500a65b200b",
    }


def test_a_label_is_read_from_the_map_and_from_each_path_that_works(host):
    texts = {name: host.run(("zdb", "-l", f"/dev/{name}"), 5) for name in ("dm-1", "sdb", "sdcx")}
    assert texts["dm-1"].exit_code == texts["sdb"].exit_code == 0
    assert texts["dm-1"].stdout == texts["sdb"].stdout
    assert "whole_disk: 0" in texts["dm-1"].stdout.decode()
    assert texts["sdcx"].exit_code != 0
    assert zdb_label.parse(texts["dm-1"].stdout.decode()).labels[0].name == "ost_0"


def test_the_shelf_is_seen_by_both_hbas_with_the_same_lights(host):
    seen = enclosure.parse(enclosure.collect(host)[0].text)
    assert [one.name for one in seen] == ["12:0:24:0", "2:0:24:0"]
    assert len({one.id for one in seen}) == 1
    host.write("/sys/class/enclosure/12:0:24:0/Slot03/locate", b"1\n")
    lit = [(one.name, slot.name) for one in enclosure.parse(enclosure.collect(host)[0].text) for slot in one.slots if slot.locate]
    assert lit == [("12:0:24:0", "Slot03"), ("2:0:24:0", "Slot03")]
    links = {disk.name: disk.slot_link for disk in block.parse(block.collect(host)[0].text)}
    assert (links["sdc"], links["sdcy"]) == ("/sys/class/enclosure/2:0:24:0/Slot03", "/sys/class/enclosure/12:0:24:0/Slot03")


@pytest.mark.parametrize("name", ["/dev/sdg", "/dev/sddc"])
def test_a_path_by_itself_is_in_use(host, name):
    lost = host.view().node.imported[0].leaves()[0]
    refused = host.run(("zpool", "replace", "ost_0", str(lost.guid), name), 5)
    assert refused.exit_code == 1
    assert "is in use" in refused.stderr.decode()
