"""What else may show which disk it is where neither an enclosure nor a PCIe port has a light that the portal can read: commands for a person.

No order is made of them, as what most of them switch on cannot be read back. `ledctl` resolves a link in /dev/disk by itself (src/ledctl.c, ledmon 0.90 and
0.97; src/lib/libled.c, 1.1.0), and without --listed-only it switches every other light (doc/ledctl.pod). sas2ircu and sas3ircu: command LOCATE of their user
guide. storcli: drive commands of its reference manual. Each names a disk by enclosure and slot as its own list shows them beside the serial number.
"""

from agents.domain.wwid import by_id_path
from workflows.engine.core import Params
from workflows.facts import FleetFacts, known, lookup


def other_lights(facts: FleetFacts, params: Params) -> str:
    """A warning at the step at which the disk of `old_wwid` is found by its serial number."""
    disk = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    link, serial = by_id_path(params.get("old_wwid", "")), params.get("old_serial", "")
    if not known(disk):
        return f"Whether a tool could light it is not known: {disk.reason}"
    if disk is None or not serial:
        return "Whether a tool could light it is not known: the node does not show the disk, or its serial number."
    lines = [
        "A light may lead there, and none of these is read back: look which bay blinks, scan the disk all the same, and switch the light off afterwards.",
        f"With sas3ircu or sas2ircu: `sas3ircu 0 display` lists {serial} with its enclosure and slot; `sas3ircu 0 locate ENCLOSURE:SLOT ON`, and OFF afterwards.",
        f"With storcli: `storcli /call/eall/sall show all` lists {serial}; `storcli /cC/eE/sS start locate`, and `stop locate` afterwards.",
    ]
    if link is not None and not disk.doubt:
        lines.insert(
            1,
            f"With ledctl (ledmon): `ledctl --listed-only locate={link}`, and `ledctl --listed-only locate_off={link}` afterwards. Never without --listed-only, "
            "which switches the lights of all other bays.",
        )
    return "\n".join(lines)
