"""Every bay of every enclosure the kernel's ses driver knows, from /sys/class/enclosure; and the locate lights of PCIe ports, from /sys/class/leds.

A port with Native PCIe Enclosure Management, or whose firmware has the _DSM for it, has such a light since Linux 6.12 (drivers/pci/npem.c:
pci_npem_set_led_classdev names it ADDRESS:enclosure:locate). `brightness` shows what the port answered when it was last written through this file,
and not what another program set past the kernel since (npem.c: brightness_get).

Reading status, locate, fault, active or power asks the expander, which may take its time; a sick one costs up to half a minute
an attribute. So the reading stops when it has taken too long, and it is asked seldom.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute, entries, whole
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "enclosure"
EVERY_SECONDS = 60
BUDGET_SECONDS = 45
ROOT = "/sys/class/enclosure"
LEDS = "/sys/class/leds"
PORTS = "npem"  # what stands for the id of an enclosure where a place is a PCIe port, by its address
PORT = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
SENSED = 4  # in `fault`: the enclosure itself senses one

_ATTRIBUTES = ("slot", "type", "status", "locate", "fault", "active", "power_status")


@dataclass(frozen=True)
class Slot:
    """One bay. A field is None when the enclosure did not say. `device` is the disk it is linked to, by kernel name."""

    name: str  # the folder's name: "68", "SLOT 4"
    number: int | None
    status: str | None
    locate: bool | None
    fault: bool | None  # whether the light is on, whoever wants it so
    active: bool | None
    power: str | None
    device: str | None
    fault_asked: bool | None = None  # whether the node asked for it


@dataclass(frozen=True)
class Enclosure:
    """One enclosure as one path sees it. `id` is stable, `name` is not; a second path shows the same id again.

    The PCIe ports that have a locate light are one more, whose id is PORTS and whose slots have an address for a name and no number.
    """

    name: str
    id: str | None
    slots: tuple[Slot, ...]


def collect(host: Host) -> tuple[Capture, ...]:
    ports = _of_ports(host)
    if not host.list(ROOT):
        if ports:
            return (Capture(NAME, "", "data", "\n".join(ports) + "\n"),)
        return (Capture(NAME, "", "nothing", "", f"{ROOT} is not there; the kernel has no enclosure driver loaded"),)
    begun = host.now()
    lines = entries(host, ROOT)
    for enclosure in host.list(f"{ROOT}/*"):
        lines += attribute(host, f"{enclosure}/id")
        for slot in (path[: -len("/slot")] for path in host.list(f"{enclosure}/*/slot")):
            if host.now() - begun > BUDGET_SECONDS:
                reason = f"{enclosure} answers too slowly: stopped before {slot.rsplit('/', 1)[1]} after {BUDGET_SECONDS} s"
                return (Capture(NAME, "", "failed", "\n".join(lines) + "\n", reason, seconds=host.now() - begun),)
            for name in _ATTRIBUTES:
                lines += attribute(host, f"{slot}/{name}")
            lines += entries(host, f"{slot}/device/block")
    return (Capture(NAME, "", "data", "\n".join(lines + ports) + "\n", seconds=host.now() - begun),)


def _of_ports(host: Host) -> list[str]:
    """The list of the lights, and one line for each that can be read."""
    found = host.list(f"{LEDS}/*:enclosure:locate")
    names = [path.rsplit("/", 1)[1] for path in found]
    return [f"{LEDS}:{' '.join(names)}", *(line for path in found for line in attribute(host, f"{path}/brightness"))] if found else []


def light_of(port: str) -> str:
    """The folder of a port's locate light."""
    return f"{LEDS}/{port}:enclosure:locate"


_NVME = re.compile(rf".*/({PORT.pattern})/{PORT.pattern}/nvme/nvme[0-9]+")


def port_above(folder: str | None) -> str:
    """The PCIe port directly above an NVMe controller, by the controller's folder in sysfs; "" where it is none, or has none above it."""
    found = _NVME.fullmatch(folder or "")
    return found.group(1) if found else ""


_ID = re.compile(rf"{ROOT}/([^/]+)/id:(.*)")
_LIGHTS = re.compile(rf"{LEDS}:(.*)")
_LIGHT = re.compile(rf"{LEDS}/({PORT.pattern}):enclosure:locate/brightness:(.*)")
_SLOT = re.compile(rf"{ROOT}/([^/]+)/([^/]+)/({'|'.join(_ATTRIBUTES)}|device/block):(.*)")


def parse(text: str) -> tuple[Enclosure, ...] | Unparsed:
    """Every enclosure in `text`, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    first, *lines = text.rstrip("\n").split("\n")
    ports = {} if first.startswith(f"{ROOT}:") else _listed(first)
    if ports is None:
        return Unparsed("the list of enclosures is missing", first)
    ids: dict[str, str] = {}
    slots: dict[str, dict[str, dict[str, str]]] = {name: {} for name in ([] if ports else first[len(ROOT) + 1 :].split())}
    for line in lines:
        listed, light = _listed(line), _LIGHT.fullmatch(line)
        if listed and not ports:
            ports = listed
            continue
        if light and light.group(1) in ports:
            ports[light.group(1)] = _flag(light.group(2))
            continue
        identity = _ID.fullmatch(line)
        slot_line = None if identity else _SLOT.fullmatch(line)
        if identity and identity.group(1) in slots:
            ids[identity.group(1)] = identity.group(2).strip()
        elif slot_line and slot_line.group(1) in slots:
            slots[slot_line.group(1)].setdefault(slot_line.group(2), {})[slot_line.group(3)] = slot_line.group(4)
        else:
            return Unparsed("a line of the enclosures cannot be read", line)
    shown = tuple(Enclosure(name, ids.get(name) or None, _slots(found)) for name, found in slots.items())
    return (*shown, Enclosure(PORTS, PORTS, tuple(_port(*each) for each in sorted(ports.items())))) if ports else shown


def _listed(line: str) -> dict[str, bool | None] | None:
    """The ports of the list of lights, none of them read yet; None where the line is no such list."""
    found = _LIGHTS.fullmatch(line)
    ports = [name.removesuffix(":enclosure:locate") for name in found.group(1).split()] if found else []
    return dict.fromkeys(ports) if ports and all(PORT.fullmatch(port) for port in ports) else None


def _port(address: str, lit: bool | None) -> Slot:
    return Slot(address, None, None, lit, None, None, None, None)


def _slots(found: dict[str, dict[str, str]]) -> tuple[Slot, ...]:
    slots = [_slot(name, attributes) for name, attributes in found.items()]
    return tuple(sorted(slots, key=lambda slot: (slot.number is None, slot.number or 0, slot.name)))


def _slot(name: str, attributes: dict[str, str]) -> Slot:
    devices = attributes.get("device/block", "").split()
    return Slot(
        name,
        whole(attributes.get("slot")),
        attributes.get("status", "").strip() or None,
        _flag(attributes.get("locate")),
        _flag(attributes.get("fault")),
        _flag(attributes.get("active")),
        attributes.get("power_status", "").strip() or None,
        devices[0] if len(devices) == 1 else None,
        _asked(attributes.get("fault")),
    )


def _asked(fault: str | None) -> bool | None:
    """The driver shows 2 for what the node asked for and 4 for what the enclosure senses by itself."""
    number = whole(fault)
    return None if number is None else number & ~SENSED != 0


def _flag(value: str | None) -> bool | None:
    number = whole(value)
    return None if number is None else number != 0
