"""Questions about the one disk that blocks an import: does it stand out alone, by more than one kind of evidence, and can it be spared?"""

from __future__ import annotations

from workflows.core import Params, Verdict, ok, refuse, unknown
from workflows.facts import FleetFacts, known, lookup
from workflows.facts.census import title
from workflows.facts.divergence import Suspect, apart
from workflows.guards.bay import EVIDENCE_MAX
from workflows.guards.importing import diverging, listed_pool
from workflows.guards.subject import number, the_disk

METHODS = {
    **dict.fromkeys(("label-ahead", "other-host", "copies", "other-label"), "its label"),
    **dict.fromkeys(("uberblock-ahead", "split", "guid-sum"), "its uberblocks"),
    "silent": "its silence",
}
METHODS_MIN = 2


def it_alone_tells_another_story(facts: FleetFacts, params: Params) -> Verdict:
    found = diverging(facts, params)
    if not known(found):
        return unknown(found.reason)
    named = ", ".join(title(s.disk) for s in found)
    if not found:
        return refuse("No disk stands out from the others, so taking one away would only be a guess.")
    if len(found) > 1:
        return refuse(f"{named} all tell another story. With more than one suspect a person must decide; image the disks first.")
    if known(found[0].disk.wwid) and found[0].disk.wwid == params.get("wwid"):
        return ok(f"{named} alone tells another story: {found[0].clues[0].sentence}.")
    return refuse(f"The disk that tells another story is {named}, not {params.get('wwid', '')}.")


def two_kinds_of_evidence_name_it(facts: FleetFacts, params: Params) -> Verdict:
    found = _suspect(facts, params)
    if isinstance(found, Verdict):
        return found
    methods = sorted({METHODS[clue.kind] for clue in found.clues})
    said = "; ".join(clue.sentence for clue in found.clues)
    if len(methods) < METHODS_MIN:
        return refuse(f"Only {methods[0]} speaks against {title(found.disk)}: {said}. One kind of evidence is not enough.")
    return ok(f"{' and '.join(methods)} speak against {title(found.disk)}: {said}.".capitalize())


def its_vdev_can_do_without_it(facts: FleetFacts, params: Params) -> Verdict:
    pool, disk = listed_pool(facts, params), the_disk(facts, params)
    if not known(pool) or not known(disk):
        return unknown(disk.reason if known(pool) else pool.reason)
    names = {link.rsplit("/", 1)[-1] for path in disk.paths for link in path.by_id} | set(disk.names)
    top = next((top for _, top in pool.tops if any(leaf.name.rsplit("/", 1)[-1] in names for leaf in top.leaves())), None)
    if top is None:
        return unknown(f"Which vdev of {pool.name} {title(disk)} belongs to is not known.")
    absent = sum(leaf.state != "ONLINE" for leaf in top.leaves())
    spare = top.parity if top.parity else len(top.children) - 1 if top.kind == "mirror" else 0
    if absent + 1 > spare:
        return refuse(f"{top.name} lacks {absent} disks already and can do without {spare}. Taking another away helps nobody.")
    return ok(f"{top.name} can do without {spare - absent} more disks.")


def nothing_else_needs_it(facts: FleetFacts, params: Params) -> Verdict:
    disk, guid = the_disk(facts, params), number(params, "pool_guid")
    if not known(disk) or not known(guid):
        return unknown(guid.reason if known(disk) else disk.reason)
    if not known(disk.in_use) or not known(disk.labels):
        return unknown(f"Whether something else uses {title(disk)} is not known.")
    if disk.in_use:
        return refuse(f"{title(disk)} is in use: {', '.join(disk.in_use)}. It stays.")
    others = [label.pool_name or str(label.guid) for label in disk.labels if label.pool_guid != guid]
    if others or lookup.owner_of_disk(facts, params.get("wwid", "")):
        return refuse(f"{title(disk)} belongs to {', '.join(others) or 'an imported pool'} too. It stays.")
    return ok(f"Nothing else uses {title(disk)}.")


def its_bay_is_known(facts: FleetFacts, params: Params) -> Verdict:
    """Somebody has to pull it later."""
    disk = the_disk(facts, params)
    if not known(disk):
        return unknown(disk.reason)
    if not known(disk.bay) or disk.bay.conflict or disk.bay.evidence > EVIDENCE_MAX:
        return unknown(f"The bay of {title(disk)} is not known for certain. Find it before it is taken away from the kernel.")
    return ok(f"{title(disk)} sits in bay {disk.bay.slot} of {disk.bay.enclosure_id}.")


def it_is_gone_from_the_kernel(facts: FleetFacts, params: Params) -> Verdict:
    disk = lookup.disk(facts, params.get("node", ""), params.get("wwid", ""))
    if not known(disk):
        return unknown(disk.reason)
    if not params.get("wwid"):
        return unknown("The run names no disk.")
    return ok(f"The kernel shows {params.get('wwid', '')} no more.") if disk is None else refuse(f"The kernel still shows {title(disk)}.")


def it_is_back(facts: FleetFacts, params: Params) -> Verdict:
    gone = it_is_gone_from_the_kernel(facts, params)
    if gone.outcome == "unknown":
        return gone
    return refuse(gone.reason) if gone.outcome == "pass" else ok(f"The kernel shows {params.get('wwid', '')} again.")


def what_the_others_end_with(facts: FleetFacts, params: Params) -> Verdict:
    """The difference between what it would have been and what it is now, in time."""
    found = _suspect(facts, params)
    if isinstance(found, Verdict):
        return found
    node = facts.nodes[params.get("node", "")]
    timeline = next((t for t in node.timelines if str(t.pool_guid) == params.get("pool_guid", "")), None) if known(node.timelines) else None
    ends = {one.disk.wwid: one.newest for one in timeline.disks if one.newest is not None} if timeline else {}
    others = [newest for wwid, newest in ends.items() if wwid != params.get("wwid", "")]
    own = ends.get(params.get("wwid", ""))
    if own is None or not others:
        return unknown("With which transaction group the disks end is not known. Have the node read the uberblocks.")
    best = max(others, key=lambda u: (u.txg, u.timestamp))
    return ok(
        f"Without it the pool ends with txg {best.txg}. It would have gone on to txg {own.txg}, {apart(own.timestamp - best.timestamp)}: "
        "what it tells of that time is on no other disk."
    )


SUSPECT_GUARDS = (
    it_alone_tells_another_story,
    two_kinds_of_evidence_name_it,
    its_vdev_can_do_without_it,
    nothing_else_needs_it,
    its_bay_is_known,
)


def _suspect(facts: FleetFacts, params: Params) -> Suspect | Verdict:
    found = diverging(facts, params)
    if not known(found):
        return unknown(found.reason)
    one = next((s for s in found if known(s.disk.wwid) and s.disk.wwid == params.get("wwid")), None)
    return refuse(f"Nothing sets {params.get('wwid') or 'any disk'} apart from the others.") if one is None else one
