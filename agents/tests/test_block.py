import pytest

from agents.collectors import block
from agents.collectors.base import Unparsed
from agents.collectors.block import BlockDisk, BlockPartition, parse
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost


def disks(name: str) -> dict[str, BlockDisk]:
    (capture,) = block.collect(CapturedHost(step(name)))
    read = parse(capture.text)
    assert not isinstance(read, Unparsed), read
    return {disk.name: disk for disk in read}


def test_it_reads_who_a_disk_is():
    sda = disks("wwid-drift/1-before")["sda"]
    assert (sda.wwid, sda.serial, sda.vendor, sda.model, sda.rev) == (
        "naa:5000c500a65b200b",
        "ZA20000X",
        "SEAGATE",
        "ST10000NM0256",
        "TT54",
    )
    assert (sda.hctl, sda.state, sda.sas_address, sda.size_bytes) == ("2:0:0:0", "running", "0x5000c500a65b200b", 536870912)
    assert sda.holders == ()
    assert sda.partitions == (BlockPartition("sda1", 1, 526385152, ()), BlockPartition("sda9", 9, 8388608, ()))


def test_what_sysfs_did_not_say_is_none():
    sda = disks("wwid-drift/1-before")["sda"]
    assert (sda.logical_block_bytes, sda.read_only, sda.slot_link) == (None, None, None)


def test_sectors_are_read_where_they_were_recorded():
    sda = disks("healthy-raidz2")["sda"]
    assert (sda.logical_block_bytes, sda.physical_block_bytes, sda.read_only) == (512, 512, False)


def test_a_name_that_moved_is_another_disk():
    assert disks("wwid-drift/1-before")["sda"].wwid != disks("wwid-drift/4-import-d-dev")["sda"].wwid


def test_it_orders_sixty_disks_as_the_kernel_names_them():
    names = list(disks("sixty-disks/1-healthy"))
    assert (len(names), names[0], names[25], names[26], names[-1]) == (60, "sda", "sdz", "sdaa", "sdbh")


def test_a_node_without_sysfs_says_nothing():
    (capture,) = block.collect(CapturedHost(step("disk-removed/4-replace")))
    assert (capture.outcome, capture.text) == ("nothing", "")


MADE_UP = """\
/sys/block:sdfl nvme0n1
/sys/block/sdfl/device -> /sys/devices/pci0000:b2/0000:b3:00.0/host6/port-6:0/expander-6:0/end_device-6:0:17/target6:0:176/6:0:176:0
/sys/block/sdfl/size:19541606400
/sys/block/sdfl/ro:0
/sys/block/sdfl/queue/logical_block_size:512
/sys/block/sdfl/queue/physical_block_size:4096
/sys/block/sdfl/device/vendor:SEAGATE
/sys/block/sdfl/device/wwid:naa.5000c500a6754abb
/sys/block/sdfl/device/vpd_pg80:008000145a41323141424344202020202020202020202020
/sys/block/sdfl/holders:dm-3 md127
/sys/block/sdfl/device/enclosure_device:SLOT 69 -> /sys/devices/pci0000:b2/6:0:89:0/enclosure/6:0:89:0/SLOT 69
/sys/block/sdfl/sdfl1/partition:1
/sys/block/sdfl/sdfl1/size:19541588992
/sys/block/nvme0n1/size:3907029168
/sys/block/nvme0n1/wwid:eui.0025385b11b0d0a1
/sys/block/nvme0n1/device/serial:S5GXNX0R123456
/sys/block/nvme0n1/device/firmware_rev:5B2QGXA7
"""


def test_it_reads_holders_slots_and_nvme():
    sdfl, nvme = parse(MADE_UP)
    assert (sdfl.holders, sdfl.slot_link, sdfl.serial) == (("dm-3", "md127"), "/sys/class/enclosure/6:0:89:0/SLOT 69", "ZA21ABCD")
    assert (sdfl.partitions[0].holders, sdfl.read_only, sdfl.hctl) == (None, False, "6:0:176:0")
    assert (nvme.wwid, nvme.serial, nvme.rev, nvme.holders) == ("eui:0025385b11b0d0a1", "S5GXNX0R123456", "5B2QGXA7", None)


@pytest.mark.parametrize("line", ["/sys/block/sdzz/size:1", "sdfl/size:1", "/sys/block/sdfl/size 1", "junk"])
def test_a_line_it_does_not_know_is_refused(line):
    assert isinstance(parse(MADE_UP + line + "\n"), Unparsed)


@pytest.mark.parametrize("size", ["", "1e9", "-5", "²", "9" * 30])
def test_a_size_that_is_no_number_is_not_known(size):
    assert parse(MADE_UP.replace("size:19541606400", f"size:{size}"))[0].size_bytes is None


@pytest.mark.parametrize("page", ["", "zz", "0083000441424344", "00800004", "00800008414243", "0080000441ff4243"])
def test_a_serial_that_is_no_serial_is_not_known(page):
    assert parse(MADE_UP.replace("008000145a41323141424344202020202020202020202020", page))[0].serial is None
