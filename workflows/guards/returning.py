"""Questions about a lost member whose own disk is there again: is it really that disk, may it serve, and has it caught up?"""

from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import REPAIRS, FleetFacts, candidate_case, census, known, need
from workflows.guards.member import SERVING, the_member_serves_again
from workflows.guards.subject import name_of, number, the_disk, the_target

SETTLED_SECONDS = 60  # seen with OpenZFS 2.3: the member is ONLINE at once, and its resilver begins five seconds later
MISPLACED = ("corrupted data", "invalid label")  # what ZFS notes when another disk, or none of its own, answers under the name


@guard
def the_disk_is_the_lost_member_itself(facts: FleetFacts, params: Params) -> Verdict:
    """By the guid in its label, and no other disk has the same guid. Anything else on it refuses."""
    pool_guid, vdev_guid = need(number(params, "pool_guid")), need(number(params, "vdev_guid"))
    disk = need(the_disk(facts, params))
    case = need(candidate_case(facts, params["node"], pool_guid, vdev_guid, params["wwid"]))
    if case.code != "A1":
        return refuse(f"It is not the lost member. {case.sentence}")
    seen = census(facts)
    claimants = {one.wwid or f"{one.disk} of {one.node}" for one in seen.carriers(pool_guid, vdev_guid)}
    if len(claimants) > 1:
        return refuse(
            f"{' and '.join(sorted(claimants))} carry the label of {vdev_guid} both: one is a copy. A person decides which it is."
        )
    return ok(f"{name_of(disk)} carries the label of {vdev_guid}, and no other disk does.")


@guard
def zfs_did_not_give_it_up(facts: FleetFacts, params: Params) -> Verdict:
    """A member that ZFS opened and then faulted has errors; it is not merely missing. Brought back, it fails again."""
    target = need(the_target(facts, params))
    leaf = target.leaf
    if leaf.state == "FAULTED" and leaf.was is None and not any(words in leaf.note for words in MISPLACED):
        return refuse(f"ZFS gave {leaf.guid} up for its errors. It is replaced, not brought back: begin blink-and-replace.")
    return ok(f"{leaf.guid} is {leaf.state}, and not for errors.")


@guard
def the_member_is_still_away(facts: FleetFacts, params: Params) -> Verdict:
    target = need(the_target(facts, params))
    if target.leaf.state in SERVING:
        return refuse(f"{target.leaf.guid} is {target.leaf.state} again, so nothing more is needed.")
    return ok(f"{target.leaf.guid} is still {target.leaf.state}.")


@guard
def the_member_holds_its_share(facts: FleetFacts, params: Params) -> Verdict:
    """ONLINE is not enough: it must have been resilvered, and the resilver begins only after a pause."""
    again, target = the_member_serves_again(facts, params), the_target(facts, params)
    if again.outcome != "pass" or not known(target):
        return again
    repairs = [scan for scan in need(target.pool.scans, f"The scan lines of {target.pool.name} are not known") if scan.function in REPAIRS]
    if not redundancy.leaf_counts(target.leaf) or any(scan.state in ("running", "paused") for scan in repairs):
        return refuse(f"{target.leaf.guid} is {target.leaf.state} and still catches up.")
    since, _, until = params.get("serving", "").partition(":")
    seconds = int(until) - int(since) if since.isdigit() and until.isdigit() else 0
    if seconds < SETTLED_SECONDS:
        return refuse(
            f"{target.leaf.guid} serves for {seconds} s; a resilver begins only after a pause, so {SETTLED_SECONDS} s are waited."
        )
    return ok(f"{target.leaf.guid} is {target.leaf.state} in {target.pool.name} and holds its share.")


@guard
def it_caught_up_without_errors(facts: FleetFacts, params: Params) -> Verdict:
    """Where nothing was written meanwhile, ZFS has nothing to resilver and prints no line."""
    target = need(the_target(facts, params))
    scans = need(target.pool.scans, "How it caught up is not known")
    bad = [scan for scan in scans if scan.function in REPAIRS and scan.state == "finished" and scan.errors != 0]
    if bad and bad[0].errors is None:
        return unknown(f"With how many errors the {bad[0].function} of {target.pool.name} ended is not known.")
    if bad:
        return refuse(
            f"The {bad[0].function} of {target.pool.name} finished with {bad[0].errors} errors. Read `zpool status -v` before anything else."
        )
    return ok(f"No resilver of {target.pool.name} left errors.")
