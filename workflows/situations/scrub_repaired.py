"""The last scrub repaired something: a disk returned wrong data, or none, and ZFS wrote it anew from the others.

Which disk it was is shown by the counters of the members until they are cleared, else by the events of ZFS.
"""

import json
import re
from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, ScanFacts, VdevFacts
from workflows.facts.read.data_errors import counted
from workflows.facts.read.scan_progress import size
from workflows.situations import _pools, _words
from workflows.situations._pools import Wording, cure

SLUG = "scrub-repaired"
MANUALS: tuple[str, ...] = ("slow-disk-triage",)
NAMED = 6
_REPAIRED = re.compile(r"^(?:thorough )?scrub repaired ([0-9][0-9.,]*[KMGTPE]?)B? in ")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, scan, amount)
        for node, pool in _pools.pools(fleet)
        for scan in _pools.scans(pool)
        if (amount := repaired(scan))
    )


def repaired(scan: ScanFacts) -> str:
    """What the scrub wrote anew, as printed: "96K"; "" when it wrote nothing or has not ended."""
    if scan.function != "scrub" or scan.state != "finished":
        return ""
    found = _REPAIRED.match(scan.text)
    text = found.group(1) if found else _of_json(scan.text)
    return text if text[:1].isdigit() and text.rstrip("BKMGTPEi ").strip("0.,") else ""


def _of_json(text: str) -> str:
    """The same of the JSON of 2.3, which gives it rounded, or in bytes."""
    answer = str(json.loads(text).get("processed", "")) if text.startswith("{") else ""
    return size(int(answer)) if answer.isascii() and answer.isdigit() and answer != "0" else answer


def _situation(node: NodeFacts, pool: PoolFacts, scan: ScanFacts, amount: str) -> Situation:
    disks = counted(pool)
    wording = Wording(
        "info",
        f"{pool.name}: the last scrub repaired {amount}",
        " ".join(_meaning(node, pool, scan, amount, disks)),
        (_pools.line(node, "scan", scan.text), *(_pools.row(node, leaf) for _, leaf in disks[:NAMED])),
        tuple(_cures(pool, disks)),
    )
    return _pools.situation(SLUG, node, pool, wording, subject={"repaired": amount}, vdevs=tuple(leaf for _, leaf in disks))


def _meaning(
    node: NodeFacts, pool: PoolFacts, scan: ScanFacts, amount: str, disks: tuple[tuple[VdevFacts, VdevFacts], ...]
) -> Iterator[str]:
    at = _pools.stamp(scan.text)
    yield (
        f"The last scrub of {pool.name} on {node.node}{f' ended on {at:%Y-%m-%d} and' if at else ''} found {amount} that a disk gave back wrong or not at all, "
        "and wrote it anew from the other copies. "
        + (
            f"That is mended; {_words.plural(scan.errors, 'block')} had no good copy left, and those are not."
            if scan.errors
            else "That is mended, and nothing is lost."
        )
    )
    if not disks:
        yield (
            "No member counts an error now, so the counters were cleared, or the pool was imported anew since; which disk it was is shown by "
            "`zpool events` and the kernel's log of that time. When the next scrub repairs something too, a disk, cable or memory is going bad."
        )
    elif len(disks) == 1:
        leaf = disks[0][1]
        yield f"The errors were counted on {_pools.called(node, leaf)}: read {{}}, write {{}}, checksum {{}}.".format(*leaf.figures)
    else:
        names = ", ".join(_pools.called(node, leaf) for _, leaf in disks[:NAMED])
        yield f"{len(disks)} members counted errors: {names}. What is wrong on several at once is mostly memory, an HBA, a cable or an expander."


def _cures(pool: PoolFacts, disks: tuple[tuple[VdevFacts, VdevFacts], ...]) -> Iterator[Cure]:
    yield cure(
        "look",
        f"Look at the SMART report and the link of {'that disk' if len(disks) == 1 else 'the disks'}, and at what ZFS noted.",
        ("zpool", "events", "-v", pool.name),
        releases="0.7 and newer",
    )
    if not _pools.stands_still(pool):
        yield cure(
            "scrub",
            "Scrub once more. When it repairs nothing, it was one event; when the same disk counts again, replace it while it still serves.",
            ("zpool", "scrub", pool.name),
            save_first=f"the counters ({_words.plural(len(disks), 'member')} with errors): note them, as `zpool clear` sets them back"
            if disks
            else "",
        )
