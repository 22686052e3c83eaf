"""Two disks that cannot be distinguished, or sources that do not agree which disk something is.

Every guard that names a disk refuses while its sources disagree. A technician at the rack goes by a serial number and a
bay: both must mean one disk.
"""

from collections.abc import Iterator

from workflows.engine.core import Evidence, Situation
from workflows.facts import FleetFacts, Identity, known
from workflows.facts.fleet.conflicts import Conflict, conflicts

SLUG = "identity-conflict"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(conflict) for conflict in conflicts(fleet))


def _situation(conflict: Conflict) -> Situation:
    node = conflict.seen[0][0].node
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{conflict.kind}:{conflict.subject}",
        node=node,
        severity="act" if conflict.grave else "watch",
        title=conflict.title,
        meaning=conflict.sentence,
        evidence=tuple(dict.fromkeys(_evidence(conflict))),
        subject={"node": node, "conflict": conflict.kind, **_named(conflict)},
        sure=conflict.sure,
    )


def _named(conflict: Conflict) -> dict[str, str]:
    wwids = list(dict.fromkeys(disk.wwid for _, disk in conflict.seen if known(disk.wwid)))
    names = {"wwid": wwids[0]} if wwids else {}
    return names | ({"other_wwid": wwids[1]} if len(wwids) > 1 else {})


def _evidence(conflict: Conflict) -> Iterator[Evidence]:
    """What each source said of these disks, as far as it is a capture of that node."""
    for node, disk in conflict.seen:
        for statement in disk.identity.statements if isinstance(disk.identity, Identity) else ():
            if statement.source in node.digests and statement.kind in ("wwid", "serial", "bay", "label"):
                line = f"{statement.by}: {statement.kind} {statement.value}"
                yield Evidence(node.node, statement.source, node.digests[statement.source], line)
