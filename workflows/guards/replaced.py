"""Questions after a replacement: is the old member gone, does the new disk serve, is the vdev whole again?"""

from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import REPAIRS, FleetFacts, Known, Unknown, VdevFacts, derived, known, lookup, need
from workflows.guards.margin import left
from workflows.guards.subject import number, the_pool

REPAIRS_AND_SCRUB = (*REPAIRS, "scrub")  # a scrub that came after reads every block, and hides the resilver's line


@guard
def the_old_member_is_gone(facts: FleetFacts, params: Params) -> Verdict:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    line = need(lookup.pool_lineage(pool, guid))
    if line is None:
        return ok(f"{pool.name} has no vdev {guid} any more.")
    place = f"{line[-2].name} of {pool.name}" if len(line) > 1 else pool.name
    return refuse(f"{guid} is still in {place}. It leaves when the resilver has ended without errors.")


@guard
def the_new_disk_has_its_place(facts: FleetFacts, params: Params) -> Verdict:
    """Directly under its vdev, with no `replacing` or `spare` left above it."""
    line = need(the_new_line(facts, params))
    temporary = [vdev.name for vdev in line[:-1] if vdev.kind in ("replacing", "spare")]
    if temporary:
        return refuse(f"{params['wwid']} is still under {temporary[0]}. Wait until the resilver has ended.")
    return ok(f"{params['wwid']} is a member of {line[0].name}, and no replacing vdev is left above it.")


@guard
def the_new_disk_is_in_service(facts: FleetFacts, params: Params) -> Verdict:
    line = need(the_new_line(facts, params))
    leaf = line[-1]
    if leaf.state in lookup.LOST_STATES:
        return _lost_after_the_replace(params, leaf)
    if leaf.state != "ONLINE":
        return refuse(f"The new disk {params['wwid']} is {leaf.state}. Look at the pool; it needs attention.")
    if not redundancy.leaf_counts(leaf):
        return refuse(f"The new disk {params['wwid']} is ONLINE and still being filled. Wait until that ends.")
    return ok(f"The new disk {params['wwid']} is ONLINE and holds its whole share.")


@guard
def the_resilver_ended_without_errors(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    scans = [scan for scan in need(pool.scans, f"The scan lines of {pool.name} are not known") if scan.function in REPAIRS_AND_SCRUB]
    if not scans:
        return unknown(f"{pool.name} shows no scan, so how the resilver ended is not known.")
    for scan in scans:
        if scan.state != "finished":
            return refuse(f"The {scan.function} of {pool.name} is {scan.state}. Wait until it has finished.")
        if scan.errors is None:
            return unknown(f"With how many errors the {scan.function} of {pool.name} finished is not known.")
        if scan.errors:
            return refuse(
                f"The {scan.function} of {pool.name} finished with {scan.errors} errors. Read `zpool status -v` before anything else."
            )
        if redundancy.wrote_nothing(scan) and not redundancy.has_nothing_to_fill(pool, the_new_line(facts, params)):
            return refuse(
                f"The resilver of {pool.name} finished with 0 errors and wrote nothing: the new disk may not hold its share. "
                f"Order `zpool scrub {pool.name}`, and look again when it has ended."
            )
    return ok(f"The {scans[0].function} of {pool.name} finished with 0 errors.")


@guard
def the_vdev_counts_the_new_disk(facts: FleetFacts, params: Params) -> Verdict:
    """The redundancy that this replacement restores. Other disks that are still lost are listed and need a run of their own."""
    pool, line = need(the_pool(facts, params)), need(the_new_line(facts, params))
    margin = need(redundancy.top_margin(pool, line[0]))
    if redundancy.being_rebuilt(line[0], pool.scans if known(pool.scans) else ()):
        return refuse(f"{line[0].name} is still being rebuilt. Wait until that ends.")
    full = full_margin(line[0])
    if margin < 0:
        return refuse(f"{line[0].name} has lost more disks than it can rebuild. Get help before anything else.")
    if not known(full) or margin < full:
        return left(margin, line[0].name, redundancy.explain(line[0], pool.scans))
    return ok(f"{line[0].name} is whole and {redundancy.survival(margin)}.")


def the_new_disk_has_taken_over(facts: FleetFacts, params: Params) -> Verdict:
    """Ends the wait: the resilver is over and the old member left. Whether there were errors is asked afterwards."""
    line = the_new_line(facts, params)
    if known(line) and line[-1].state in lookup.LOST_STATES:
        return the_new_disk_is_in_service(facts, params)
    verdicts = [guard(facts, params) for guard in (the_old_member_is_gone, the_new_disk_has_its_place, the_new_disk_is_in_service)]
    return next((v for v in verdicts if v.outcome != "pass"), verdicts[-1])


def _lost_after_the_replace(params: Params, leaf: VdevFacts) -> Verdict:
    """Seen on 2.1.11 with a disk that was not touched, while it was filled and just after: until 2.1.12 ZED takes a partition table that is read anew
    for a removal (OpenZFS #14897)."""
    new = f"The new disk {params['wwid']} is {leaf.state}, so ZFS neither fills nor reads it."
    if leaf.state == "FAULTED":
        return refuse(f"{new} ZFS gave it up; look at its errors before anything else.")
    back = (
        f"`zpool online {params['pool']} {leaf.guid}` on the node brings it back" if known(leaf.guid) else "`zpool online` brings it back"
    )
    return refuse(f"{new} Look at its bay. If it is there and answers, {back}, and the resilver with it.")


REPLACED_GUARDS = (
    the_old_member_is_gone,
    the_new_disk_has_its_place,
    the_new_disk_is_in_service,
    the_resilver_ended_without_errors,
    the_vdev_counts_the_new_disk,
)


@derived
def the_new_line(facts: FleetFacts, params: Params) -> Known[tuple[VdevFacts, ...]]:
    """From the top-level vdev down to the one leaf that sits on the chosen disk."""
    pool, wwid = need(the_pool(facts, params)), params.get("wwid", "")
    tops = need(pool.tops, f"The vdevs of {pool.name} are not known")
    if not wwid:
        return Unknown("No disk is chosen yet.")
    found = [line for _, top in tops for line in lines_to(top, wwid)]
    if len(found) > 1:
        return Unknown(f"{wwid} is {len(found)} members of {pool.name} at once. Look at the labels before anything else.")
    return found[0] if found else Unknown(f"No member of {pool.name} is known to sit on {wwid}. Have the node look again.")


def lines_to(vdev: VdevFacts, wwid: str, above: tuple[VdevFacts, ...] = ()) -> list[tuple[VdevFacts, ...]]:
    line = (*above, vdev)
    if not vdev.children:
        return [line] if known(vdev.wwid) and vdev.wwid == wwid else []
    return [found for child in vdev.children for found in lines_to(child, wwid, line)]


def full_margin(top: VdevFacts) -> Known[int]:
    if top.kind in ("raidz", "draid") and top.parity:
        return top.parity
    if top.kind == "mirror":
        return len(top.children) - 1
    return 0 if not top.children else Unknown(f"{top.name} is a vdev of the kind {top.kind}.")
