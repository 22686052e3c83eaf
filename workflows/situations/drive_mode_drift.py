"""A disk caches writes, or scans itself, where others of its model do not: that was not chosen for this disk alone.

A write cache that the kernel does not know of is worse than another habit: it is never flushed, and a power cut loses what was acknowledged to ZFS as
is safe.
"""

from collections.abc import Iterator

from agents.domain.wwid import by_id_path
from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.facts.fleet.mode_drift import MODES, Deviation, deviations
from workflows.situations import _words

SLUG = "drive-mode-drift"
MANUALS: tuple[str, ...] = ("drive-mode-audit",)
RUNBOOK = "drive-mode-audit"
RESTING = ("ONLINE", "DEGRADED", "OFFLINE", "AVAIL")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    by_disk: dict[tuple[str, str], list[Deviation]] = {}
    for found in deviations(fleet):
        by_disk.setdefault((found.node.node, " ".join(found.disk.names)), []).append(found)
    unflushed = {(node.node, " ".join(disk.names)): (node, disk) for node, disk in _never_flushed(fleet)}
    places = dict.fromkeys([*unflushed, *by_disk])
    return tuple(_situation(*(unflushed.get(place) or _of(by_disk[place])), by_disk.get(place, [])) for place in places)


def _of(found: list[Deviation]) -> tuple[NodeFacts, DiskFacts]:
    return found[0].node, found[0].disk


def _never_flushed(fleet: FleetFacts) -> Iterator[tuple[NodeFacts, DiskFacts]]:
    for node in fleet.nodes.values():
        for disk in node.disks if known(node.disks) else ():
            if known(disk.modes) and disk.modes.is_never_flushed:
                yield node, disk


def _situation(node: NodeFacts, disk: DiskFacts, found: list[Deviation]) -> Situation:
    unflushed = known(disk.modes) and disk.modes.is_never_flushed
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{disk.wwid if known(disk.wwid) else ' '.join(disk.names)}",
        node=node.node,
        severity="act" if unflushed else "watch",
        title=_title(disk, found, unflushed),
        meaning=" ".join(_meaning(disk, found, unflushed)),
        evidence=tuple(_evidence(node, disk, found)),
        answers=_answers(node, disk, found),
        subject={"node": node.node, "modes": " ".join(f.mode for f in found)} | ({"wwid": disk.wwid} if known(disk.wwid) else {}),
        cures=tuple(_cures_of(node, disk, unflushed)),
    )


def _cures_of(node: NodeFacts, disk: DiskFacts, unflushed: bool) -> Iterator[Cure]:
    what = "Switch its write cache off" if unflushed else "If the difference is not wanted, bring this one disk in line with its model"
    if member_on(node, disk) is not None:
        yield Cure(
            "other",
            f"{what}: out of service first, by the runbook, which brings it back afterwards.",
            needs="Its vdev has redundancy left, and no resilver runs.",
            runbook=RUNBOOK,
        )
    else:
        path = (by_id_path(disk.wwid) if known(disk.wwid) else "") or ""
        off = (("sdparm", "--clear=WCE", "--save", path),) if unflushed and path else ()
        yield Cure("other", f"{what}. No pool here serves from it.", off, save_first="What `sdparm --get=WCE` prints of it now.")
    if unflushed:
        yield Cure(
            "wait",
            "If nothing is done, the next power cut can lose writes that the disk has acknowledged to ZFS. Do not switch the node's power off before.",
        )
    else:
        yield Cure("wait", "If the difference is wanted, nothing is to be done: nothing is lost by it.")


def _title(disk: DiskFacts, found: list[Deviation], unflushed: bool) -> str:
    if unflushed:
        return f"{_words.short_where(disk)} caches writes, and the kernel never flushes them"
    first = found[0]
    verb = f"has its {MODES[first.mode]} {first.switch.words}" if first.unsaved else f"has its {MODES[first.mode]} {_on(first.switch.on)}"
    return f"{_words.short_where(disk)} {verb}, unlike others of its model" if first.differs else f"{_words.short_where(disk)} {verb}"


def _meaning(disk: DiskFacts, found: list[Deviation], unflushed: bool) -> Iterator[str]:
    if unflushed:
        yield (
            f"{_words.where(disk)} has its write cache on, and the kernel assumes it writes through: it sends no flush, so a power cut loses "
            "writes that the disk has acknowledged to ZFS. Switch the cache off."
        )
    for one in found:
        if one.differs:
            yield f"Its {MODES[one.mode]} ({one.mode}) is {_on(one.switch.on)}; {one.usual.words}."
        if one.unsaved:
            yield f"Its {MODES[one.mode]} is {one.switch.words}: what is set now was never saved."
    yield "Modes are a policy for a whole model, never a repair: bring the one disk in line, or change all of them outside a run."


def _evidence(node: NodeFacts, disk: DiskFacts, found: list[Deviation]) -> Iterator[Evidence]:
    name = next((n for n in disk.names if f"drive_modes/{n}" in node.digests), disk.names[0] if disk.names else "")
    for one in found:
        yield _words.evidence(node, f"drive_modes/{name}", f"{one.mode}: {one.switch.words}; {one.usual.words}")
    if known(disk.modes) and known(disk.modes.kernel_believes) and disk.modes.is_never_flushed:
        yield _words.evidence(node, f"drive_modes/{name}", f"WCE on, the kernel assumes: {disk.modes.kernel_believes}")


def _answers(node: NodeFacts, disk: DiskFacts, found: list[Deviation]) -> tuple[Answer, ...]:
    """For a disk of a pool: one in no pool may be set as a person likes."""
    place = member_on(node, disk)
    if place is None or not known(disk.serial) or not known(disk.wwid) or not known(place[1].guid):
        return ()
    pool, leaf = place
    more = {"vdev_guid": str(leaf.guid), "old_wwid": disk.wwid, "old_serial": disk.serial}
    return _words.pool_answers(node, pool, RUNBOOK, "It takes this one disk out of service, switches the mode, and brings it back.", **more)


def member_on(node: NodeFacts, disk: DiskFacts) -> tuple[PoolFacts, VdevFacts] | None:
    """The member or hot spare that sits on the disk, by its label."""
    for pool in node.pools_read:
        for role, leaf in lookup.pool_leaves(pool):
            if role != "cache" and known(leaf.wwid) and leaf.wwid == disk.wwid and leaf.state in RESTING:
                return pool, leaf
    return None


def _on(value: bool) -> str:
    return "on" if value else "off"
