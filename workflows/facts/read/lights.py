"""The lights whose place has no number, of PCIe ports and of the tools that the node has, and which disk each leads to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from agents.collectors import enclosure as enclosure_source
from agents.collectors import light_tools as light_tools_source
from agents.collectors.block import BlockDisk
from agents.collectors.enclosure import PORTS, port_above
from agents.collectors.light_tools import READ_BACK, ToolLight, is_of
from workflows.facts.model import LightFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, known, need

Lights = Mapping[str, Known[LightFacts]]  # key of a disk -> the first light that leads to it and to no other
NONE = Unknown("No PCIe port above it has a locate light, and no tool of the node shows a place for it.")


def read_lights(sources: Sources) -> Known[tuple[LightFacts, ...]]:
    """Those of the kernel first."""
    return sources.once("lights", lambda: _read(sources))


@derived
def _read(sources: Sources) -> Known[tuple[LightFacts, ...]]:
    ports = need(_of_ports(sources))
    tools = _of_tools(sources)
    return (*ports, *(_by_tool(light) for light in tools)) if known(tools) else ports


@derived
def _of_ports(sources: Sources) -> Known[tuple[LightFacts, ...]]:
    shown = need(sources.read(enclosure_source, if_nothing=()))
    slots = (slot for one in shown if one.id == PORTS for slot in one.slots)
    return tuple(
        LightFacts(
            PORTS, slot.name, Unknown(f"The light of PCIe port {slot.name} could not be read.") if slot.locate is None else slot.locate
        )
        for slot in slots
    )


@derived
def read_light_tools(sources: Sources) -> Known[Mapping[str, str]]:
    found = need(sources.read(light_tools_source, if_nothing=None))
    return {} if found is None else dict(found.tools)


@derived
def _of_tools(sources: Sources) -> Known[tuple[ToolLight, ...]]:
    found = need(sources.read(light_tools_source, if_nothing=None))
    return () if found is None else found.lights


def _by_tool(light: ToolLight) -> LightFacts:
    why = f"{light.tool} did not show it." if light.tool in READ_BACK else f"{light.tool} does not read a light back."
    return LightFacts(light.tool, light.place, Unknown(why) if light.lit is None else light.lit)


def lights_by_disk(sources: Sources, groups: Mapping[str, list[BlockDisk]]) -> Lights:
    ports, tools = _of_ports(sources), _of_tools(sources)
    found: dict[str, Known[LightFacts]] = {}
    if not known(ports):
        return dict.fromkeys(groups, ports)
    single = of_one_disk(groups.values())
    for key, devices in groups.items():
        above = {port_above(device.folder) for device in devices} & single
        here = [port for port in ports if port.place in above]
        if len(here) == 1:
            found[key] = here[0]
    for light in tools if known(tools) else ():
        leads_to = [key for key, devices in groups.items() if any(is_of(light, device) for device in devices)]
        if len(leads_to) == 1 and leads_to[0] not in found:
            found[leads_to[0]] = _by_tool(light)
    return found


def light_of(lights: Lights, key: str) -> Known[LightFacts]:
    return lights.get(key, NONE)


def of_one_disk(groups: Iterable[list[BlockDisk]]) -> frozenset[str]:
    """The ports below which there is one disk alone: a light leads to no other."""
    above = Counter(port for devices in groups for port in {port_above(device.folder) for device in devices})
    return frozenset(port for port, disks in above.items() if port and disks == 1)
