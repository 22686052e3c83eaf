"""`ledctl`, `sas3ircu`, `sas2ircu`, `storcli` and `perccli` as far as the agent asks them: which disk has which place, and its light.

Words of ledctl by ledmon's src/ledctl/ledctl.c 1.1.0 (print_slot); of the others as they stand in texts that people show. A place is named as in
agents/collectors/light_tools.py: "VMD/3", "0/2:5", "/c0/e8/s5".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from twin.answer import Answer, refused
from twin.disk_names import is_nvme
from twin.model import Disk, LightTool, Node

NAMES = {
    "ledctl": "ledctl",
    "sas3ircu": "sas3ircu",
    "sas2ircu": "sas2ircu",
    "storcli": "storcli64",
    "perccli": "perccli64",
}  # as it is started
RULE = "-" * 72
ON = ("ON", "--state=locate", "start")
Places = list[tuple[str, Disk | None]]


def of(node: Node, program: str) -> LightTool | None:
    """The tool that this node has, where it is started by that name."""
    return next((tool for tool in node.light_tools if NAMES[tool.name] == program), None)


def places(node: Node, tool: LightTool) -> Places:
    """Each place, and the disk that is in it now."""
    return [(place, next((disk for disk in node.disks if disk.wwid == wwid), None)) for place, wwid in tool.places.items()]


def switches(argv: Sequence[str]) -> bool:
    """Whether the command would switch a light."""
    return any(word in ("--set-slot", "locate") for word in argv[1:])


def answer(node: Node, tool: LightTool, words: Sequence[str]) -> Answer | None:
    """What it prints; a command that switches a light does so in `node`. None for words it does not know."""
    if switches((tool.name, *words)):
        return _switch(tool, words)
    if tool.name == "ledctl" and words[:1] == ("--list-slots",) and words[2:] == ("--log=/dev/null",):
        return Answer(0, "".join(_slots(node, tool, words[1].partition("=")[2])))
    if tool.name.endswith("ircu") and tuple(words) == ("list",):
        return Answer(0, _adapters(tool))
    if tool.name.endswith("ircu") and words[1:] == ("display",):
        return Answer(0, "".join(_display(node, tool, words[0])))
    if tool.name.endswith("cli") and tuple(words) == ("/call/eall/sall", "show", "all", "J", "nolog"):
        return Answer(0, _details(node, tool))
    return None


def _named(tool: LightTool, words: Sequence[str]) -> str:
    """The place whose light these words switch."""
    if tool.name == "ledctl":
        given = dict(word.partition("=")[::2] for word in words)
        return f"{given.get('--controller-type', '')}/{given.get('--slot', '')}"
    return f"{words[0]}/{words[2]}" if tool.name.endswith("ircu") else words[0]


def _switch(tool: LightTool, words: Sequence[str]) -> Answer:
    place, on = _named(tool, words), any(word in ON for word in words)
    if place not in tool.places:
        return refused(1, f"{tool.name}: there is no place {place}")
    tool.lit = [*(other for other in tool.lit if other != place), *([place] if on else [])]
    if tool.name == "ledctl":
        return Answer(0)
    if tool.name.endswith("ircu"):
        return Answer(0, f"{tool.name.upper()}: LOCATE Command completed successfully.\n")
    return Answer(0, f"Controller = 0\nStatus = Success\nDescription = {'Start' if on else 'Stop'} Drive Locate Succeeded.\n")


def _slots(node: Node, tool: LightTool, controller: str) -> Iterator[str]:
    for place, disk in places(node, tool):
        kind, _, slot = place.partition("/")
        device = f"/dev/{disk.paths[0].name}" if disk is not None else "(empty)"
        if kind == controller:
            yield f"slot: {slot:<15} led state: {'LOCATE' if place in tool.lit else 'NORMAL':<15} device: {device:<15}\n"


def _adapters(tool: LightTool) -> str:
    head = "         Adapter      Vendor  Device                       SubSys  SubSys\n Index    Type          ID      ID    Pci Address          Ven ID  Dev ID\n"
    rule = " -----  ------------  ------  ------  -----------------    ------  ------\n"
    numbers = sorted({place.partition("/")[0] for place in tool.places})
    return (
        head
        + rule
        + "".join(f"{number:>4}     SAS3008       1000h    97h    00h:0{number}h:00h:00h      1000h   30e0h\n" for number in numbers)
    )


def _display(node: Node, tool: LightTool, controller: str) -> Iterator[str]:
    yield f"Read configuration has been initiated for controller {controller}\n{RULE}\nPhysical device information\n{RULE}\nInitiator at ID #0\n\n"
    for place, disk in places(node, tool):
        number, _, where = place.partition("/")
        if disk is None or number != controller:
            continue
        enclosure, _, slot = where.partition(":")
        fields = (
            ("Enclosure #", enclosure),
            ("Slot #", slot),
            ("State", "Ready (RDY)"),
            ("Manufacturer", disk.vendor or "ATA"),
            ("Model Number", disk.model),
            ("Serial No", disk.serial),
            ("Unit Serial No(VPD)", disk.serial),
            ("GUID", _digits(disk) or "N/A"),
        )
        yield "Device is a Hard disk\n" + "".join(f"  {name:<40}: {value}\n" for name, value in fields) + "\n"


def _digits(disk: Disk) -> str:
    return disk.wwid.removeprefix("naa:") if disk.wwid.startswith("naa:") else ""


def _details(node: Node, tool: LightTool) -> str:
    shown = {
        f"Drive {place} - Detailed Information": {
            f"Drive {place} Device attributes": {"SN": f"{disk.serial:>20}", "Model Number": disk.model, "WWN": _digits(disk).upper()}
        }
        for place, disk in places(node, tool)
        if disk is not None
    }
    status = {"CLI Version": "007.2807.0000.0000", "Controller": 0, "Status": "Success", "Description": "Show Drive Information Succeeded."}
    return json.dumps({"Controllers": [{"Command Status": status, "Response Data": shown}]}, indent=1) + "\n"


def with_tool(node: Node, name: str) -> Node:
    """The node has no lights but those of that tool, which has a place for each disk that it can light."""
    node.enclosures, node.ports = [], []
    lit = [disk.wwid for disk in node.disks if name != "ledctl" or is_nvme(disk.paths[0])]
    form = {"ledctl": "VMD/{}", "storcli": "/c0/e8/s{}", "perccli": "/c0/e8/s{}"}.get(name, "0/2:{}")
    node.light_tools = [LightTool(name, {form.format(index): wwid for index, wwid in enumerate(lit)})]
    for pool in node.pools:
        for leaf in pool.leaves():
            leaf.enc_path = ""
    return node
