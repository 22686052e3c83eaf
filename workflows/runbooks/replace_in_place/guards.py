"""What replace-in-place alone asks: how the two disks of the replacement stand, and whether the one that comes out belongs to no pool any more."""

from dataclasses import dataclass
from functools import wraps

from workflows.analysis import redundancy
from workflows.engine.core import Guard, Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, Unknown, VdevFacts, derived, known, lookup, need
from workflows.guards.answers import the_bay_that_blinks, the_disk_that_comes_out
from workflows.guards.bay import a_bay_is_known_that_can_be_lit, the_disk_is_found_by_its_serial_number, words
from workflows.guards.member import SERVING
from workflows.guards.subject import the_pool, the_target

NEW_BAY = {"enclosure": "new_enclosure", "slot": "new_slot", "old_wwid": "wwid", "old_serial": "spare_serial"}
OF_NEW = "for_the_new_disk_"  # before the name of a guard that is asked of it
CALLED_OFF = "End this run to call it off: the new disk is taken out again by its guid, and the pool is as it was."
Line = tuple[VdevFacts, ...]


def about_the_new_disk(params: Params) -> dict[str, str]:
    """The same run with the new disk and its bay where the old disk and its bay stand: what is lit and pulled when it is called off."""
    return {**params, **{name: params.get(own, "") for name, own in NEW_BAY.items()}}


def of_the_new_disk(asks: Guard) -> Guard:
    """The same question about the new disk and its bay, under a name of its own."""

    @wraps(asks)
    def asked(facts: FleetFacts, params: Params) -> Verdict:
        return asks(facts, about_the_new_disk(params))

    asked.__name__ = f"{OF_NEW}{asks.__name__}"
    return asked


def the_bay_of_the_new_disk_that_blinks(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    """The number of the lit bay, or the serial number or WWN on the disk in it."""
    return the_bay_that_blinks(facts, about_the_new_disk(params), text)


def the_new_disk_that_comes_out(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    return the_disk_that_comes_out(facts, about_the_new_disk(params), text)


@dataclass(frozen=True)
class Halves:
    """The two disks of the replacement, each from its top-level vdev down to its leaf; () where it is no member."""

    old: Line
    new: Line

    @property
    def pair(self) -> VdevFacts | None:
        """The `replacing` vdev that holds either of them."""
        above = (line[-2] for line in (self.old, self.new) if len(line) > 1)
        return next((vdev for vdev in above if vdev.kind == "replacing"), None)


@derived
def the_halves(facts: FleetFacts, params: Params) -> Known[Halves]:
    """The old one by its guid. A disk that is a top-level vdev by itself gets another guid in a replacement, so each is known by its WWID too."""
    pool = need(the_pool(facts, params))
    tops = need(pool.tops, f"The vdevs of {pool.name} are not known")
    lines = [line for _, top in tops for line in lookup.lineages(top) if not line[-1].children]
    if any(not known(line[-1].guid) for line in lines):
        return Unknown(f"The guid of a member of {pool.name} is not known. Have the node look again.")
    old = [line for line in lines if str(line[-1].guid) == params.get("vdev_guid", "") or _sits_on(line, params.get("old_wwid", ""))]
    new = [line for line in lines if _sits_on(line, params.get("wwid", ""))]
    if len(old) > 1 or len(new) > 1:
        return Unknown(f"One of the two disks is more than one member of {pool.name}. Look at the labels before anything else.")
    return Halves(old[0] if old else (), new[0] if new else ())


def _new(params: Params) -> str:
    return f"The new disk {params.get('spare_serial', '')}"


def _sits_on(line: Line, wwid: str) -> bool:
    return bool(wwid) and lookup.wwid_of(line[-1]) == wwid


@guard
def the_member_still_serves(facts: FleetFacts, params: Params) -> Verdict:
    """Both disks are in the pool while the new one is filled, which is worth something only where the old one answers."""
    target = need(the_target(facts, params))
    if target.leaf.state in SERVING:
        return ok(f"{params.get('vdev_guid', '')} is {target.leaf.state} and serves {target.pool.name} until the new disk is filled.")
    return refuse(
        f"{params.get('vdev_guid', '')} is {target.leaf.state} and serves nothing. Replace it in its bay, or as a lost member, from its situation."
    )


@guard
def no_replacement_holds_the_member(facts: FleetFacts, params: Params) -> Verdict:
    target = need(the_target(facts, params))
    if target.parent is not None and target.parent.kind in ("replacing", "spare"):
        return refuse(f"{params.get('vdev_guid', '')} is in {target.parent.name}. Let that finish first.")
    return ok(f"Nothing stands in the place of {params.get('vdev_guid', '')} yet.")


@guard
def both_disks_serve_meanwhile(facts: FleetFacts, params: Params) -> Verdict:
    """Asked all the time while the new disk is filled: the death of either changes what may be done."""
    halves = need(the_halves(facts, params))
    if halves.old and halves.pair is not None and halves.old[-1].state not in SERVING:
        return refuse(_old_died(params, halves))
    if halves.new and halves.pair is not None and halves.new[-1].state not in SERVING:
        return refuse(
            f"{_new(params)} is {halves.new[-1].state}, so nothing fills it; the old disk {params.get('old_serial', '')} serves as "
            f"before, and no redundancy is lost. {CALLED_OFF}"
        )
    return ok("No disk of the replacement has failed.")


def _old_died(params: Params, halves: Halves) -> str:
    top = halves.old[0]
    text = f"The old disk {params.get('old_serial', '')} is {halves.old[-1].state} while the new one is filled. Do not call it off now: "
    if top.kind == "replacing":
        return f"{text}no other disk holds this data. Leave both disks in, and see whether the old one answers again: its cable, its port, its power."
    return (
        f"{text}the new disk is filled from the others of {top.name}, and takes the place of the old one when that ends. Take nothing out."
    )


@guard
def the_new_half_can_be_taken_out(facts: FleetFacts, params: Params) -> Verdict:
    """The node asks the same by guid. ZFS refuses where data would be lost; that is not relied on."""
    halves = need(the_halves(facts, params))
    pair = halves.pair
    if pair is None:
        return refuse(
            "The new disk is not being filled any more, so there is nothing to call off. Go back to “See how far it is”, and check there how it stands."
        )
    if not halves.old or not halves.new or [child.guid for child in pair.children] != [halves.old[-1].guid, halves.new[-1].guid]:
        return unknown(
            f"{pair.name} does not hold exactly the old disk and the new one. Look at `zpool status` before anything is taken out."
        )
    if halves.old[-1].state not in SERVING:
        return refuse(_old_died(params, halves))
    if not redundancy.leaf_counts(halves.old[-1]) and halves.old[-1].state == "ONLINE":
        return refuse(f"The old disk {params.get('old_serial', '')} is being filled itself. Wait until that ends.")
    return ok(f"In {pair.name} the old disk {params.get('old_serial', '')} is {halves.old[-1].state} and holds all that the new one holds.")


@guard
def the_replacement_is_over(facts: FleetFacts, params: Params) -> Verdict:
    """Either way: the new disk has taken over, or only the old one is there, as before."""
    halves = need(the_halves(facts, params))
    if halves.pair is not None:
        return refuse(f"{halves.pair.name} still holds the two disks: the new one is being filled, or waits for it.")
    if halves.old and halves.new:
        return refuse("Both disks are members, and no replacing vdev holds them. Get help before anything else.")
    line = halves.old or halves.new
    if not line:
        return refuse("Neither the old disk nor the new one is a member of the pool now. Get help before anything else.")
    what = f"The old disk {params.get('old_serial', '')}" if halves.old else _new(params)
    if line[-1].state not in SERVING:
        return refuse(f"{what} alone is a member, and it is {line[-1].state}. Look at its bay and its cable.")
    return ok(f"{what} alone is a member, and is {line[-1].state}.")


@guard
def there_is_a_replacement_to_call_off(facts: FleetFacts, params: Params) -> Verdict:
    over = the_replacement_is_over(facts, params)
    if over.outcome == "pass":
        return refuse(over.reason)
    return over if over.outcome == "unknown" else ok(over.reason)


@guard
def the_disk_belongs_to_no_pool(facts: FleetFacts, params: Params) -> Verdict:
    """No bay is lit for a pull while the disk in it is a member of any pool of any node."""
    wwid = params.get("old_wwid", "")
    here = need(lookup.node(facts, params.get("node", "")))
    if not wwid:
        return unknown("The run does not say which disk comes out.")
    for node in facts.nodes.values():
        if not lookup.trees_known(node):
            return unknown(f"Whether a pool of {node.node} uses {wwid} is not known: {lookup.why_trees_unknown(node)}")
    owners = lookup.owner_of_disk(facts, wwid)
    if owners:
        return refuse(f"The disk {params.get('old_serial', '')} is the {owners[0].title} on {owners[0].node}. It stays in its bay.")
    return ok(f"No pool that {here.node} or another node has imported uses the disk {params.get('old_serial', '')}.")


@guard
def the_disk_is_to_come_out(facts: FleetFacts, params: Params) -> Verdict:
    """Whether there is anything to pull: the disk is seen in its bay, and no pool uses it."""
    free = the_disk_belongs_to_no_pool(facts, params)
    if free.outcome != "pass":
        return free
    disk = need(lookup.disk(facts, params.get("node", ""), params.get("old_wwid", "")))
    if disk is None:
        return refuse(f"The disk {params.get('old_serial', '')} is not seen any more, so nothing is to be pulled.")
    return ok(f"The disk {params.get('old_serial', '')} is in {words(params)} and belongs to no pool.")


def the_disk_is_to_be_lit(facts: FleetFacts, params: Params) -> Verdict:
    out = the_disk_is_to_come_out(facts, params)
    return a_bay_is_known_that_can_be_lit(facts, params) if out.outcome == "pass" else out


def the_disk_is_to_be_scanned(facts: FleetFacts, params: Params) -> Verdict:
    out = the_disk_is_to_come_out(facts, params)
    return the_disk_is_found_by_its_serial_number(facts, params) if out.outcome == "pass" else out


def the_old_disk_is_the_only_copy(facts: FleetFacts, params: Params) -> str:
    """A member that is a vdev by itself holds data that no other disk can rebuild."""
    target = the_target(facts, params)
    if not known(target):
        return f"Whether other disks hold what this one holds is not known: {target.reason}"
    if target.parent is not None:
        return ""
    return (
        f"{params.get('vdev_guid', '')} is a vdev by itself: only this disk holds its data, and only from it can the new one be filled. If it fails before "
        f"that ends, {target.pool.name} loses data, and there is no calling off then. Have a backup of what must not be lost before you go on."
    )
