"""The light of a PCIe port: lit for the one disk below it, read back, the only one lit, and switched off whatever sits there."""

from __future__ import annotations

import pytest

from agents.collectors import enclosure
from agents.collectors.base import Unparsed
from agents.operations import locate_led as op
from agents.operations.base import act
from twin import scenarios
from twin.disk_kinds import at_ports, nvme, turned
from twin.host import TwinHost
from twin.memory import MemoryStore


def host(change=lambda node: None, **kind: type) -> TwinHost:
    node = at_ports(turned(scenarios.sick_disk(), nvme))
    change(node)
    return kind.get("of", TwinHost)(MemoryStore(node), lambda: 1e9, lambda seconds: None)


def params(twin: TwinHost, light: str = "on", **over: str) -> dict[str, str]:
    node = twin.view().node
    named = {"pool": "ost_0", "pool_guid": "1", "enclosure": "npem", "slot": node.ports[0].address, "wwid": node.disks[0].wwid}
    return named | {"light": light} | over


def lit(twin: TwinHost) -> list[str]:
    return [port.address for port in twin.view().node.ports if port.locate]


def against(twin: TwinHost, asked: dict[str, str]) -> list[str]:
    assert op.check(asked) == ""
    return [reason for outcome, reason in op.guards(op.preconditions(twin, asked), asked) if outcome != "pass"]


def test_it_is_lit_for_the_disk_below_it_and_read_back_and_switched_off():
    twin = host()
    asked = params(twin)
    assert against(twin, asked) == []
    assert op.preconditions(twin, asked)["led.way"] == "npem"
    ran = act(op, twin, asked)
    assert (ran.exit_code, lit(twin)) == (0, [asked["slot"]])
    assert f"read back: PCIe port {asked['slot']} is lit".encode() in ran.stdout
    assert op.probe(twin, asked, {}).result == "did"
    dark = params(twin, "off", wwid=op.ANY)
    assert against(twin, dark) == []
    assert (act(op, twin, dark).exit_code, lit(twin)) == (0, [])


def test_it_is_not_lit_for_another_disk_and_not_beside_another_light():
    twin = host(lambda node: setattr(node.ports[1], "locate", 1))
    other = twin.view().node.disks[1].wwid
    wrong, beside = against(twin, params(twin, wwid=other))
    assert f"and not {other}. Nothing is lit" in wrong
    assert f"PCIe port {twin.view().node.ports[1].address} is lit already" in beside
    ran = act(op, twin, params(twin))
    assert ran.exit_code == 1
    assert b"is lit too" in ran.stderr


def test_two_disks_below_one_port_are_not_one():
    def namespaces(node):
        node.disks[1].paths[0].phys_path = node.disks[0].paths[0].phys_path

    (why,) = against(host(namespaces), params(host(namespaces)))
    assert "several disks are reported at PCIe port" in why


class Late(TwinHost):
    """The kernel carries a write out some reads later, or never."""

    left = 3

    def read(self, path: str) -> bytes:
        if path.endswith("/brightness") and self.left > 0:
            self.left -= 1
            return b"0\n"
        return super().read(path)


@pytest.mark.parametrize(("reads", "exit_code"), [(3, 0), (10**6, 1)])
def test_a_light_is_lit_when_it_reads_so_and_not_when_it_was_written(reads, exit_code, monkeypatch):
    monkeypatch.setattr(op.time, "sleep", lambda seconds: None)
    twin = host(of=Late)
    twin.left = reads
    assert act(op, twin, params(twin)).exit_code == exit_code


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"slot": "68"}, "is no address of a PCIe port"),
        ({"slot": "../../x"}, "is no address of a PCIe port"),
        ({"enclosure": "nvme"}, "is no bay"),
    ],
)
def test_a_place_that_is_none_is_refused(over, words):
    assert words in op.check(params(host(), **over))


def test_a_port_that_the_kernel_does_not_show_is_not_known():
    twin = host()
    assert any("shows no locate light of PCIe port 0000:ff:00.0" in why for why in against(twin, params(twin, slot="0000:ff:00.0")))


# --- how it is read


LIGHTS = "/sys/class/leds:0000:00:03.1:enclosure:locate 10000:00:02.0:enclosure:locate\n"
LIT = "/sys/class/leds/0000:00:03.1:enclosure:locate/brightness:1\n"


def test_ports_are_read_with_and_without_enclosures():
    for before in ("", "/sys/class/enclosure:\n", "/sys/class/enclosure:6:0:89:0\n/sys/class/enclosure/6:0:89:0/id:0x1\n"):
        ports = enclosure.parse(before + LIGHTS + LIT)[-1]
        assert (ports.id, [(slot.name, slot.number, slot.locate) for slot in ports.slots]) == (
            "npem",
            [("0000:00:03.1", None, True), ("10000:00:02.0", None, None)],
        ), "one that was not read is not dark"


@pytest.mark.parametrize("text", [LIT, LIGHTS + LIGHTS, LIGHTS + LIT.replace("03.1", "04.1"), LIGHTS.replace("10000:", "x:")])
def test_lights_that_no_list_has_are_not_understood(text):
    assert isinstance(enclosure.parse(text), Unparsed)


@pytest.mark.parametrize(
    ("folder", "port"),
    [
        ("/sys/devices/pci0000:00/0000:00:03.1/0000:03:00.0/nvme/nvme0", "0000:00:03.1"),
        ("/sys/devices/pci0000:00/0000:00:0e.0/pci10000:00/10000:00:02.0/10000:01:00.0/nvme/nvme3", "10000:00:02.0"),
        ("/sys/devices/pci0000:00/0000:03:00.0/nvme/nvme0", ""),
        ("/sys/devices/virtual/nvme-subsystem/nvme-subsys0", ""),
        ("/sys/devices/pci0000:00/0000:00:03.1/0000:03:00.0/host6/port-6:0/end_device-6:0", ""),
        (None, ""),
    ],
)
def test_the_port_of_a_disk_is_the_one_directly_above_its_controller(folder, port):
    assert enclosure.port_above(folder) == port
