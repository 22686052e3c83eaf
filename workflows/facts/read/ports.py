"""The locate lights of PCIe ports, and which disk each leads to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from agents.collectors.enclosure import PORTS, port_above
from workflows.facts.model import PortFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, known, need


def read_ports(sources: Sources) -> Known[tuple[PortFacts, ...]]:
    return sources.once("ports", lambda: _read(sources))


@derived
def _read(sources: Sources) -> Known[tuple[PortFacts, ...]]:
    shown = need(sources.read("enclosure", if_nothing=()))
    slots = (slot for one in shown if one.id == PORTS for slot in one.slots)
    return tuple(
        PortFacts(slot.name, Unknown(f"The light of PCIe port {slot.name} could not be read.") if slot.locate is None else slot.locate)
        for slot in slots
    )


def of_one_disk(groups: Iterable[list[Any]]) -> frozenset[str]:
    """The ports below which there is one disk alone: a light leads to no other."""
    above = Counter(port for devices in groups for port in {port_above(device.folder) for device in devices})
    return frozenset(port for port, disks in above.items() if port and disks == 1)


def port_of(ports: Known[tuple[PortFacts, ...]], single: frozenset[str], devices: Iterable[Any]) -> Known[PortFacts]:
    if not known(ports):
        return ports
    above = {port_above(device.folder) for device in devices} & single
    found = [port for port in ports if port.address in above]
    return found[0] if len(found) == 1 else Unknown("No PCIe port above it alone has a locate light.")
