"""One light by a tool of the node: `ledctl`, `sas3ircu`, `sas2ircu`, `storcli` or `perccli`, each asked in this very moment which disk has the place.

ledctl      --set-slot … --state=locate, of that slot alone; read back by --list-slots (doc/ledctl.pod, 0.97 to 1.1.0)
sas?ircu    CONTROLLER locate ENCLOSURE:SLOT ON (SAS-3 Integrated RAID user guide, LOCATE); it ends with 0 where it was done
storcli     /cC/eE/sS start locate (StorCLI reference manual, drive commands); it prints "Status = Success" where it was done
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import light_tools
from agents.collectors.base import Unparsed
from agents.collectors.block import BlockDisk
from agents.collectors.light_tools import HBA, LEDCTL, NO_LOG, READ_BACK, ToolLight
from agents.host.host import Host
from agents.operations.base import NONE, Unread

NOT_SHOWN = "the tool reads no light back"


def reads_back(params: Mapping[str, str]) -> bool:
    return params["enclosure"] in READ_BACK


def lights(host: Host, params: Mapping[str, str]) -> tuple[ToolLight, ...]:
    """All that the tool shows now. Raises Unread."""
    tool = params["enclosure"]
    found = light_tools.of_tool(host, tool)
    if isinstance(found, Unparsed):
        raise Unread(found.reason)
    if why := found.tools.get(tool):
        raise Unread(why)
    return found.lights


def disks_at(host: Host, params: Mapping[str, str], disks: tuple[BlockDisk, ...]) -> set[str]:
    """The WWIDs of the disks that the tool has at the place; a controller lists no empty one. Raises Unread where it has a disk that the kernel does not show."""
    there = [light for light in lights(host, params) if light.place == params["slot"]]
    if not there and reads_back(params):
        raise Unread(f"{params['enclosure']} shows no place {params['slot']}")
    found = {disk.wwid or disk.name for light in there for disk in disks if light_tools.is_of(light, disk)}
    if there and not found and any(light.device or light.wwid or light.serial for light in there):
        raise Unread(f"{params['enclosure']} shows a disk at {params['slot']} that the kernel does not")
    return found


def is_lit(host: Host, params: Mapping[str, str]) -> bool:
    """Raises Unread, always for a tool that reads no light back."""
    return params["slot"] in lit_places(host, params)


def lit_places(host: Host, params: Mapping[str, str]) -> tuple[str, ...]:
    if not reads_back(params):
        raise Unread(NOT_SHOWN)
    shown = lights(host, params)
    if all(light.place != params["slot"] for light in shown):
        raise Unread(f"{params['enclosure']} shows no place {params['slot']}")
    if unread := [light.place for light in shown if light.lit is None]:
        raise Unread(f"the light of place {unread[0]} cannot be read")
    return tuple(light.place for light in shown if light.lit)


def lit_in_words(host: Host, params: Mapping[str, str]) -> str:
    return ", ".join(lit_places(host, params)) or NONE if reads_back(params) else NOT_SHOWN


def switch(host: Host, params: Mapping[str, str]) -> str:
    """Give the one command; what it printed last is returned. Raises Unread where the tool does not call it done."""
    answer = light_tools.program(host, params["enclosure"], words(params))
    if answer.outcome != "data":
        raise Unread(answer.reason)
    lines = [line.strip() for line in answer.text.split("\n") if line.strip()]
    if params["enclosure"] in light_tools.RAID and "Status = Success" not in lines:
        raise Unread(f"{params['enclosure']} answered {' '.join(lines)[:200]!r}")
    return lines[-1] if lines else "it printed nothing"


def words(params: Mapping[str, str]) -> tuple[str, ...]:
    """What is asked of the tool, without its own name."""
    on = params["light"] == "on"
    if params["enclosure"] == LEDCTL:
        controller, _, slot = params["slot"].partition("/")
        return ("--set-slot", f"--controller-type={controller}", f"--slot={slot}", f"--state={'locate' if on else 'locate_off'}", NO_LOG)
    if params["enclosure"] in HBA:
        controller, _, place = params["slot"].partition("/")
        return (controller, "locate", place, "ON" if on else "OFF")
    return (params["slot"], "start" if on else "stop", "locate", "nolog")
