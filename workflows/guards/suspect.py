"""Questions about the one disk that blocks an import: does it stand out alone, by more than one kind of evidence, and can it be spared?"""

from dataclasses import dataclass

from agents.operations import zdb_without
from workflows.analysis.rewind_points import duration, spare
from workflows.engine.core import Guard, Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, Known, NodeFacts, Unknown, derived, known, lookup, need, title
from workflows.facts.fleet.divergence import Suspect, apart, rows
from workflows.guards.bay import disks_in, the_bay_is_empty, words
from workflows.guards.candidate import behind_a_map
from workflows.guards.importing import diverging, listed_pool, the_pool_is_not_imported_here
from workflows.guards.margin import left
from workflows.guards.subject import nameless, number, the_disk, the_pool

METHODS = {
    **dict.fromkeys(("label-ahead", "other-host", "copies", "other-label"), "its label"),
    **dict.fromkeys(("uberblock-ahead", "split", "guid-sum"), "its uberblocks"),
    **dict.fromkeys(("silent", "slow"), "its silence"),
    "log": "ZFS's own log",
}
TRIAL = "a trial without it"
METHODS_MIN = 2


@guard
def it_alone_tells_another_story(facts: FleetFacts, params: Params) -> Verdict:
    found = need(diverging(facts, params))
    named = ", ".join(title(s.disk) for s in found)
    if not found:
        return refuse("No disk stands out from the others, so taking one away would only be a guess.")
    if len(found) > 1:
        return refuse(f"{named} all contradict the other disks. With more than one suspect a person must decide; image the disks first.")
    if known(found[0].disk.wwid) and found[0].disk.wwid == params.get("wwid"):
        return ok(f"{named} alone contradicts the other disks: {found[0].clues[0].sentence}.")
    return refuse(f"The disk that contradicts the others is {named}, not {params.get('wwid', '')}.")


def two_kinds_of_evidence_name_it(facts: FleetFacts, params: Params) -> Verdict:
    found = _suspect(facts, params)
    if isinstance(found, Verdict):
        return found
    opens = params.get("tried") == zdb_without.OPENS
    methods = sorted({METHODS[clue.kind] for clue in found.clues} | ({TRIAL} if opens else set()))
    text = "; ".join((*(clue.sentence for clue in found.clues), *(("without it zdb opens the pool, and with it not",) if opens else ())))
    if len(methods) < METHODS_MIN:
        return refuse(f"Only {methods[0]} is evidence against {title(found.disk)}: {text}. One kind of evidence is not enough.")
    return ok(f"{' and '.join(methods)} are evidence against {title(found.disk)}: {text}.".capitalize())


def no_trial_acquits_it(facts: FleetFacts, params: Params) -> Verdict:
    """Where zdb cannot open the pool without the disk either, deleting it from the kernel does not help."""
    found, tried = _suspect(facts, params), params.get("tried", "")
    if isinstance(found, Verdict):
        return found
    if tried == zdb_without.DOES_NOT:
        return refuse(f"zdb does not open the pool without {title(found.disk)} either. It is not this disk, or not this disk alone.")
    if not tried:
        return ok("It could not be tried with zdb, so nothing is concluded from that.")
    return ok(f"Tried with zdb: the pool {tried}.")


def names_of(disk: DiskFacts) -> set[str]:
    """What the listing may call it."""
    return {link.rsplit("/", 1)[-1] for path in disk.paths for link in path.by_id} | set(disk.names)


@guard
def its_vdev_can_do_without_it(facts: FleetFacts, params: Params) -> Verdict:
    pool, disk = need(listed_pool(facts, params)), need(the_disk(facts, params))
    names = names_of(disk)
    top = next((top for _, top in pool.tops if any(leaf.name.rsplit("/", 1)[-1] in names for leaf in top.leaves())), None)
    if top is None:
        return unknown(f"Which vdev of {pool.name} {title(disk)} belongs to is not known.")
    others = [leaf for leaf in top.leaves() if leaf.name.rsplit("/", 1)[-1] not in names]
    spoken_of = _members_by_label(facts.nodes[params["node"]], pool.guid, {leaf.name.rsplit("/", 1)[-1] for leaf in others})
    spoken_of = need(spoken_of, f"How many disks {top.name} has is not known")
    if spoken_of != len(top.leaves()):
        return unknown(
            f"The listing shows {len(top.leaves())} disks of {top.name}, and the labels name {spoken_of}. "
            "What is not listed may be what it cannot do without; have the node look again."
        )
    absent = sum(leaf.state != "ONLINE" for leaf in others)
    if absent + 1 > spare(top):
        return refuse(f"{top.name} lacks {absent} disks already and can do without {spare(top)}. Taking another away does not help.")
    return left(spare(top) - absent - 1, f"Without this disk {top.name}")


@derived
def _members_by_label(node: NodeFacts, pool_guid: int, siblings: set[str]) -> Known[int]:
    """How many leaves the labels give the top-level vdev of these disks. The disk in question is not asked where it belongs."""
    expected = need(node.expected)
    tops = {row.label.top_guid for row in rows(node, pool_guid) if siblings & names_of(row.disk)}
    if len(tops) != 1:
        return Unknown("The labels of its other disks do not agree on which vdev they are of.")
    return len({leaf.guid for leaf in expected if leaf.pool_guid == pool_guid and leaf.top_guid in tops})


@guard
def nothing_else_needs_it(facts: FleetFacts, params: Params) -> Verdict:
    disk, guid = need(the_disk(facts, params)), need(number(params, "pool_guid"))
    if not known(disk.in_use) or not known(disk.labels):
        return unknown(f"Whether something else uses {title(disk)} is not known.")
    if against := behind_a_map(disk):
        return against
    if disk.in_use:
        return refuse(f"{title(disk)} is in use: {', '.join(disk.in_use)}. It stays.")
    others = [label.pool_name or str(label.guid) for label in disk.labels if label.pool_guid != guid]
    if others or lookup.owner_of_disk(facts, params.get("wwid", "")):
        return refuse(f"{title(disk)} belongs to {', '.join(others) or 'an imported pool'} too. It stays.")
    return ok(f"Nothing else uses {title(disk)}.")


@guard
def its_bay_is_known(facts: FleetFacts, params: Params) -> Verdict:
    """A technician has to pull it later."""
    disk = need(the_disk(facts, params))
    if not known(disk.bay) or disk.bay.conflict or disk.bay.evidence > lookup.BAY_EVIDENCE_TO_LIGHT:
        serial = f"the serial number {disk.serial}" if known(disk.serial) else "the WWID"
        return unknown(
            f"The bay of {title(disk)} is not known for certain, and of a disk that the kernel no longer shows nothing else would say whether it is out. It need not be "
            f"taken away from the kernel first: no pool has it open, so find it at the rack by {serial}, pull it on every host that sees it, label it, and have the node "
            "look again. read-only-import and import-pool then go on without it."
        )
    return ok(f"{title(disk)} sits in bay {disk.bay.slot} of {disk.bay.enclosure_id}.")


@guard
def it_is_gone_from_the_kernel(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(lookup.disk(facts, params.get("node", ""), params.get("wwid", "")))
    if not params.get("wwid"):
        return unknown("The run names no disk.")
    if disk is not None:
        return refuse(f"The kernel still shows {title(disk)}.")
    if other := nameless(facts, params):
        return unknown(f"The kernel shows {title(other)}, and it may be {params['wwid']}. Find out which disk that is.")
    return ok(f"The kernel shows {params['wwid']} no more.")


@derived
def members_here(facts: FleetFacts, params: Params) -> Known[frozenset[int]]:
    """Guids of the members whose disks are here, by their labels, without the one that is taken away."""
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    need(node.disks, f"The disks of {node.node} are not known")
    return frozenset(row.label.guid for row in rows(node, guid) if str(row.label.guid) != params.get("vdev_guid", ""))


@guard
def the_other_members_are_still_here(facts: FleetFacts, params: Params) -> Verdict:
    """As many as before it was deleted: a reset of the expander can take its neighbours away too."""
    here = need(members_here(facts, params))
    before = params.get("others", "")
    if not before.isdigit():
        return unknown("How many other members were here before was not written down.")
    if len(here) < int(before):
        return refuse(
            f"{int(before) - len(here)} other members of {params.get('pool', '')} went away with it. End this run, which brings it back, and look "
            "at what they share before anything else."
        )
    return ok(f"The {len(here)} other members of {params.get('pool', '')} are here.")


def it_is_back(facts: FleetFacts, params: Params) -> Verdict:
    gone = it_is_gone_from_the_kernel(facts, params)
    if gone.outcome == "unknown":
        return gone
    return refuse(gone.reason) if gone.outcome == "pass" else ok(f"The kernel shows {params.get('wwid', '')} again.")


@dataclass(frozen=True)
class Difference:
    """With which txg the pool ends without the disk, and with which it would have, had every import followed it."""

    without: int
    with_it: int
    seconds: int

    @property
    def loss(self) -> str:
        return duration(max(0, self.seconds))


@derived
def the_difference(facts: FleetFacts, params: Params) -> Known[Difference]:
    node = need(lookup.node(facts, params.get("node", "")))
    timeline = next((t for t in node.timelines if str(t.pool_guid) == params.get("pool_guid", "")), None) if known(node.timelines) else None
    ends = {one.disk.wwid: one.newest for one in timeline.disks if one.newest is not None} if timeline else {}
    others = [newest for wwid, newest in ends.items() if wwid != params.get("wwid", "")]
    own = ends.get(params.get("wwid", ""))
    if own is None or not others:
        return Unknown("With which transaction group the disks end is not known. Have the node read the uberblocks.")
    best = max(others, key=lambda u: (u.txg, u.timestamp))
    return Difference(best.txg, own.txg, own.timestamp - best.timestamp)


@guard
def what_the_others_end_with(facts: FleetFacts, params: Params) -> Verdict:
    """How many seconds of writes are lost, compared with an import of the newest state."""
    found = _suspect(facts, params)
    if isinstance(found, Verdict):
        return found
    difference = need(the_difference(facts, params))
    return ok(
        f"Without it the pool ends with txg {difference.without}. It would have gone on to txg {difference.with_it}, "
        f"{apart(difference.seconds)}: what it holds of that time is on no other disk."
    )


@guard
def it_is_out_of_its_bay(facts: FleetFacts, params: Params) -> Verdict:
    """The kernel shows nothing of a deleted disk, so the enclosure's status of the bay counts, or another disk in it."""
    inside = need(disks_in(facts, params) if params.get("old_wwid") else Unknown("The run names no disk."))
    for disk in inside:
        if known(disk.wwid) and disk.wwid != params.get("old_wwid", ""):
            return ok(f"{words(params).capitalize()} holds another disk, {title(disk)}.")
    return the_bay_is_empty(facts, params)


def it_may_be_looked_for(facts: FleetFacts, params: Params) -> Verdict:
    """A rescan must not bring it back into the pool: the pool is not imported, or the disk is out of its bay."""
    away = the_pool_is_not_imported_here(facts, params)
    if away.outcome != "refuse":
        return away
    out = it_is_out_of_its_bay(facts, params)
    return out if out.outcome == "pass" else Verdict(out.outcome, f"{away.reason} {out.reason}")


def it_must_be_pulled_first(facts: FleetFacts, params: Params) -> Verdict:
    may = it_may_be_looked_for(facts, params)
    if may.outcome == "unknown":
        return may
    return refuse(may.reason) if may.outcome == "pass" else ok(may.reason)


def it_is_back_or_out(facts: FleetFacts, params: Params) -> Verdict:
    back = it_is_back(facts, {**params, "wwid": params.get("old_wwid", "")})
    return back if back.outcome == "pass" else it_is_out_of_its_bay(facts, params)


@guard
def the_pool_lacks_exactly_this_disk(facts: FleetFacts, params: Params) -> Verdict:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    tops = need(pool.tops, f"The vdevs of {pool.name} are not known")
    lost = [leaf for _, top in tops for leaf in top.leaves() if leaf.state not in lookup.IN_SERVICE]
    if not all(known(leaf.guid) for leaf in lost):
        return unknown(f"Which members {pool.name} lacks is not known.")
    if [leaf.guid for leaf in lost] == [guid]:
        return ok(f"{pool.name} lacks {guid} and nothing else.")
    named = ", ".join(str(leaf.guid) for leaf in lost) or "nothing"
    return refuse(f"{pool.name} lacks {named}, and should lack {guid} only. Find out what else is away, or what came back.")


def of_the_old_disk(guard: Guard) -> Guard:
    """The same question about the disk that is taken away, in a runbook whose `wwid` is the one that comes."""

    def asked(facts: FleetFacts, params: Params) -> Verdict:
        return guard(facts, {**params, "wwid": params.get("old_wwid", "")})

    asked.__name__, asked.__qualname__, asked.__module__ = guard.__name__, guard.__qualname__, guard.__module__
    return asked


MAY_BE_GUARDS = (it_alone_tells_another_story, its_vdev_can_do_without_it, nothing_else_needs_it, its_bay_is_known)
SUSPECT_GUARDS = (*MAY_BE_GUARDS, two_kinds_of_evidence_name_it, no_trial_acquits_it)


def _suspect(facts: FleetFacts, params: Params) -> Suspect | Verdict:
    found = diverging(facts, params)
    if not known(found):
        return unknown(found.reason)
    one = next((s for s in found if known(s.disk.wwid) and s.disk.wwid == params.get("wwid")), None)
    return refuse(f"Nothing sets {params.get('wwid') or 'any disk'} apart from the others.") if one is None else one
