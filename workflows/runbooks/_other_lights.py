"""What else may show which disk it is where no light leads to it that the portal can switch: the commands of a tool that the node has, for a person.

Of a tool that the node has, the portal switches the light itself; see agents/collectors/light_tools.py. What is left are the patterns of `ledctl` before ledmon
0.97, which has no slots: it resolves a link in /dev/disk by itself (src/ledctl.c, ledmon 0.90), without --listed-only it switches every other light
(doc/ledctl.pod), and nothing is read back.
"""

from agents.collectors.light_tools import LEDCTL, PROGRAMS
from agents.domain.wwid import by_id_path
from workflows.engine.core import Params
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, known, lookup

NO_SLOTS = "unrecognized option"  # what ledmon before 0.97 prints of --list-slots


def other_lights(facts: FleetFacts, params: Params) -> str:
    """A warning at the step at which the disk of `old_wwid` is found by its serial number."""
    node = lookup.node(facts, params.get("node", ""))
    disk = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    if lookup.is_a_light(params.get("enclosure", "")):
        return ""
    if not known(node):
        return f"Whether a tool could light it is not known: {node.reason}"
    if not known(disk):
        return f"Whether a tool could light it is not known: {disk.reason}"
    if disk is None:
        return "Whether a tool could light it is not known: the node does not show the disk."
    return "\n".join(_lines(node, disk))


def _lines(node: NodeFacts, disk: DiskFacts) -> list[str]:
    if not known(node.light_tools):
        return [f"Whether a tool of {node.node} could light it is not known: {node.light_tools.reason}"]
    if not node.light_tools:
        names = ", ".join(PROGRAMS)
        return [f"{node.node} has none of {names}, so no light leads there. Read the serial numbers on the stickers."]
    return [_of_tool(node, disk, tool, why) for tool, why in node.light_tools.items()]


def _of_tool(node: NodeFacts, disk: DiskFacts, tool: str, why: str) -> str:
    link = by_id_path(disk.wwid) if known(disk.wwid) and not disk.doubt else None
    if not why:
        return f"{tool} of {node.node} shows no place for this disk, so it lights none."
    if tool != LEDCTL or link is None or NO_SLOTS not in why:
        return f"{tool} of {node.node} did not answer: {why}. No light leads there."
    return (
        f"ledctl of {node.node} is too old for the portal to switch a light and to read it. It may have one all the same: `ledctl --listed-only locate={link}`, "
        f"then look which bay blinks, scan the disk all the same, and `ledctl --listed-only locate_off={link}` afterwards. Never without --listed-only, which "
        "switches the lights of all other bays."
    )
