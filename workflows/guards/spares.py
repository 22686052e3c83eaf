"""Questions about a hot spare that stands in for a member: which of the two goes, and is the other one whole?"""

from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, PoolFacts, Unknown, VdevFacts, derived, known, lookup, need
from workflows.guards.margin import left
from workflows.guards.replaced import REPAIRS_AND_SCRUB
from workflows.guards.subject import the_pool, the_target

CANCEL, PROMOTE = "cancel", "promote"


@derived
def the_pair(facts: FleetFacts, params: Params) -> Known[VdevFacts]:
    """The `spare` vdev with exactly the member and the spare that the run is about."""
    target = need(the_target(facts, params))
    parent = target.parent
    if parent is None or parent.kind != "spare":
        return Unknown(f"No spare stands in for {params.get('vdev_guid', '')} in {target.pool.name} now. Look at the pool again.")
    guids = [str(child.guid) for child in parent.children]
    if guids != [params.get("vdev_guid", ""), params.get("spare_guid", "")]:
        return Unknown(f"{parent.name} holds {' and '.join(guids)}, which is not what this run is about. Begin again from the situation.")
    return parent


@guard
def the_spare_stands_in_for_the_member(facts: FleetFacts, params: Params) -> Verdict:
    pair = need(the_pair(facts, params))
    return ok(f"In {pair.name} the spare {params.get('spare_guid', '')} stands in for {params.get('vdev_guid', '')}.")


def the_member_is_whole_again(facts: FleetFacts, params: Params) -> Verdict:
    return _whole(facts, params, 0, "The member")


def the_spare_is_whole(facts: FleetFacts, params: Params) -> Verdict:
    return _whole(facts, params, -1, "The spare")


def the_one_that_stays_is_whole(facts: FleetFacts, params: Params) -> Verdict:
    if params.get("way") == CANCEL:
        return the_member_is_whole_again(facts, params)
    if params.get("way") == PROMOTE:
        return the_spare_is_whole(facts, params)
    return unknown("Which of the two goes has not been chosen.")


@guard
def the_last_scan_was_clean(facts: FleetFacts, params: Params) -> Verdict:
    """Only a scan that finished with 0 errors says that the one that stays holds everything."""
    pool = need(the_pool(facts, params))
    return scanned_cleanly(pool, _may_get_nothing(facts, params, pool), "the spare")


def scanned_cleanly(pool: PoolFacts, may_get_nothing: bool, what: str) -> Verdict:
    """`what` was filled by it, and `may_get_nothing` says whether it rightly got nothing."""
    if not known(pool.scans):
        return unknown(f"The scan lines of {pool.name} are not known: {pool.scans.reason}")
    scans = [scan for scan in pool.scans if scan.function in REPAIRS_AND_SCRUB]
    if not scans:
        return unknown(f"{pool.name} shows no resilver that has ended, so nothing says that {what} was filled.")
    for scan in scans:
        if scan.state != "finished":
            return refuse(f"The {scan.function} of {pool.name} is {scan.state}. Wait until it has finished.")
        if scan.errors != 0:
            return refuse(
                f"The {scan.function} of {pool.name} finished with {scan.errors} errors. Read `zpool status -v`, and scrub first."
            )
        if redundancy.wrote_nothing(scan) and not may_get_nothing:
            return refuse(
                f"The resilver of {pool.name} finished with 0 errors and wrote nothing: {what} may not hold its share. "
                f"Order `zpool scrub {pool.name}`, and look again when it has ended."
            )
    return ok(f"The {scans[0].function} of {pool.name} finished with 0 errors.")


def _may_get_nothing(facts: FleetFacts, params: Params, pool: PoolFacts) -> bool:
    """A member that was away for a moment may have missed nothing; a spare that becomes one was new to all of it."""
    return params.get("way") != PROMOTE or redundancy.has_nothing_to_fill(pool, _line(facts, params, _stays(params)))


@guard
def the_one_that_goes_is_gone(facts: FleetFacts, params: Params) -> Verdict:
    pool, line = need(the_pool(facts, params)), need(_line(facts, params, _goes(params)))
    if line:
        return refuse(f"{_goes(params)} is still in {line[-2].name if len(line) > 1 else pool.name}.")
    return ok(f"{_goes(params)} is not in the tree of {pool.name} any more.")


@guard
def the_one_that_stays_serves(facts: FleetFacts, params: Params) -> Verdict:
    line = need(_line(facts, params, _stays(params)))
    if not line:
        return refuse(f"{_stays(params)} is not in the pool any more. Get help before anything else.")
    if any(vdev.kind in ("spare", "replacing") for vdev in line[:-1]):
        return refuse(f"{_stays(params)} is still inside {line[-2].name}.")
    if line[-1].state != "ONLINE":
        return refuse(f"{_stays(params)} is {line[-1].state}. Look at the pool; it needs attention.")
    return ok(f"{_stays(params)} is ONLINE in {line[0].name}.")


@guard
def the_spare_is_where_it_belongs(facts: FleetFacts, params: Params) -> Verdict:
    """Given back it is AVAIL; promoted it is no spare any more."""
    pool = need(the_pool(facts, params))
    spare = next((s for s in pool.spares if str(s.guid) == params.get("spare_guid", "")), None)
    if params.get("way") == PROMOTE:
        if spare is None:
            return ok(f"{params.get('spare_guid', '')} is no spare of {pool.name} any more, but a member.")
        return refuse(f"{params.get('spare_guid', '')} is still listed as a spare of {pool.name} ({spare.state}).")
    if spare is None:
        return refuse(f"{params.get('spare_guid', '')} is not among the spares of {pool.name}.")
    return (
        ok(f"The spare of {pool.name} is AVAIL again.") if spare.state == "AVAIL" else refuse(f"The spare of {pool.name} is {spare.state}.")
    )


@guard
def the_vdev_has_lost_nothing(facts: FleetFacts, params: Params) -> Verdict:
    pool, line = the_pool(facts, params), _line(facts, params, _stays(params))
    if not known(pool) or not known(line) or not line:
        return unknown(pool.reason if not known(pool) else line.reason if not known(line) else "The member that stays is not there.")
    margin = need(redundancy.top_margin(pool, line[0]))
    if margin < 0:
        return refuse(f"{line[0].name} has lost more disks than it can rebuild. Get help before anything else.")
    return left(margin, line[0].name, redundancy.explain(line[0], pool.scans))


RETURNED_GUARDS = (the_one_that_goes_is_gone, the_one_that_stays_serves, the_spare_is_where_it_belongs, the_vdev_has_lost_nothing)


def _goes(params: Params) -> str:
    return params.get("vdev_guid" if params.get("way") == PROMOTE else "spare_guid", "")


def _stays(params: Params) -> str:
    return params.get("spare_guid" if params.get("way") == PROMOTE else "vdev_guid", "")


def _line(facts: FleetFacts, params: Params, guid: str) -> Known[tuple[VdevFacts, ...]]:
    """Down to it in the tree, without the section of spares; empty when it is not there."""
    pool: Known[PoolFacts] = the_pool(facts, params)
    if not known(pool):
        return pool
    if not guid.isdecimal():
        return Unknown("The run does not say which member is meant.")
    line = lookup.pool_lineage(pool, int(guid))
    return line if not known(line) else line or ()


def _whole(facts: FleetFacts, params: Params, place: int, what: str) -> Verdict:
    pair = the_pair(facts, params)
    if not known(pair):
        return unknown(pair.reason)
    leaf = pair.children[place]
    if leaf.state != "ONLINE":
        return refuse(f"{what} {leaf.guid} is {leaf.state}, so it is the other one that holds the data.")
    if not redundancy.leaf_counts(leaf):
        return refuse(f"{what} {leaf.guid} is ONLINE and still being filled. Wait until that ends.")
    return ok(f"{what} {leaf.guid} is ONLINE and not being filled.")
