"""The SAS fabric as sysfs shows it: HBA, expanders, ports with their phys, and the end devices with the bay the HBA knows for them.

Where a device hangs is read from its real path: `…/host6/port-6:0/expander-6:0/port-6:0:12/end_device-6:0:12`. What changes by
itself (error counters, link rates) is in `sas_phys`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute, link, whole
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "sas_topology"
EVERY_SECONDS = 60

_CLASS = "/sys/class"
_DEVICE = ("sas_address", "device_type", "phy_identifier", "enclosure_identifier", "bay_identifier")
_EXPANDER = ("vendor_id", "product_id", "product_rev", "level")


@dataclass(frozen=True)
class SasHost:
    """One HBA."""

    number: int
    driver: str | None  # "mpt3sas"
    pci: str | None  # "0000:b3:00.0"


@dataclass(frozen=True)
class SasDevice:
    """An expander or an end device, and the way to it from the HBA: ("host6", "expander-6:0")."""

    name: str  # "expander-6:0", "end_device-6:0:12"
    way: tuple[str, ...]
    address: str | None  # "0x5000c500a6754ab9"
    type: str | None  # "end device", "edge expander"
    enclosure_id: str | None  # as the HBA says it; None when it does not
    bay: int | None
    model: str | None  # expanders: vendor, product and revision


@dataclass(frozen=True)
class SasPort:
    """A link of one or more phys of `owner`, and the device at its other end (None when nothing is seen there)."""

    name: str  # "port-6:0:12"
    owner: str  # "host6" or an expander
    phys: tuple[str, ...]  # "phy-6:0:12"
    device: str | None


@dataclass(frozen=True)
class SasTopology:
    hosts: tuple[SasHost, ...]
    devices: tuple[SasDevice, ...]
    ports: tuple[SasPort, ...]


def collect(host: Host) -> tuple[Capture, ...]:
    if not host.list(f"{_CLASS}/sas_host"):
        return (Capture(NAME, "", "nothing", "", f"{_CLASS}/sas_host is not there; the kernel sees no SAS HBA"),)
    lines = ["sas_topology"]
    for path in host.list(f"{_CLASS}/sas_host/host*"):
        lines += link(host, path) + attribute(host, f"{_CLASS}/scsi_host/{path.rsplit('/', 1)[1]}/proc_name")
    for path in host.list(f"{_CLASS}/sas_device/*"):
        lines += link(host, path)
        for name in _DEVICE:
            lines += attribute(host, f"{path}/{name}")
        if "/expander-" in path:
            expander = f"{_CLASS}/sas_expander/{path.rsplit('/', 1)[1]}"
            lines += [line for name in _EXPANDER for line in attribute(host, f"{expander}/{name}")]
    for path in host.list(f"{_CLASS}/sas_port/port-*"):
        lines += link(host, path)
        phys = [found.rsplit("/", 1)[1] for found in host.list(f"{path}/device/phy-*")]
        lines.append(f"{path}/device:{' '.join(sorted(phys, key=_order))}")
    return (Capture(NAME, "", "data", "\n".join(lines) + "\n"),)


def _order(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", name)]


_LINE = re.compile(r"/sys/class/(sas_host|scsi_host|sas_device|sas_expander|sas_port)/([a-z_]+-?[0-9:]+)(?:/(\w+):(.*)| -> (/.*))")
_HOST = re.compile(r"host([0-9]{1,6})")
_STEP = re.compile(r"(?:host|expander-|end_device-|port-)[0-9:]+")
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@dataclass
class _Attributes:
    paths: dict[str, str] = field(default_factory=dict)  # "sas_device/end_device-6:0:12" -> real path
    values: dict[tuple[str, str], str] = field(default_factory=dict)  # (name, attribute) -> value


def parse(text: str) -> SasTopology | Unparsed:
    """The fabric in `text`, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    first, *lines = text.rstrip("\n").split("\n")
    if first != NAME:
        return Unparsed("this is no SAS topology", first)
    topology = _Attributes()
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            return Unparsed("a line of the SAS topology cannot be read", line)
        kind, name, attribute_name, value, target = found.groups()
        if target:
            topology.paths[f"{kind}/{name}"] = target
        else:
            topology.values[name, attribute_name] = value.strip()
    places = {key.partition("/")[2]: path for key, path in topology.paths.items() if key.startswith("sas_device/")}
    return SasTopology(_hosts(topology), tuple(_device(topology, name, path) for name, path in places.items()), _ports(topology, places))


def way(path: str) -> tuple[str, ...]:
    """The steps from the HBA down that a real path goes through, ports left out: ("host6", "expander-6:0", "end_device-6:0:12")."""
    steps = [part for part in path.split("/") if _STEP.fullmatch(part) and not part.startswith("port-")]
    return tuple(dict.fromkeys(steps))  # class folders repeat the device's own name


def pci_of(path: str) -> str | None:
    """The PCI function that a real path goes through last: the HBA."""
    found = [part for part in path.split("/") if _PCI.fullmatch(part)]
    return found[-1] if found else None


def _hosts(topology: _Attributes) -> tuple[SasHost, ...]:
    found = [(name.partition("/")[2], path) for name, path in topology.paths.items() if name.startswith("sas_host/")]
    hosts = [(_HOST.fullmatch(name), name, path) for name, path in found]
    return tuple(
        SasHost(int(match.group(1)), topology.values.get((name, "proc_name")) or None, pci_of(path)) for match, name, path in hosts if match
    )


def _device(topology: _Attributes, name: str, path: str) -> SasDevice:
    values = {key: topology.values.get((name, key), "") for key in (*_DEVICE, *_EXPANDER)}
    enclosure = values["enclosure_identifier"]
    return SasDevice(
        name,
        tuple(step for step in way(path) if step != name),
        values["sas_address"] or None,
        values["device_type"] or None,
        enclosure if re.fullmatch(r"0x[0-9a-f]{1,16}", enclosure) and enclosure.strip("0x") else None,
        whole(values["bay_identifier"]),
        " ".join(values[key] for key in ("vendor_id", "product_id", "product_rev") if values[key]) or None,
    )


def _ports(topology: _Attributes, places: dict[str, str]) -> tuple[SasPort, ...]:
    ends = {_port_above(path): name for name, path in places.items()}
    ports = []
    for key, path in topology.paths.items():
        kind, _, name = key.partition("/")
        if kind == "sas_port":
            above = way(path)
            phys = tuple(topology.values.get((name, "device"), "").split())
            ports.append(SasPort(name, above[-1] if above else "", phys, ends.get(name)))
    return tuple(ports)


def _port_above(path: str) -> str:
    """The last port a device's real path goes through."""
    return next((part for part in reversed(path.split("/")) if re.fullmatch(r"port-[0-9:]+", part)), "")
