"""What finish-replacement alone asks: which disks are in the `replacing` or `spare` vdev, which of them may stay, and whether it misses anything."""

from dataclasses import replace

from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, PoolFacts, Unknown, VdevFacts, derived, known, lookup, need
from workflows.guards.margin import left
from workflows.guards.member import SERVING
from workflows.guards.spares import scanned_cleanly
from workflows.guards.subject import the_pool, the_target

UNDO, LET_GO, WAIT = "undo", "let-go", "wait"
HOLDERS = ("replacing", "spare")
NO_DISK_SERVES = (
    "Nothing of it is detached: each may hold the only copy of something. Bring one of them back first: its seat, its cable, its power; where other "
    "disks of the node are gone too, begin with many-disks-offline. If none comes back and the vdev is down, restore the pool from its backup."
)


@derived
def the_holder(facts: FleetFacts, params: Params) -> Known[VdevFacts]:
    """The `replacing` or `spare` vdev, by the guid of its oldest disk; with the guid of each disk in it."""
    target = need(the_target(facts, params))
    holder = target.parent
    if holder is None or holder.kind not in HOLDERS or holder.children[0] is not target.leaf:
        return Unknown(
            f"{params.get('vdev_guid', '')} is not the old disk of a replacement or of a spare in {target.pool.name} now, so there is nothing to end. "
            "Look at the pool again, and end this run."
        )
    if any(not known(child.guid) for child in holder.children):
        return Unknown(f"The guid of a disk in {holder.name} is not known. Have the node look again.")
    return holder


def serves(vdev: VdevFacts) -> bool:
    return any(leaf.state in SERVING for leaf in vdev.leaves())


@guard
def a_replacement_is_unfinished(facts: FleetFacts, params: Params) -> Verdict:
    holder = need(the_holder(facts, params))
    states = " and ".join(f"{child.guid} ({child.state})" for child in holder.children)
    return ok(f"{holder.name} of {params.get('pool', '')} holds {states}.")


@guard
def one_of_its_disks_serves(facts: FleetFacts, params: Params) -> Verdict:
    holder = need(the_holder(facts, params))
    serving = [child for child in holder.children if serves(child)]
    if not serving:
        return refuse(f"No disk in {holder.name} serves. {NO_DISK_SERVES}")
    return ok(f"In {holder.name} {' and '.join(str(child.guid) for child in serving)} serves.")


def _half(holder: VdevFacts, guid: str) -> VdevFacts | None:
    return next((child for child in holder.children if str(child.guid) == guid), None)


@derived
def the_one_that_stays(facts: FleetFacts, params: Params) -> Known[VdevFacts]:
    holder = need(the_holder(facts, params))
    stays, goes = _half(holder, params.get("keeps_guid", "")), _half(holder, params.get("goes_guid", ""))
    if stays is None or goes is None or stays is goes:
        return Unknown(f"{holder.name} does not hold both the disk that goes and the one that stays. Begin again from the situation.")
    if stays.children or goes.children:
        return Unknown(f"In {holder.name} one of the two is no disk but {(stays if stays.children else goes).name}. End that one first.")
    return stays


@guard
def the_one_that_stays_is_fit(facts: FleetFacts, params: Params) -> Verdict:
    """The old disk, when the new one goes, needs only to serve: it held everything before. Any other has to be ONLINE and filled."""
    stays = need(the_one_that_stays(facts, params))
    wanted = SERVING if params.get("way") == UNDO else ("ONLINE",)
    if stays.state not in wanted:
        return refuse(f"The disk that would stay, {stays.guid}, is {stays.state}. {NO_DISK_SERVES}")
    if need(stays.gone):
        return refuse(f"The kernel has no running disk for {stays.guid}, which would stay. Mend that first.")
    if stays.resilvering or stays.awaiting_resilver:
        return refuse(f"The disk that would stay, {stays.guid}, is still being filled. Wait until that ends.")
    return ok(f"The disk that stays, {stays.guid}, is {stays.state} and not being filled.")


@guard
def the_one_that_stays_misses_nothing(facts: FleetFacts, params: Params) -> Verdict:
    """By what ZFS wrote into the labels: a disk that was attached is marked there until nothing is missing on it. See `agents/operations/_detach.py`."""
    stays, pool = need(the_one_that_stays(facts, params)), need(the_pool(facts, params))
    line = need(_line(pool, params.get("keeps_guid", "")))
    top = line[0] if line else stays
    if not known(top.ashift):
        return unknown(f"No label of {top.name} could be read, so whether {stays.guid} misses data is not known. Have the node look again.")
    if stays.rebuilding_since_txg is not None:
        return refuse(
            f"By its label {stays.guid}, which would stay, misses data from before txg {stays.rebuilding_since_txg}. Only a resilver that ends without errors "
            "fills it: where none runs, begin one with begin-resilver."
        )
    return ok(f"By its label {stays.guid}, which stays, misses nothing.")


@guard
def the_scan_that_filled_it_was_clean(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    return scanned_cleanly(
        pool, redundancy.has_nothing_to_fill(pool, _line(pool, params.get("keeps_guid", ""))), "the disk that would stay"
    )


@guard
def only_the_newest_is_taken_out(facts: FleetFacts, params: Params) -> Verdict:
    """A replacement that is undone has two disks: the old one, and the one that is being filled in its place."""
    holder = need(the_holder(facts, params))
    need(the_one_that_stays(facts, params))
    guids = [str(child.guid) for child in holder.children]
    if holder.kind != "replacing" or guids != [params.get("keeps_guid", ""), params.get("goes_guid", "")]:
        return refuse(
            f"{holder.name} does not hold just the old disk that stays and the new one that goes. Begin again from the situation."
        )
    return ok(
        f"{params.get('goes_guid', '')} is the new disk of {holder.name}, and {params.get('keeps_guid', '')} is the disk that it was to replace."
    )


@derived
def margin_after(facts: FleetFacts, params: Params) -> Known[int]:
    """How many more losses the vdev survives with the one that stays in this place alone, or beside what else stands there.

    A scan that was cancelled, or runs, was for the new disk where that one goes, and so says nothing of the rest.
    """
    stays, holder, target = need(the_one_that_stays(facts, params)), need(the_holder(facts, params)), need(the_target(facts, params))
    scans = need(target.pool.scans, f"The scan lines of {target.pool.name} are not known")
    others = tuple(child for child in holder.children if str(child.guid) != params.get("goes_guid", ""))
    after = stays if others == (stays,) else replace(holder, children=others)
    top = _with(target.top, holder, after)
    return redundancy.counted(top, scans, False, params.get("way") == UNDO)


def _with(vdev: VdevFacts, old: VdevFacts, new: VdevFacts) -> VdevFacts:
    return new if vdev is old else replace(vdev, children=tuple(_with(child, old, new) for child in vdev.children))


@guard
def its_vdev_keeps_its_data(facts: FleetFacts, params: Params) -> Verdict:
    target, margin = need(the_target(facts, params)), need(margin_after(facts, params))
    if margin < 0:
        return refuse(
            f"Without {params.get('goes_guid', '')} {target.top.name} lacks more disks than it can do without. Detach nothing; bring its other lost "
            "disks back first, and where many are gone, begin with many-disks-offline."
        )
    return left(margin, f"With {params.get('keeps_guid', '')} in this place {target.top.name}")


# --- afterwards


@derived
def the_line_that_stays(facts: FleetFacts, params: Params) -> Known[tuple[VdevFacts, ...]]:
    """Down to the disk that stayed: by its guid, or by its WWID where it became a vdev by itself and so took another guid. () when it is not there."""
    pool = need(the_pool(facts, params))
    line = need(_line(pool, params.get("keeps_guid", "")))
    wwid = params.get("keeps_wwid", "")
    if line or not wwid:
        return line
    found = [one for _, top in pool.tops_read for one in lookup.lineages(top) if not one[-1].children and lookup.wwid_of(one[-1]) == wwid]
    return found[0] if len(found) == 1 else ()


@guard
def the_one_that_goes_is_out(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    goes = params.get("goes_guid", "")
    line = need(_line(pool, goes))
    if line:
        return refuse(
            f"{goes} is still in {line[-2].name if len(line) > 1 else pool.name}. Have the node look again, and see what the command answered."
        )
    return ok(f"{goes} is not in the tree of {pool.name} any more.")


@guard
def the_one_that_stays_is_a_member(facts: FleetFacts, params: Params) -> Verdict:
    line = need(the_line_that_stays(facts, params))
    if not line:
        return refuse(f"{params.get('keeps_guid', '')}, which was to stay, is not in the pool. Get help before anything else.")
    wanted = SERVING if params.get("way") == UNDO else ("ONLINE",)
    if line[-1].state not in wanted:
        return refuse(f"{params.get('keeps_guid', '')} stayed and is {line[-1].state}. Look at its bay and its cable.")
    above = next((vdev for vdev in line[:-1] if vdev.kind in HOLDERS), None)
    more = f", in {above.name} with what else stands there" if above is not None else ""
    return ok(f"The disk that stayed is {line[-1].state} in {line[0].name}{more}.")


@guard
def its_vdev_has_lost_nothing(facts: FleetFacts, params: Params) -> Verdict:
    pool, line = need(the_pool(facts, params)), need(the_line_that_stays(facts, params))
    if not line:
        return unknown("The disk that was to stay is not in the pool.")
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    margin = need(redundancy.counted(line[0], scans, False, params.get("way") == UNDO))  # see `margin_after`
    if margin < 0:
        return refuse(f"{line[0].name} has lost more disks than it can rebuild. Get help before anything else.")
    lacks = redundancy.explain(line[0], scans) if redundancy.not_counting(line[0], scans) else ""
    return left(margin, line[0].name, lacks)


@guard
def the_replacement_is_finished(facts: FleetFacts, params: Params) -> Verdict:
    """By whatever ended it: the old disk is a member alone, or gone, and nothing holds it with another one."""
    pool = need(the_pool(facts, params))
    line = need(_line(pool, params.get("vdev_guid", "")))
    if line and len(line) > 1 and line[-2].kind in HOLDERS:
        return refuse(f"{line[-2].name} still holds {len(line[-2].children)} disks.")
    newest = need(_line(pool, params.get("new_guid", "")))
    left_over = next((vdev for vdev in newest[:-1] if vdev.kind == "replacing"), None)
    if left_over is not None:
        return refuse(f"{left_over.name} still holds {len(left_over.children)} disks.")
    return ok(f"No replacing or spare vdev holds {params.get('vdev_guid', '')} any more.")


@guard
def what_is_filled_serves_meanwhile(facts: FleetFacts, params: Params) -> Verdict:
    """Asked all the time while it is waited for."""
    if the_replacement_is_finished(facts, params).outcome == "pass":
        return ok("The replacement is over.")
    holder = need(the_holder(facts, params))
    newest = holder.children[-1]
    if not serves(newest):
        return refuse(
            f"The newest disk of {holder.name}, {newest.guid}, is {newest.state}, so nothing fills it. Take nothing out. Look at its seat, its cable and its "
            "power; if it is gone, end this run, begin it again, and take that disk out."
        )
    return ok(f"The newest disk of {holder.name} is {newest.state}.")


OUT_GUARDS = (the_one_that_goes_is_out, the_one_that_stays_is_a_member, its_vdev_has_lost_nothing)


def _line(pool: PoolFacts, guid: str) -> Known[tuple[VdevFacts, ...]]:
    """Down to it in the tree, without the section of spares; () when it is not there."""
    if not guid.isdecimal():
        return Unknown("The run does not say which disk is meant.")
    line = lookup.pool_lineage(pool, int(guid))
    return line if not known(line) else line or ()
