from types import SimpleNamespace

import pytest

from agents.domain.disk_identity import KINDS, NAMED_BY, NOT, SERIAL, STANDARD, doubt, kind_of
from agents.operations.base import check_wwid

PCI = "/sys/devices/pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0"
USB = "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0"
NAA, EUI, ATA = "naa:5000c500a65b207b", "eui:0025385b11b0d0a1", "ata:WDC_WD40EFRX-68N32N0:WD-WCC7K0ABCDEF"
NVME = "nvme:8086-4356434d3132333435363738-494e54454c-00000001"  # CVCM12345678


def device(name="sda", serial="WD-WCC7K0ABCDEF", folder=PCI):
    return SimpleNamespace(name=name, serial=serial, folder=folder)


@pytest.mark.parametrize(
    ("wwid", "trust"),
    [(NAA, STANDARD), (EUI, STANDARD), ("uuid:x", STANDARD), (ATA, SERIAL), (NVME, SERIAL), ("ser:A:B", NOT), ("t10:X", NOT), ("sda", NOT)],
)
def test_each_kind_of_identity_has_its_trust(wwid, trust):
    assert kind_of(wwid).trust == trust


def test_what_is_not_to_be_trusted_names_no_disk_in_a_write():
    assert {name for name, kind in KINDS.items() if kind.trust != NOT} == set(NAMED_BY)


@pytest.mark.parametrize(
    ("wwid", "devices"),
    [
        (NAA, [device()]),
        (NAA, [device(), device("sdb")]),  # two paths
        (EUI, [device("nvme0n1", "S5GXNX0R123456")]),
        (ATA, [device()]),
        (ATA, [device(serial="     WD-WCC7K0ABCDEF")]),
        (NVME, [device("nvme0n1", "CVCM12345678")]),
    ],
)
def test_a_disk_that_is_known_for_certain_may_be_named(wwid, devices):
    assert doubt(wwid, devices) == ""


@pytest.mark.parametrize(
    ("wwid", "devices", "why"),
    [
        ("ser:QEMU:7", [device()], "which no link names for certain"),
        (NAA, [device(folder=USB)], "sda is behind a USB bridge"),
        (ATA, [device(folder=USB)], "sda is behind a USB bridge"),
        (ATA, [device(), device("sdb")], "sda and sdb report one identity"),
        (EUI, [device("nvme0n1"), device("nvme1n1")], "nvme0n1 and nvme1n1 report one identity"),
        (ATA, [device(serial=None)], "sysfs shows no serial number of sda"),
        (ATA, [device(serial="WD-WCC7K0ABCDEE")], "sda reports the serial number WD-WCC7K0ABCDEE"),
        (NVME, [device("nvme0n1", "CVCM12345679")], "nvme0n1 reports the serial number CVCM12345679"),
        ("ata:QEMU_HARDDISK:QM00003", [device(serial="QM00003")], "which many disks report"),
        ("ata:Generic:0123456789ABCDEF", [device(serial="0123456789ABCDEF")], "which many disks report"),
        ("ata:KingFast:AA000000000000000016", [device(serial="AA000000000000000016")], "which many disks report"),
        ("ata:X:0000000000000000", [device(serial="0000000000000000")], "which many disks report"),
    ],
)
def test_a_disk_that_could_be_another_one_is_named_in_no_write(wwid, devices, why):
    assert why in doubt(wwid, devices)


@pytest.mark.parametrize("wwid", [NAA, EUI, ATA, NVME])
def test_an_order_takes_each_kind_that_has_a_link_of_its_own(wwid):
    assert check_wwid(wwid) == ""


@pytest.mark.parametrize("wwid", ["ser:A:B", "t10:ATA_X_1", "EUI:0025385B11B0D0A1", "nvme-eui.0025385b11b0d0a1", "/dev/sda", ""])
def test_an_order_takes_no_other_name(wwid):
    assert "is no WWID a disk can be named by" in check_wwid(wwid)
