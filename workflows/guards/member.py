"""Questions about a member that is to leave service, or did, and about its coming back."""

from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, known, lookup, need, title
from workflows.guards.margin import left
from workflows.guards.subject import the_pool, the_target

SERVING = ("ONLINE", "DEGRADED")


@guard
def the_member_sits_on_the_disk_meant(facts: FleetFacts, params: Params) -> Verdict:
    """The label on that disk is read: names and stored device ids prove nothing."""
    target = need(the_target(facts, params))
    wwid = need(target.leaf.wwid, f"Which disk carries the label of {params.get('vdev_guid', '')} is not known")
    if wwid != params.get("old_wwid", ""):
        return refuse(f"{params.get('vdev_guid', '')} sits on {wwid}, not on {params.get('old_wwid', '')}. Begin again from the situation.")
    disk = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    if not known(disk) or disk is None:
        return unknown(f"{params.get('node', '')} does not see {params.get('old_wwid', '')} now. Have the node look again.")
    serial = need(disk.serial, f"The serial number of {title(disk)} is not known")
    if serial != params.get("old_serial", ""):
        return refuse(f"{title(disk)} has the serial number {serial}, not {params.get('old_serial', '')}. Begin again from the situation.")
    return ok(f"{params.get('vdev_guid', '')} sits on {title(disk)}, serial number {serial}.")


@guard
def the_disk_that_goes_is_no_other(facts: FleetFacts, params: Params) -> Verdict:
    """Before anything is taken out of service: a person finds it by a serial number, and what comes into its place is named by its identity."""
    disk = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    if not known(disk) or disk is None:
        return unknown(f"{params.get('node', '')} does not see {params.get('old_wwid', '')} now. Have the node look again.")
    if disk.doubt:
        return refuse(f"Another disk could be taken for {title(disk)}: {disk.doubt}.")
    return ok(f"No other disk reports what {title(disk)} is known by.")


@guard
def the_member_serves(facts: FleetFacts, params: Params) -> Verdict:
    """Whether there is anything to take out of service."""
    target = need(the_target(facts, params))
    if target.leaf.state in SERVING:
        return ok(f"{params.get('vdev_guid', '')} is {target.leaf.state} and serves {target.pool.name}.")
    return refuse(f"{params.get('vdev_guid', '')} is {target.leaf.state} and serves nothing, so it need not be taken out of service.")


@guard
def the_member_serves_again(facts: FleetFacts, params: Params) -> Verdict:
    target = need(the_target(facts, params))
    if target.leaf.state not in SERVING:
        return refuse(f"{params.get('vdev_guid', '')} is {target.leaf.state}. Check that its own disk is seated, and bring it back again.")
    return ok(f"{params.get('vdev_guid', '')} is {target.leaf.state} in {target.pool.name} again.")


@guard
def the_vdev_can_do_without_the_member(facts: FleetFacts, params: Params) -> Verdict:
    """Taking out a serving disk needs a margin of at least 1. A disk that serves nothing costs no redundancy."""
    target = need(the_target(facts, params))
    margin = need(redundancy.top_margin(target.pool, target.top))
    needed = 1 if redundancy.leaf_counts(target.leaf) else 0
    why = redundancy.explain(target.top, target.pool.scans)
    if margin < needed:
        return refuse(f"{target.top.name} {redundancy.survival(margin)}. It cannot do without another disk. {why}")
    return left(margin - needed, f"Without this disk {target.top.name}", why)


@guard
def the_member_stands_alone(facts: FleetFacts, params: Params) -> Verdict:
    """Directly under its vdev: a `replacing` or `spare` above it has to be finished first."""
    target = need(the_target(facts, params))
    if target.parent is None:
        return refuse(f"{params.get('vdev_guid', '')} is a vdev by itself, and nothing else holds its data. It cannot be taken out.")
    if target.parent.kind in ("replacing", "spare"):
        return refuse(f"{params.get('vdev_guid', '')} is in {target.parent.name}. Let that finish first.")
    return ok(f"{params.get('vdev_guid', '')} is a disk of {target.parent.name}.")


@guard
def nothing_replaces_by_itself(facts: FleetFacts, params: Params) -> Verdict:
    """With autoreplace=on ZFS takes any disk that is put into the bay, before it is checked."""
    pool = need(the_pool(facts, params))
    if not known(pool.properties) or "autoreplace" not in pool.properties:
        why = "" if known(pool.properties) else f" {pool.properties.reason}"
        return unknown(f"Whether {pool.name} takes new disks by itself (autoreplace) is not known.{why}")
    if pool.properties["autoreplace"] != "off":
        return refuse(f"{pool.name} has autoreplace on and would take the new disk unchecked. Run `zpool set autoreplace=off {pool.name}`.")
    return ok(f"{pool.name} does not take new disks by itself.")


@guard
def only_the_member_left(facts: FleetFacts, params: Params) -> Verdict:
    """After it was taken out: every other disk of the vdev serves as before."""
    target = need(the_target(facts, params))
    margin = need(redundancy.top_margin(target.pool, target.top))
    if margin < 0:
        return refuse(f"{target.top.name} has lost more disks than it can rebuild. Put back what was taken out, now.")
    return left(margin, target.top.name, redundancy.explain(target.top, target.pool.scans))
