"""Members that ZFS's own events, or zed's lines in the system log, call lost, where no tree says how they are today.

An old event of a pool whose tree was read is judged by the tree: what is ONLINE there today is no trouble, and what is lost there is reported there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors.zpool_events import Event
from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.situations import _words

STATECHANGE = "resource.fs.zfs.statechange"
REMOVED = "resource.fs.zfs.removed"
BACK = ("sysevent.fs.zfs.vdev_online", "sysevent.fs.zfs.vdev_attach")
LOST = ("REMOVED", "UNAVAIL", "FAULTED")  # `disk-missing` and `disk-faulted` report them
ENDED = ("sysevent.fs.zfs.pool_destroy", "sysevent.fs.zfs.pool_export")


@dataclass(frozen=True)
class Changed:
    """The last state that an event or a log line gives a vdev."""

    node: NodeFacts
    pool: str
    pool_guid: int | None
    guid: str  # "" where the log names only a path
    path: str
    state: str
    evidence: Evidence


def lost_by_events(fleet: FleetFacts, slug: str, states: tuple[str, ...]) -> Iterator[Situation]:
    """A situation for each vdev whose last state is one of these, of pools whose tree was not read."""
    for node in fleet.nodes.values():
        for change in _changes(node):
            if change.state in states and not tree_read(node, change.pool, change.pool_guid):
                yield _situation(change, slug)


def lost_by_its_events(node: NodeFacts) -> frozenset[str]:
    """The guids of the vdevs that the events call lost, whose own situation reports them."""
    return frozenset(change.guid for change in _changes(node) if change.guid and change.state in LOST)


def tree_read(node: NodeFacts, name: str, guid: int | None) -> PoolFacts | None:
    """The pool, where its tree shows how its members are today."""
    same = (p for p in node.pools_read if p.tops_read and (p.name == name if guid is None or not known(p.guid) else p.guid == guid))
    return next(same, None)


def _changes(node: NodeFacts) -> list[Changed]:
    last: dict[tuple[str, str], Changed] = {}
    for event in node.events if known(node.events) else ():
        pool = event.text("pool") or ""
        if event.kind in ENDED:
            last = {where: change for where, change in last.items() if change.pool != pool}
        elif change := _of_event(node, event):
            last[pool, change.guid or change.path] = change
    for line in node.kernel_log.events if known(node.kernel_log) else ():
        state = line.field("state") or ("REMOVED" if line.field("class") == "removed" else "")
        if line.kind == "zed" and state and (vdev := line.field("vdev")):
            pool, guid = (line.field("pool") or "").strip("'"), f"{int(vdev, 16)}" if vdev.startswith("0x") else ""
            reported = _words.evidence(node, "kernel_log", f"{line.printed} {line.line}".strip())
            last[pool, guid or vdev] = Changed(node, pool, None, guid, "" if guid else vdev, state, reported)
    return list(last.values())


def _of_event(node: NodeFacts, event: Event) -> Changed | None:
    guid = event.number("vdev_guid")
    state = "ONLINE" if event.kind in BACK else "REMOVED" if event.kind == REMOVED else event.state if event.kind == STATECHANGE else None
    if guid is None or not state:
        return None
    path = event.text("vdev_path") or ""
    evidence = _words.evidence(
        node, "zpool_events", f"{event.kind}: {event.text('pool')}, vdev {guid} ({path or 'without a path'}) {state}"
    )
    return Changed(node, event.text("pool") or "", event.number("pool_guid"), str(guid), path, state, evidence)


MEANINGS = {
    "FAULTED": "ZFS gave it up, after errors or because it could not be used",
    "DEGRADED": "ZFS, or zed, marked it after errors; it still serves",
    "UNAVAIL": "ZFS could not open it",
    "REMOVED": "it was pulled, or its link or power went away",
}


def _situation(change: Changed, slug: str) -> Situation:
    node, name = change.node, change.guid or change.path
    subject = {"node": node.node, "pool": change.pool, "was": change.path, "state": change.state}
    subject |= {"vdev_guid": change.guid} if change.guid else {}
    subject |= {"pool_guid": str(change.pool_guid)} if change.pool_guid else {}
    return Situation(
        slug=slug,
        key=f"{slug}:{node.node}:{name}",
        node=node.node,
        severity="act" if change.state != "DEGRADED" else "watch",
        title=f"{change.pool or 'A pool'}: the member {name} became {change.state}",
        meaning=(
            f"An event says that the member {name}{f' ({change.path})' if change.guid and change.path else ''} of {change.pool or 'a pool'} became {change.state}: "
            f"{MEANINGS.get(change.state, 'it serves no more')}. No later event says that it came back, and no `zpool status` was read, so whether it is still so is not known. "
            f"{change.path + ' is a name of that moment. ' if change.path.startswith('/dev/sd') else ''}If it is, the pool does with less redundancy until it is back or replaced. "
            "Look at the cable, port and shelf first, then at the disk's SMART; name it by its guid in every command."
        ),
        evidence=(change.evidence,),
        subject=subject,
        sure=False,
        cures=(Cure("look", "See how it is today, and what else is lost: `zpool status -P -p` and `zpool status -g -p`."),
               Cure("reseat", "If it is gone: power, cable, port, shelf, before it is called dead."),
               Cure("online", "If its disk is there and well, bring it online by its guid.", needs="Its label and serial number were compared.")),
    )  # fmt: skip
