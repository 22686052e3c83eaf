"""What add-redundancy alone asks: whether the vdev is one disk that may get a mirror, and whether it has got one."""

from agents.operations.zpool_attach import ROLES
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, derived, known, lookup, need
from workflows.guards.replaced import the_new_disk_is_in_service, the_new_line
from workflows.guards.subject import Target, the_target


@derived
def the_role(facts: FleetFacts, params: Params) -> Known[str]:
    """ "data", "special", "dedup" or "log": the section in which the target's top-level vdev stands."""
    target = need(the_target(facts, params))
    return next((role for role, top in need(target.pool.tops) if top is target.top), "")


@guard
def it_is_one_disk_that_can_be_mirrored(facts: FleetFacts, params: Params) -> Verdict:
    """ZFS attaches to a disk that is a vdev by itself or in a mirror, and to a raidz, which it makes wider for good (spa_vdev_attach, module/zfs/spa.c)."""
    target = need(the_target(facts, params))
    if target.leaf.children:
        return refuse(
            f"{target.leaf.guid} is {target.leaf.name}, not a disk. Another disk would make a raidz wider for good. End this run."
        )
    if target.parent is not None and target.parent.kind != "mirror":
        return refuse(
            f"{target.leaf.guid} is in {target.parent.name}, and only a disk by itself or in a mirror gets another one. End this run."
        )
    role = need(the_role(facts, params))
    if role not in ROLES:
        return refuse(
            f"{target.leaf.guid} is listed as {role or 'nothing that was read'}, and to that no disk is attached. Add a second one with add-auxiliary."
        )
    return _serves(target)


def _serves(target: Target) -> Verdict:
    leaf = target.leaf
    if leaf.state != "ONLINE":
        return refuse(
            f"{leaf.guid} is {leaf.state}, and a new disk is filled from it alone. Look at its seat, its cable and its counters first; its situation says what helps."
        )
    if not known(leaf.gone):
        return unknown(leaf.gone.reason)
    if leaf.gone:
        return refuse(f"The kernel has no running disk for {leaf.guid}, from which the new one is filled. Mend that first.")
    if leaf.resilvering or leaf.awaiting_resilver:
        return refuse(f"{leaf.guid} is being filled itself. Wait until that ends.")
    return ok(
        f"{leaf.guid} is a disk {'by itself' if target.parent is None else f'of {target.parent.name}'} in {target.pool.name}, and ONLINE."
    )


# --- afterwards


@guard
def both_stand_in_one_mirror(facts: FleetFacts, params: Params) -> Verdict:
    target, line = need(the_target(facts, params)), need(the_new_line(facts, params))
    above = target.parent
    if above is None or above.kind != "mirror" or not any(child is line[-1] for child in above.children):
        return refuse(
            f"{params.get('wwid', '')} and {target.leaf.guid} are not in one mirror of {target.pool.name}. Have the node look again, and see what the command answered."
        )
    return ok(f"{params.get('wwid', '')} and {target.leaf.guid} are the mirror {above.name} of {target.pool.name}.")


def the_new_disk_mirrors_it(facts: FleetFacts, params: Params) -> Verdict:
    """Ends the wait. Whether there were errors is asked afterwards."""
    verdicts = [guard(facts, params) for guard in (both_stand_in_one_mirror, the_new_disk_is_in_service)]
    return next((v for v in verdicts if v.outcome != "pass"), verdicts[-1])


@guard
def the_first_disk_serves_meanwhile(facts: FleetFacts, params: Params) -> Verdict:
    """Asked all the time while it is waited for: until the new disk is filled, the first one holds all there is."""
    target = need(the_target(facts, params))
    if target.leaf.state in lookup.LOST_STATES:
        return refuse(
            f"{target.leaf.guid} is {target.leaf.state}, and the new disk is not filled yet. Take nothing out. Look at its seat, its cable and its power; bring it back "
            f"with `zpool online {target.pool.name} {target.leaf.guid}`."
        )
    return ok(f"{target.leaf.guid} is {target.leaf.state}.")
