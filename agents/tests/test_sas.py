"""The SAS fabric and its phys: genuine lab captures, and the twin for what the lab has not (an expander)."""

import pytest

from agents.collectors import io_counters, multipath, sas_phys, sas_topology
from agents.collectors.base import Unparsed
from agents.collectors.sas_phys import gigabits
from agents.tests.scenarios import step, texts
from twin import demo
from twin.captured_host import CapturedHost
from twin.host import TwinHost
from twin.scenarios import Clock

NOW = 1795248315.0
PHYS = texts("sas-phy-counters.txt")


@pytest.fixture(scope="module")
def oss01(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin")
    demo.make(folder, NOW)
    return TwinHost(demo.state_path(folder, "oss01"), Clock(NOW))


@pytest.mark.parametrize(("name", "text"), PHYS, ids=[name for name, _ in PHYS])
def test_it_reads_genuine_phys(name, text):
    phys = sas_phys.parse(text)
    assert len(phys) == text.count("invalid_dword_count")
    for phy in phys:
        assert phy.counters == (0, 0, 0, 0)
        assert (phy.rate, phy.gbit) in (("3.0 Gbit", 3.0), ("Link Rate failed", None))
        assert (phy.device_type == "none") == (phy.gbit is None)


def test_a_torn_counter_is_no_smaller_counter():
    text = "phy-2:0/invalid_dword_count:41\nphy-2:0/phy_reset_problem_count:0\n"
    assert sas_phys.parse(text)[0].invalid_dword == 41
    for bad in ("4K", "", "4.1", "0x4", "-1"):
        assert isinstance(sas_phys.parse(text.replace(":41", f":{bad}")), Unparsed)
    assert isinstance(sas_phys.parse(text + "phy-2:0/invalid_dword_count:4\n"), Unparsed)


@pytest.mark.parametrize(
    ("text", "rate"), [("12.0 Gbit", 12.0), ("22.5 Gbit", 22.5), ("Unknown", None), ("Link Rate failed", None), (None, None)]
)
def test_a_link_that_is_down_has_no_rate(text, rate):
    assert gigabits(text) == rate


def test_it_reads_a_genuine_fabric():
    (capture,) = sas_topology.collect(CapturedHost(step("healthy-raidz2")))
    fabric = sas_topology.parse(capture.text)
    assert [(host.number, host.driver, host.pci) for host in fabric.hosts] == [(2, "mptsas", "0000:00:06.0")]
    assert {device.way for device in fabric.devices} == {("host2",)}
    assert {device.enclosure_id for device in fabric.devices} == {None}  # mptsas gives bay 0 for all and no enclosure


def test_it_finds_the_way_through_an_expander(oss01):
    (capture,) = sas_topology.collect(oss01)
    fabric = sas_topology.parse(capture.text)
    end = next(device for device in fabric.devices if device.address == "0x5000cca273a7d9e9")
    assert end.way == ("host6", "expander-6:0")
    assert (end.enclosure_id, end.bay) == ("0x50050cc11ac016e2", 68)
    port = next(port for port in fabric.ports if port.device == end.name)
    assert (port.owner, len(port.phys)) == ("expander-6:0", 1)
    wide = next(port for port in fabric.ports if port.device == "expander-6:0")
    assert (wide.owner, wide.phys) == ("host6", ("phy-6:0", "phy-6:1", "phy-6:2", "phy-6:3"))


def test_counters_leave_the_other_reports_unchanged(oss01):
    before = [module.collect(oss01)[0].digest for module in (sas_topology, io_counters)]
    with oss01.store.changing() as node:
        node.phys["phy-6:0:107"] = [3120, 3007, 41, 0]
    assert [module.collect(oss01)[0].digest for module in (sas_topology, io_counters)] == before
    phys = {phy.name: phy for phy in sas_phys.parse(sas_phys.collect(oss01)[0].text)}
    assert phys["phy-6:0:107"].counters == (3120, 3007, 41, 0)


def test_it_reads_counters_in_hex(oss01):
    (capture,) = io_counters.collect(oss01)
    counters = {disk.name: disk for disk in io_counters.parse(capture.text)}
    assert (counters["sdfl"].done, counters["sdfl"].failed, counters["sdfl"].queue_depth) == (0x1A2B3C, 0, 254)
    assert isinstance(io_counters.parse("/sys/block:sda\n/sys/block/sda/device/ioerr_cnt:1.2K\n"), Unparsed)


MAPS = """/sys/block:dm-0 dm-1
/sys/block/dm-0/dm/uuid:mpath-35000c500a65b207b
/sys/block/dm-0/dm/name:mpatha
/sys/block/dm-0/slaves:sda sdq
/sys/block/dm-1/dm/uuid:LVM-abc
/sys/block/dm-1/dm/name:vg-root
/sys/block/dm-1/slaves:sdz3
multipathd:sda|35000c500a65b207b|active|ready
multipathd:sdq|35000c500a65b207b|failed|faulty
"""


def test_two_paths_are_one_disk():
    """Composed by us after multipathd's format wildcards."""
    (found,) = multipath.parse(MAPS)
    assert (found.dm, found.name, found.wwid) == ("dm-0", "mpatha", "naa:5000c500a65b207b")
    assert [(path.name, path.dm_state, path.checker) for path in found.paths] == [("sda", "active", "ready"), ("sdq", "failed", "faulty")]
    assert multipath.parse("/sys/block:\n") == ()


def test_the_daemon_is_asked_only_where_there_are_maps(oss01):
    (capture,) = multipath.collect(oss01)
    assert (capture.outcome, capture.text) == ("data", "/sys/block:\n")
