"""The lights that a tool of the node switches: which place each of its disks has, as `ledctl`, `sas3ircu`, `sas2ircu`, `storcli` and `perccli` name it.

    ledctl      places of PCIe ports (NPEM) and of Intel VMD, since ledmon 0.97; it reads the light back
    sas?ircu    enclosure and slot of each drive of an LSI HBA (DISPLAY); no light is read back
    storcli     controller, enclosure and slot of each drive of a MegaRAID or PERC controller; no light is read back

Of ledctl only the slots are used: its patterns name a disk by its kernel name, and without --listed-only they switch every other light (doc/ledctl.pod).
Its words are those of print_slot() in src/ledctl/ledctl.c, 0.97 to 1.1.0. It exits 40 where it cannot write /var/log/ledctl.log, as in the agent's service
(tried with 0.97 on a read-only /var/log), and storcli writes a log into the folder it is started in: both are asked to write none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.block import BlockDisk
from agents.domain.wwid import normalise
from agents.host.host import Host

NAME = "light_tools"
EVERY_SECONDS = 900
TIMEOUT_SECONDS = 30
REASON_MAX = 300  # characters
LEDCTL: Final = "ledctl"
NO_LOG: Final = "--log=/dev/null"
CONTROLLERS: Final = ("NPEM", "VMD")  # of ledctl; what it shows of SES is the kernel's own, by another name
PROGRAMS: Mapping[str, tuple[str, ...]] = {  # tool -> under which names it may be there, the first is used
    LEDCTL: ("ledctl",),
    "sas3ircu": ("sas3ircu",),
    "sas2ircu": ("sas2ircu",),
    "storcli": ("storcli64", "storcli", "/opt/MegaRAID/storcli/storcli64"),
    "perccli": ("perccli64", "perccli", "/opt/MegaRAID/perccli/perccli64"),
}
HBA: Final = ("sas3ircu", "sas2ircu")
RAID: Final = ("storcli", "perccli")
READ_BACK: Final = (LEDCTL,)  # the tools that show whether a light is on
_PLACES: Mapping[str, re.Pattern[str]] = {
    LEDCTL: re.compile(r"(?:NPEM|VMD)/[0-9A-Za-z][0-9A-Za-z:._-]{0,63}"),
    **dict.fromkeys(HBA, re.compile(r"[0-9]{1,3}/[0-9]{1,5}:[0-9]{1,5}")),
    **dict.fromkeys(RAID, re.compile(r"/c[0-9]{1,3}/e[0-9]{1,5}/s[0-9]{1,5}")),
}


@dataclass(frozen=True)
class ToolLight:
    """The place of one disk, or an empty one, as one tool names it. A field is None where the tool does not show it."""

    tool: str  # a key of PROGRAMS
    place: str  # ledctl: "VMD/3", "NPEM/0000:00:03.1"; sas3ircu: "0/2:5", controller, enclosure and slot; storcli: "/c0/e8/s5"
    device: str | None = None  # kernel name of the disk in it
    wwid: str | None = None
    serial: str | None = None
    lit: bool | None = None


@dataclass(frozen=True)
class ToolLights:
    """`tools` has every tool that is there: tool -> why it did not answer, "" where it did."""

    lights: tuple[ToolLight, ...]
    tools: Mapping[str, str]


def is_of(light: ToolLight, device: BlockDisk) -> bool:
    """Whether the tool shows this disk there: by kernel name, WWID or serial number. storcli prints another name of a SAS disk than its logical unit's."""
    if light.device is not None:
        return light.device == device.name
    return (light.wwid is not None and light.wwid == device.wwid) or (light.serial is not None and light.serial == device.serial)


def is_place(tool: str, place: str) -> bool:
    pattern = _PLACES.get(tool)
    return pattern is not None and pattern.fullmatch(place) is not None


def program(host: Host, tool: str, words: Sequence[str]) -> Capture:
    """What the tool answers to `words`, under the first of its names that the node has."""
    for name in PROGRAMS[tool]:
        answer = ask(host, NAME, (name, *words), TIMEOUT_SECONDS)
        if answer.outcome != "nothing":
            return answer
    return Capture(NAME, "", "nothing", "", f"{tool} is not installed")


def collect(host: Host) -> tuple[Capture, ...]:
    lines = [line for tool in PROGRAMS for line in _asked(host, tool)]
    if not lines:
        return (Capture(NAME, "", "nothing", "", f"None of {', '.join(PROGRAMS)} is installed"),)
    return (Capture(NAME, "", "data", "\n".join(lines) + "\n"),)


def of_tool(host: Host, tool: str) -> ToolLights | Unparsed:
    """What one tool shows now."""
    lines = list(_asked(host, tool))
    return parse("\n".join(lines) + "\n") if lines else Unparsed(f"{tool} is not installed")


def _asked(host: Host, tool: str) -> Iterator[str]:
    """Each line of each list, with the tool and what was asked of it in front; nothing where the tool is not there."""
    for part, words in _LISTS[tool](host):
        answer = program(host, tool, words)
        if answer.outcome == "nothing":
            return
        yield f"{tool} {part}|{'' if answer.outcome == 'data' else f'failed: {_why(answer)}'}"
        if answer.outcome == "data":
            yield from (f"{tool} {part}|{line.rstrip()}" for line in answer.text.replace("\r", "\n").split("\n") if line.strip())


def _why(answer: Capture) -> str:
    """With the last line that it printed about it: ledctl names its configuration files first."""
    last = next((line.strip() for line in reversed(answer.stderr.split("\n")) if line.strip()), "")
    return " ".join(f"{answer.reason}{': ' if last else ''}{last}".split())[:REASON_MAX]


Lists = Iterator[tuple[str, tuple[str, ...]]]


def _of_ledctl(host: Host) -> Lists:
    for controller in CONTROLLERS:
        yield controller, ("--list-slots", f"--controller-type={controller}", NO_LOG)


def _of_hba(tool: str) -> Callable[[Host], Lists]:
    def lists(host: Host) -> Lists:
        found = program(host, tool, ("list",))
        if found.outcome == "data":
            yield from ((number, (number, "display")) for number in _LISTED.findall(found.text))

    return lists


def _of_raid(host: Host) -> Lists:
    yield "all", ("/call/eall/sall", "show", "all", "J", "nolog")


_LISTS: Mapping[str, Callable[[Host], Lists]] = {
    LEDCTL: _of_ledctl,
    **{tool: _of_hba(tool) for tool in HBA},
    **dict.fromkeys(RAID, _of_raid),
}

_LISTED = re.compile(r"^ {0,8}([0-9]{1,3}) +SAS[0-9A-Za-z_-]{1,20} ", re.MULTILINE)
_LINE = re.compile(r"([a-z0-9]{1,10}) ([A-Za-z0-9]{1,6})\|(.*)")
_SLOT = re.compile(r"slot: ([^ ]{1,64}) +led state: ([^ ]{1,40}) +device: (.{1,80})")
_UNKNOWN_STATES = ("unknown", "none")
_DRIVE = re.compile(r"Drive (/c[0-9]{1,3}/e[0-9]{1,5}/s[0-9]{1,5}) - Detailed Information")


def parse(text: str) -> ToolLights | Unparsed:
    """Every place that the tools show, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    lists: dict[tuple[str, str], list[str]] = {}
    tools: dict[str, str] = {}
    for line in text.rstrip("\n").split("\n"):
        found = _LINE.fullmatch(line)
        if found is None or found.group(1) not in PROGRAMS:
            return Unparsed("a line of the lights cannot be read", line)
        tool, part, printed = found.groups()
        failed = printed.startswith("failed: ")
        tools[tool] = tools.get(tool) or (printed[len("failed: ") :] if failed else "")
        if not failed:
            lists.setdefault((tool, part), []).append(printed)
    lights: list[ToolLight] = []
    for (tool, part), lines in lists.items():
        read = _READERS[tool](tool, part, lines[1:])
        if isinstance(read, Unparsed):
            tools[tool] = tools[tool] or read.reason
        else:
            lights += read
    return ToolLights(tuple(light for light in lights if not tools[light.tool] and is_place(light.tool, light.place)), tools)


def _slots(tool: str, part: str, lines: Sequence[str]) -> list[ToolLight] | Unparsed:
    read = []
    for line in lines:
        found = _SLOT.fullmatch(line.strip())
        if found is None:
            return Unparsed(f"ledctl printed {line[:80]!r}", line)
        place, state, device = found.groups()
        name = device.strip().rpartition("/")[2]
        lit = None if state.lower() in _UNKNOWN_STATES else state.lower() == "locate"
        read.append(ToolLight(tool, f"{part}/{place}", None if "empty" in name else name, lit=lit))
    return read


def _display(tool: str, part: str, lines: Sequence[str]) -> list[ToolLight] | Unparsed:
    """Each `Device is a Hard disk` with the fields below it."""
    drives: list[dict[str, str]] = []
    inside = False
    for line in lines:
        name, colon, value = (piece.strip() for piece in line.partition(" : "))
        if line.startswith("Device is a"):
            inside = line.startswith("Device is a Hard disk")
            if inside:
                drives.append({})
        elif inside and colon:
            drives[-1].setdefault(name, value)
        elif inside and not line.startswith((" ", "\t")):
            inside = False  # the next heading
    return [
        ToolLight(tool, f"{part}/{drive.get('Enclosure #', '')}:{drive.get('Slot #', '')}", None, _wwid(drive.get("GUID")), _serial(drive))
        for drive in drives
    ]


def _serial(drive: Mapping[str, str]) -> str | None:
    """The page that the disk itself gives before the one that the firmware may have cut."""
    found = (drive.get(name, "") for name in ("Unit Serial No(VPD)", "Serial No"))
    return next((serial for serial in found if serial and serial != "N/A"), None)


def _wwid(digits: str | None) -> str | None:
    return normalise(f"naa.{digits.lower()}") if digits and re.fullmatch("[0-9A-Fa-f]{16}", digits) else None


def _details(tool: str, part: str, lines: Sequence[str]) -> list[ToolLight] | Unparsed:
    try:
        document = json.loads("\n".join(lines))
        return [light for one in document["Controllers"] for light in _of_controller(tool, one)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Unparsed(f"the JSON of {tool} cannot be read", lines[0] if lines else "")


def _of_controller(tool: str, one: Any) -> Iterator[ToolLight]:
    for title, details in (one.get("Response Data") or {}).items():
        if found := _DRIVE.fullmatch(title):
            place = found.group(1)
            about = details[f"Drive {place} Device attributes"]
            serial = str(about.get("SN") or "").strip()
            yield ToolLight(tool, place, None, _wwid(str(about.get("WWN") or "")), serial or None)


_READERS: Mapping[str, Callable[[str, str, Sequence[str]], list[ToolLight] | Unparsed]] = {
    LEDCTL: _slots,
    **dict.fromkeys(HBA, _display),
    **dict.fromkeys(RAID, _details),
}
