"""FreeBSD's disks as GEOM shows them. The texts are made up after the functions that print them; none was taken on FreeBSD."""

import pytest

from agents.collectors import _geom, block, disk_links, mounts, node
from agents.collectors.base import Unparsed
from agents.domain.disk_identity import doubt
from agents.domain.disk_uses import way_on, ways_on
from agents.domain.listed_disks import device_of
from agents.domain.wwid import as_other_systems_name, by_id_path, is_unit_of, normalise, of_geom, parts_of_geom

LISTED = """\
Geom name: da0
Providers:
1. Name: da0
   Mediasize: 4000787030016 (3.6T)
   Sectorsize: 512
   Stripesize: 4096
   Stripeoffset: 0
   Mode: r1w1e2
   descr: SEAGATE ST4000NM0023
   lunid: 5000c500a65b207b
   ident: ZA21ABCD
   rotationrate: 7200
   fwsectors: 63
   fwheads: 255

Geom name: cd0
Providers:
1. Name: cd0
   Mediasize: 0 (0B)
   Sectorsize: 2048
   Mode: r0w0e0
   descr: a drive
   ident: (null)

Geom name: da1
Providers:
1. Name: da1
   Mediasize: 4000787030016 (3.6T)
   Sectorsize: 512
   Mode: r0w0e0
   descr: WDC WD40EFRX
   ident: WD-WCC4E0000001
   rotationrate: 5400

"""
TREE = """\
0 DISK cd0 0 2048 hd 0 sc 0
0 DISK da0 4000787030016 512 hd 255 sc 63
1 PART da0p1 2147483648 512 i 1 o 65536 ty freebsd-swap xs GPT xt 516e7cb5-6ecf-11d6-8ff8-00022d09712b
1 PART da0p2 3998638460928 512 i 2 o 2147549184 ty freebsd-zfs xs GPT xt 516e7cba-6ecf-11d6-8ff8-00022d09712b
2 LABEL gptid/8b3f4a6c 3998638460928 512 i 0 o 0
3 ELI gptid/8b3f4a6c.eli 3998638460928 4096
4 PART gptid/8b3f4a6c.elip1 1048576 4096 i 1 o 0 ty freebsd-ufs xs GPT xt x
0 DISK da1 4000787030016 512 hd 255 sc 63
1 LABEL diskid/DISK-WD-WCC4E0000001 4000787030016 512 i 0 o 0
2 PART diskid/DISK-WD-WCC4E0000001p1 1048576 512 i 1 o 20480 ty freebsd-zfs xs GPT xt x
0 MD md0 1048576 512 u 0 s 512
1 PART md0p1 524288 512 i 1 o 0 ty freebsd-ufs xs GPT xt x
"""
BUSES = """\
scbus0 on mpr0 bus 0:
<SEAGATE ST4000NM0023 0004>        at scbus0 target 1 lun 0 (pass0,da0)
<ATA WDC WD40EFRX 0A82>            at scbus0 target 2 lun 0 (da1,pass1)
<>                                 at scbus0 target -1 lun ffffffff ()
scbus6 on umass-sim0 bus 0:
scbus-1 on xpt0 bus 0:
<>                                 at scbus-1 target -1 lun ffffffff (xpt0)
"""


def text(listed=LISTED, tree=TREE, buses=BUSES):
    answers = zip((" ".join(argv) for argv in _geom.QUESTIONS), (listed, tree, buses))
    return "".join(f"{question}:{line}\n" for question, answer in answers for line in answer.rstrip("\n").split("\n"))


def disks(**parts):
    found = block.parse(text(**parts))
    assert not isinstance(found, Unparsed), found
    return {disk.name: disk for disk in found}


def test_a_disk_has_its_identity_size_partitions_and_what_lies_on_it():
    found = disks()
    assert list(found) == ["da0", "da1"], "an optical drive and a memory disk are none"
    one = found["da0"]
    assert (one.wwid, one.serial, one.size_bytes, one.state) == ("geom:5000c500a65b207b:ZA21ABCD", "ZA21ABCD", 4000787030016, "live")
    assert (one.logical_block_bytes, one.physical_block_bytes, one.rotational, one.mode) == (512, 4096, True, "r1w1e2")
    assert [(part.name, part.number, part.holders) for part in one.partitions] == [
        ("da0p1", 1, ()),
        ("da0p2", 2, ("eli gptid/8b3f4a6c.eli",)),
    ]
    other = found["da1"]
    assert (other.wwid, other.holders, other.physical_block_bytes) == ("geom::WD-WCC4E0000001", (), 512)
    assert [part.name for part in other.partitions] == ["da1p1"], (
        "read through a name of the disk, it is a partition of the disk all the same"
    )


def test_a_name_is_one_of_a_disk_or_of_a_partition():
    links = dict(disk_links.parse(text()))
    assert links["/dev/gptid/8b3f4a6c"] == "da0p2"
    assert links["/dev/diskid/DISK-WD-WCC4E0000001"] == "da1"
    found = _geom.parse(text())
    assert [device_of(found, path) for path in ("/dev/gptid/8b3f4a6c", "/dev/da0p1", "/dev/gone", "da0")] == [
        "da0p2",
        "da0p1",
        "",
        "",
    ]


def test_a_disk_that_cam_does_not_list_is_not_known_to_be_there():
    assert disks(buses=BUSES.replace("da1", "da7"))["da1"].state is None


@pytest.mark.parametrize(
    "parts",
    [
        {"listed": LISTED.replace("Mode: r1w1e2", "Mode: open")},
        {"listed": LISTED.replace("   ident: ZA21ABCD", "   ident: ZA21ABCD\n   ident: ZA21ABCE")},
        {"listed": LISTED.replace("Name: da1", "Name: da0")},
        {"listed": LISTED.replace("Providers:", "Consumers:", 1)},
        {"tree": TREE.replace("0 DISK da1", "0 DISK da2")},
        {"tree": TREE.replace("1 PART da0p1", "3 PART da0p1")},
        {"tree": "what is this\n"},
    ],
)
def test_what_cannot_be_vouched_for_is_not_read(parts):
    assert isinstance(block.parse(text(**parts)), Unparsed)
    assert isinstance(disk_links.parse(text(**parts)), Unparsed)


def test_without_a_mode_what_holds_it_is_not_known():
    assert disks(listed=LISTED.replace("   Mode: r0w0e0\n   descr: WDC", "   descr: WDC"))["da1"].holders is None


def test_an_identity_names_a_disk_by_its_serial_number_and_holds_its_unit():
    wwid = of_geom("5000C500A65B207B", "ZA21ABCD")
    assert (wwid, by_id_path(wwid), normalise(wwid)) == ("geom:5000c500a65b207b:ZA21ABCD", "/dev/diskid/DISK-ZA21ABCD", wwid)
    assert parts_of_geom(wwid) == ("5000c500a65b207b", "ZA21ABCD")
    assert (is_unit_of("naa:5000c500a65b207b", wwid), is_unit_of("naa:5000c500a65b207c", wwid)) == (True, False)
    assert as_other_systems_name(wwid) == "naa:5000c500a65b207b"
    assert as_other_systems_name("geom::WD-WCC4E0000001") == "geom::WD-WCC4E0000001"
    assert of_geom("t10.ATA whatever", "WD-WCC4E0000001") == "geom::WD-WCC4E0000001"


@pytest.mark.parametrize("ident", ["", "(null)", "A B C D", "abc", "%20%20%20", "x" * 41, "ZA21/ABCD", "ZA21!BCD"])
def test_a_serial_number_that_names_no_disk_for_certain_is_no_identity(ident):
    assert of_geom("5000c500a65b207b", ident) is None


def test_two_devices_of_one_identity_a_bridge_and_a_made_up_number_are_doubted():
    one = disks()["da0"]
    assert doubt(one.wwid, [one]) == ""
    assert "gmultipath" in doubt(one.wwid, [one, one])
    usb = disks(buses=BUSES.replace("on mpr0", "on umass-sim0"))["da0"]
    assert "USB" in doubt(usb.wwid, [usb])
    made_up = disks(listed=LISTED.replace("ZA21ABCD", "0123456789"))["da0"]
    assert "many disks report" in doubt(made_up.wwid, [made_up])


@pytest.mark.parametrize(
    ("use", "way"),
    [
        ("held by eli da0p2.eli", "geli detach da0p2.eli"),
        ("held by multipath multipath/m0", "gmultipath status"),
        ("held by mirror mirror/gm0", "geom mirror list"),
        ("held by what has it open (r1w1e1)", "ctladm devlist -v"),
        ("swap", "swapinfo"),
        ("mounted on /srv (da0p2)", "umount /srv"),
        ("DOS/MBR boot sector; partition 1 : ID=0xee", "gpart destroy"),
    ],
)
def test_each_use_says_how_it_is_ended_there(use, way):
    assert way in way_on(use, "/dev/diskid/DISK-ZA21ABCD")
    assert "lsblk" not in ways_on((use,), "/dev/diskid/DISK-ZA21ABCD")


MOUNTS = (
    "swapinfo -k:Device          1K-blocks     Used    Avail Capacity\nswapinfo -k:/dev/gpt/swap0    2097152        0  2097152     0%\n"
)
MOUNTS += "swapinfo -k:Total             2097152        0  2097152     0%\nmount -p:zroot/ROOT/default\t/\t\tzfs\trw\t\t0 0\nmount -p:/dev/da0p1\t/boot/efi\tmsdosfs\trw\t2 2\n"


def test_mounts_and_swap_are_read():
    found = mounts.parse(MOUNTS)
    assert found.swaps == ("/dev/gpt/swap0",)
    assert found.mounts == (("zroot/ROOT/default", "/", "zfs"), ("/dev/da0p1", "/boot/efi", "msdosfs"))


BOOT = "sysctl:kern.boot_id: Format: Length:16 Dump:0x6d1fb0f06a2c4b7e9d570e3f6c2f5a11\n"
SYSTEM = "sysctl:kern.ostype: FreeBSD\nsysctl:kern.hostname: nas1\nsysctl:kern.osrelease: 14.1-RELEASE\nsysctl:kern.hostid: 1529846785\n"


def test_the_node_says_who_it_is_and_which_boot():
    found = node.parse(SYSTEM + BOOT)
    assert (found.system, found.hostname, found.hostid, found.kernel) == ("FreeBSD", "nas1", "5b2f9c01", "14.1-RELEASE")
    assert found.boot_id == "6d1fb0f0-6a2c-4b7e-9d57-0e3f6c2f5a11"


@pytest.mark.parametrize("boot", ["", BOOT.replace(":16 ", ":8 "), BOOT.replace("5a11", "5a1"), BOOT.replace("0x", "")])
def test_a_boot_id_of_another_form_is_none(boot):
    assert node.parse(SYSTEM + boot).boot_id is None


def test_of_another_system_neither_is_taken():
    found = node.parse(SYSTEM.replace("FreeBSD", "Darwin") + BOOT)
    assert (found.system, found.boot_id) == (None, None)
