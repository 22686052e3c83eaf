"""The twin's files against those of a real kernel: same paths, same values, same links."""

from __future__ import annotations

import re

import pytest

from agents.tests.scenarios import step
from twin.host import TwinHost
from twin.model import Path
from twin.scenarios import Clock, host, lab_disk, lab_node, take_away, tiny
from twin.tree import Tree


@pytest.fixture
def shelf(tmp_path) -> TwinHost:
    """Ten lab disks in bays 1 to 10 of 12, as in the scenario `enclosure-slots`."""
    node = lab_node(disks=[lab_disk(n, n) for n in range(10)])
    node.enclosures[0].name = "0:0:24:0"
    for bay in node.enclosures[0].bays[10:]:
        bay.power = "off"  # so says the lab's module of an empty bay
    return host(tmp_path, node, Clock())


def test_bays_say_what_the_kernel_said(shelf):
    lines = (step("enclosure-slots/1-all-slots") / "enclosure-attributes.txt").read_text().splitlines()
    assert len(lines) > 80
    for line in lines:
        enclosure, path, value = re.fullmatch("(0:0:24:0)/(.*?):(.*)", line).groups()
        assert shelf.read(f"/sys/class/enclosure/{enclosure}/{path}").decode() == value + "\n", path


def test_bays_and_disks_lead_to_each_other_as_in_the_kernel(shelf):
    lines = (step("enclosure-slots/1-all-slots") / "enclosure-device-links.txt").read_text().splitlines()
    links = [re.fullmatch("(.*) -> (.*) block: (.*)", line).groups() for line in lines if "->" in line]
    assert len(links) == 10
    for bay, device, name in links:
        assert shelf.link(bay) == device
        assert [path.rpartition("/")[2] for path in shelf.list(f"{bay}/block/*")] == [name]
    assert shelf.list("/sys/block/sd*/device/enclosure_device*") == tuple(line for line in lines if "->" not in line)


def test_an_empty_bay_has_no_device(tmp_path):
    node = tiny()
    take_away(node, node.disks[3].wwid)
    shelf = host(tmp_path, node, Clock())
    assert shelf.read("/sys/class/enclosure/2:0:24:0/Slot04/status") == b"not installed\n"
    assert "Slot04" not in "".join(shelf.list("/sys/class/enclosure/*/*/device"))
    assert shelf.list("/sys/block/sdd") == ()


def test_block_devices_say_what_the_kernel_said(tmp_path):
    twin = host(tmp_path, tiny(), Clock())
    text = (step("healthy-raidz2") / "sys-block-links.txt").read_text()
    lines = re.findall("^(/sys/block/sd.*/(?:state|timeout|wwid)): (.*)$", text, re.MULTILINE)
    assert len(lines) == 24
    for path, value in lines:
        assert twin.read(path).decode() == value + "\n", path


def test_links_to_disks_are_those_udev_made(tmp_path):
    text = (step("healthy-raidz2") / "ls-by-id-by-path.txt").read_text().split("/dev/disk/by-path")[0]
    genuine = {f"/dev/disk/by-id/{link}": f"/dev/{name}" for link, name in re.findall(r"(\S+) -> \.\./\.\./(\S+)", text)}
    twin = host(tmp_path, tiny(), Clock())
    assert {path: twin.link(path) for path in twin.list("/dev/disk/by-id/*")} == genuine


def test_identity_is_in_the_vital_product_data(tmp_path):
    twin = host(tmp_path, tiny(), Clock())
    serial, ids = twin.read("/sys/block/sda/device/vpd_pg80"), twin.read("/sys/block/sda/device/vpd_pg83")
    assert serial == b"\x00\x80\x00\x08" + b"ZA20000X"
    assert ids[8:16].hex() == "5000c500a65b200b"
    assert len(ids) == 4 + int.from_bytes(ids[2:4], "big")


def test_a_disk_on_two_paths_is_one_disk_with_two_names(tmp_path):
    node = tiny()
    first = node.disks[6].paths[0]
    node.disks[6].paths.append(Path("sdzz", "3:0:6:0", 61, "0x5000c500a65b206d", "pci-0000:00:06.0-sas-phy6-lun-0"))
    twin = host(tmp_path, node, Clock())
    assert [twin.read(f"/sys/block/{name}/device/wwid") for name in (first.name, "sdzz")] == [b"naa.5000c500a65b206b\n"] * 2
    assert twin.run(("lsscsi", "-i"), 5).stdout.decode().count("35000c500a65b206b") == 2
    assert twin.run(("zdb", "-l", "/dev/sdzz"), 5).exit_code == 2


def test_the_node_says_who_it_is(tmp_path):
    twin = host(tmp_path, tiny(), Clock())
    assert twin.read("/etc/hostid") == bytes.fromhex("019c2f5b")  # little endian, as zgenhostid writes it
    assert twin.run(("hostid",), 5).stdout == b"5b2f9c01\n"
    assert twin.run(("hostname",), 5).stdout == twin.read("/proc/sys/kernel/hostname") == b"oss01\n"
    assert twin.run(("uname", "-r"), 5).stdout == twin.read("/proc/sys/kernel/osrelease")
    assert twin.read("/proc/spl/kstat/zfs/ost_0/state") == b"ONLINE\n"


@pytest.fixture
def tree() -> Tree:
    tree = Tree()
    tree.file("/sys/devices/a/size", "1\n")
    tree.file("/sys/devices/b/size", "2\n")
    tree.link("/sys/block/a", "/sys/devices/a")
    tree.link("/sys/block/b", "/sys/devices/b")
    tree.link("/sys/block/gone", "/sys/devices/gone")
    tree.link("/sys/loop", "/sys/loop")
    return tree


def test_a_pattern_follows_links_and_stops_at_slashes(tree):
    assert tree.glob("/sys/block/*/size") == ("/sys/block/a/size", "/sys/block/b/size")
    assert tree.glob("/sys/*/size") == ()
    assert tree.glob("/sys/block/[ab]") == ("/sys/block/a", "/sys/block/b")
    assert tree.glob("/sys/block") == ("/sys/block",)
    assert tree.glob("/sys/nothing") == ()


def test_a_dangling_link_is_listed_and_leads_nowhere(tree):
    assert "/sys/block/gone" in tree.glob("/sys/block/*")
    for path in ("/sys/block/gone", "/sys/loop", "/sys/block/a/size/more"):
        with pytest.raises(FileNotFoundError):
            tree.resolve(path)


def test_a_folder_cannot_be_read(tree):
    assert tree.read("/sys/block/a/size") == b"1\n"
    with pytest.raises(IsADirectoryError):
        tree.read("/sys/block/a")


def test_nothing_is_put_below_a_file():
    tree = Tree()
    tree.file("/sys/block/sda", "x")
    with pytest.raises(NotADirectoryError):
        tree.file("/sys/block/sda/size", "1")
    assert tree.read("/sys/block/sda") == b"x"


def test_a_folder_that_was_replaced_takes_nothing_any_more(tree):
    """Folders are remembered while a tree is made; one that became a file or a link must not go on taking files that nobody finds."""
    tree.file("/sys/devices", "x")
    for path in ("/sys/devices/a/size", "/sys/devices/c"):
        with pytest.raises(NotADirectoryError):
            tree.file(path, "1")
    tree.link("/sys/block", "/sys/loop")
    with pytest.raises(NotADirectoryError):
        tree.link("/sys/block/c", "/sys/devices/a")
