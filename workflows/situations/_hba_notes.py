"""What an HBA of the mpt2sas and mpt3sas drivers notes of its links, `log_info(0x31110d00)`, where the log has nothing else: how often, and what it means.

The number is made of bytes: 3 is SAS, the next digit the part of the HBA that says it (0 the I/O processor, 1 the protocol layer, 2 RAID), then a code and a code
of its own below that. Codes of the protocol layer by Linux drivers/message/fusion/mptbase.c, pl_code_str.
"""

import re
from collections import Counter
from collections.abc import Iterator

from agents.collectors.kernel_log import KernelEvent
from workflows.engine.core import Cure, Situation
from workflows.facts.read.past import SECOND
from workflows.situations import _words
from workflows.situations._log import Log, all_well, event_text

SLUG = "hba-fault"
MANY = 20  # within a day, on a node whose pools are all well: fewer are what a healthy link notes
SHOWN = 4
NOTE = re.compile(r"log_info\(0x(?P<code>3[0-9a-f]{7})\)")
PARTS = {"0": "I/O processor", "1": "protocol layer", "2": "RAID"}
CODES = {  # of the protocol layer
    0x01: "a connection to a disk could not be opened",
    0x02: "a list of memory for a command was invalid",
    0x03: "a frame had the wrong length or offset",
    0x04: "a frame was not transferred",
    0x05: "the link dropped while a frame was sent",
    0x06: "a SATA disk reported a failed read or write",
    0x07: "the error log of a SATA disk could not be read",
    0x08: "a SATA disk failed a command, and all others it had with it",
    0x09: "a SATA disk answered with an error",
    0x0A: "an invalid frame was received",
    0x0B: "an invalid message was received",
    0x0C: "a frame was received with an error",
    0x0D: "a SATA link went down",
    0x0E: "a SATA disk was found anew while it had commands",
    0x0F: "a configuration page was invalid",
    0x10: "a SATA disk did not start in time",
    0x11: "commands were ended by a reset",
    0x12: "commands were aborted",
    0x13: "a command had not begun yet",
    0x14: "a command had been done already",
    0x15: "a reservation came from another initiator",
    0x16: "a transfer was aborted while a connection was opened",
    0x17: "a disk was missing, and its commands wait for its return",
    0x18: "commands were ended by an error in reception",
}


def situations(log: Log, of_disks: tuple[str, ...]) -> Iterator[Situation]:
    """One for each HBA. `of_disks` are the kinds of lines by which disks lost something: these are worse, and reported as what they are."""
    if log.recent(*of_disks):
        return
    by_hba: dict[str, list[KernelEvent]] = {}
    for event in log.recent("hba"):
        if NOTE.search(event.line):
            by_hba.setdefault(event.field("hba") or "", []).append(event)
    well = all_well(log.node)
    yield from (_situation(log, hba, lines, well) for hba, lines in by_hba.items() if not well or len(lines) >= MANY)


def _situation(log: Log, hba: str, lines: list[KernelEvent], well: bool) -> Situation:
    counted = Counter(found["code"] for line in lines if (found := NOTE.search(line.line)))
    text = "; ".join(f"0x{code}, {_meaning(code)}: {_words.plural(count, 'time')}" for code, count in counted.most_common(SHOWN))
    more = f", and {len(counted) - SHOWN} more codes" if len(counted) > SHOWN else ""
    seconds = (max(e.at_us for e in lines) - min(e.at_us for e in lines)) // SECOND
    span = f" within {seconds} s" if len(lines) > 1 and lines[0].printed else ""
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{log.node.node}:{hba}:notes",
        node=log.node.node,
        severity="info" if well or len(lines) == 1 else "watch",
        title=f"{hba or 'An HBA'} notes events of its links: {_words.plural(len(lines), 'line')} of log_info",
        meaning=f"The kernel log says: {event_text(lines[0])}. Such lines say what the HBA noted of a link or a command, and of no disk by name. Counted{span}: {text}{more}. "
        "A few after a cable was touched, a disk was put in or the node was started are normal. Some every hour mean a cable, a connector, an expander, "
        "power, or a disk that answers late. The log shows no disk that lost a command, so none is to be replaced for it.",
        evidence=log.evidence(tuple(lines)),
        subject={"node": log.node.node, "hba": hba},
        sure=False,
        cures=(
            Cure(
                "look",
                "Count them by hour and code, and see which disk or link has errors at the same time: `smartctl -x` of the disks and the counters of the SAS links.",
                (("journalctl", "-k", "--grep=log_info"), ("lsscsi", "-v")),
            ),
            Cure("reseat", "If they go on: change one thing at a time, cable first, then port, then bay, and count again."),
        ),
    )  # fmt: skip


def _meaning(code: str) -> str:
    """ "31110d00" in words."""
    part, number = PARTS.get(code[1], "an unknown part"), int(code[2:4], 16)
    known = CODES.get(number, "") if code[1] == "1" else ""
    return f"{known} ({part}, code {number:#04x})" if known else f"{part}, code {number:#04x}, which is not explained here"
