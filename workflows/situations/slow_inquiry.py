"""A disk answers INQUIRY late. The command reads nothing from the medium, so whoever takes seconds for it hangs now and then.

A good disk answers in milliseconds. One in standby answers without spinning up, too (SPC-4, 6.6: INQUIRY is answered in any power condition).
"""

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts
from workflows.facts.read.inquiries import Inquiry
from workflows.situations import _words

SLUG = "slow-inquiry"
MANUALS: tuple[str, ...] = ("slow-disk-triage", "suspended-pool")
LATE_SECONDS = 2.0  # no healthy disk, expander or HBA needs as long
HANGS_SECONDS = 10.0  # a multihost pool of default settings is suspended after 10 s without a sign of life


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, one, i)
        for node in fleet.nodes.values()
        for i, one in enumerate(node.inquiries)
        if one.seconds is not None and one.seconds >= LATE_SECONDS
    )


def _situation(node: NodeFacts, one: Inquiry, place: int) -> Situation:
    name, seconds = one.device or "A disk", one.seconds or 0.0
    short = "; ".join(f"{came} of {asked} bytes" for asked, came in one.short)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{one.serial or one.device or place}",
        node=node.node,
        severity="act" if seconds >= HANGS_SECONDS else "watch",
        title=f"{name} took {seconds:.0f} s to answer INQUIRY",
        meaning=(
            f"{name}{f' (serial number {one.serial})' if one.serial else ''} took {seconds:.1f} s to answer a command that reads nothing from the medium; a healthy disk needs "
            f"milliseconds. {f'And the answer came short: {short}. A short answer alone is no fault, since a disk may have less to say. ' if short else ''}It hangs now and then, "
            "and with it the queue of its HBA may stand still. In a pool with multihost on that can hold up the sign of life for so long that ZFS suspends the pool, and an "
            "import waits for it, too. If nothing is done it will hang again, at any time."
        ),
        evidence=tuple(_words.evidence(node, "sg_inq", line) for line in one.lines),
        subject={"node": node.node, "seconds": f"{seconds:.1f}"} | ({"device": one.device} if one.device else {}) | ({"serial": one.serial} if one.serial else {}),
        sure=True,
        cures=(
            Cure("look", "Ask it again some times, and ask its peers the same: only this one late is the disk, all late is the HBA, the cable or the expander. The kernel log shows task aborts."),
            Cure("look", "Find which disk it is by WWID and serial number before anything is pulled, and whether it is a member: `lsscsi -i`, `zpool status -P`."),
            Cure("replace", "If it alone is late, take it out of its pool by guid and replace it.", needs="The pool is whole but for this disk, and no resilver runs."),
        ),
    )  # fmt: skip
