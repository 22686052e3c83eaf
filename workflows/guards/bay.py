"""Questions about one bay: who sits in it, what is lit, what was pulled. A bay is a place, and what is in it is asked each time."""

from __future__ import annotations

from collections.abc import Iterator

from agents.domain.wwid import normalise
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import (
    BayFacts,
    DiskFacts,
    FleetFacts,
    Gone,
    Known,
    LeafChange,
    NodeFacts,
    PoolFacts,
    Unknown,
    VdevFacts,
    derived,
    known,
    lookup,
    need,
)
from workflows.facts.fleet.census import title
from workflows.guards.scanned import names

EVIDENCE_MAX = 3  # domain: beyond the enclosure's own page a bay is a log line, an inventory or an elimination
PULLED_SECONDS = 15 * 60  # how long a member that left service counts as just pulled
EMPTY = ("not installed",)


@derived
def the_bay(facts: FleetFacts, params: Params) -> Known[BayFacts]:
    node = need(lookup.node(facts, params.get("node", "")))
    if not known(node.bays):
        return Unknown(f"The bays of {node.node} are not known: {node.bays.reason}")
    place = (params.get("enclosure", ""), params.get("slot", ""))
    if not all(place):
        return Unknown("The run names no bay.")
    found = next((bay for bay in node.bays if (bay.enclosure_id, str(bay.slot)) == place), None)
    return Unknown(f"{node.node} does not show {words(params)}. Check that its enclosure driver is loaded.") if found is None else found


def words(params: Params) -> str:
    return f"bay {params.get('slot', '')} of enclosure {params.get('enclosure', '')}"


@derived
def disks_in(facts: FleetFacts, params: Params) -> Known[tuple[DiskFacts, ...]]:
    node = need(lookup.node(facts, params.get("node", "")))
    if not known(node.disks):
        return Unknown(f"The disks of {node.node} are not known: {node.disks.reason}")
    place = (params.get("enclosure", ""), params.get("slot", ""))
    return tuple(d for d in node.disks if known(d.bay) and (d.bay.enclosure_id, str(d.bay.slot)) == place)


def by_its_label(disk: DiskFacts) -> str:
    """A disk as somebody at the rack knows it: by the serial number on its label, where it told one."""
    return f"the disk with the serial number {disk.serial}" if known(disk.serial) else title(disk)


def the_old_one(params: Params) -> str:
    serial = params.get("old_serial", "")
    return f"the disk with the serial number {serial}" if serial else params.get("old_wwid", "")


def the_disk_sits_in_the_bay_meant(facts: FleetFacts, params: Params) -> Verdict:
    disk = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    if not known(disk) or disk is None:
        return unknown(
            disk.reason if not known(disk) else f"{params.get('node', '')} does not see {params.get('old_wwid', '')}. Have it look again."
        )
    if not known(disk.bay):
        return unknown(f"The bay of {title(disk)} is not known: {disk.bay.reason}")
    if disk.bay.conflict:
        return unknown(f"The bay of {title(disk)} is in dispute: {disk.bay.conflict}. Settle that at the rack first.")
    if disk.bay.evidence > EVIDENCE_MAX:
        return unknown(f"The bay of {title(disk)} is only guessed. A guess lights no LED; find the disk by its serial number.")
    if (disk.bay.enclosure_id, str(disk.bay.slot)) != (params.get("enclosure", ""), params.get("slot", "")):
        return refuse(f"{title(disk)} sits in bay {disk.bay.slot} of {disk.bay.enclosure_id}, not in {words(params)}. Begin again.")
    return ok(f"{title(disk)} sits in {words(params)}.")


@guard
def no_other_bay_is_lit(facts: FleetFacts, params: Params) -> Verdict:
    lit = need(_lit(facts, params))
    others = [bay for bay in lit if str(bay.slot) != params.get("slot", "")]
    if others:
        named = ", ".join(str(bay.slot) for bay in others)
        return refuse(f"Bay {named} of enclosure {params.get('enclosure', '')} is lit already. Switch it off first: two lit bays mislead.")
    return ok(f"No other bay of enclosure {params.get('enclosure', '')} is lit.")


def the_bay_is_dark(facts: FleetFacts, params: Params) -> Verdict:
    return _light(facts, params, wanted=False)


def the_bay_is_lit(facts: FleetFacts, params: Params) -> Verdict:
    return _light(facts, params, wanted=True)


def exactly_this_bay_is_lit(facts: FleetFacts, params: Params) -> Verdict:
    lit = the_bay_is_lit(facts, params)
    return no_other_bay_is_lit(facts, params) if lit.outcome == "pass" else lit


@guard
def the_fault_light_is_on(facts: FleetFacts, params: Params) -> Verdict:
    """The light the node requested is read: ZED requests it for a disk that it faulted."""
    bay = need(_with_a_fault_light(facts, params))
    return ok(f"The fault light of {words(params)} is on, as the node asked.") if bay.fault_asked else refuse(_not_asked(bay, params))


@guard
def the_fault_light_is_off(facts: FleetFacts, params: Params) -> Verdict:
    """The light the node requested is read. A fault that the enclosure senses by itself is reported and cannot be cleared by a command."""
    bay = need(_with_a_fault_light(facts, params))
    if bay.fault_asked:
        return refuse(f"The fault light of {words(params)} is on. It sends the next person to a good disk; switch it off.")
    return ok(_not_asked(bay, params))


def _with_a_fault_light(facts: FleetFacts, params: Params) -> Known[BayFacts]:
    bay = the_bay(facts, params)
    if known(bay) and not known(bay.fault_asked):
        return Unknown(f"Whether the fault light of {words(params)} is on is not known: {bay.fault_asked.reason}")
    return bay


def _not_asked(bay: BayFacts, params: Params) -> str:
    if known(bay.fault) and bay.fault:
        return f"The enclosure itself senses a fault in {words(params)}. Nobody on the node asks for that light; look at the bay."
    return f"The fault light of {words(params)} is off."


@guard
def the_bay_is_empty(facts: FleetFacts, params: Params) -> Verdict:
    """The enclosure reports it empty, no disk is linked to it, and the node no longer sees the disk that was in it."""
    bay, inside = need(the_bay(facts, params)), need(disks_in(facts, params))
    if not known(bay.status):
        return unknown(f"Whether {words(params)} is empty is not known: {bay.status.reason}")
    if inside:
        return refuse(f"{_capital(by_its_label(inside[0]))} is still in {words(params)}. Pull it.")
    if bay.status not in EMPTY:
        return refuse(f"The enclosure calls {words(params)} {bay.status}, so something is in it. Pull it.")
    old = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    if not known(old) or old is not None:
        where = f"bay {old.bay.slot}" if known(old) and old is not None and known(old.bay) else "some bay"
        return refuse(
            f"{words(params).capitalize()} is empty, and {the_old_one(params)} is still seen, in {where}. Put back what was pulled."
        )
    return ok(f"{words(params).capitalize()} is empty and {the_old_one(params)} is gone.")


@guard
def the_old_disk_is_in_its_bay(facts: FleetFacts, params: Params) -> Verdict:
    inside = need(disks_in(facts, params))
    if any(known(disk.wwid) and disk.wwid == params.get("old_wwid", "") for disk in inside):
        return ok(f"{_capital(the_old_one(params))} sits in {words(params)}.")
    if inside:
        return refuse(
            f"{words(params).capitalize()} holds {by_its_label(inside[0])}. Take that out, and put {the_old_one(params)} back into it."
        )
    return refuse(f"{words(params).capitalize()} is empty. Put {the_old_one(params)} back into it.")


@guard
def nothing_else_was_pulled(facts: FleetFacts, params: Params) -> Verdict:
    """A wrong pull shows at once as a disk that is gone, and later as a member that left service."""
    node = need(lookup.node(facts, params.get("node", "")))
    trees = lookup.trees(node)
    if not known(trees):
        return unknown(f"Whether another disk of {node.node} was pulled is not known: {trees.reason}")
    if not known(node.disks):
        return unknown(f"Whether another disk of {node.node} was pulled is not known: {node.disks.reason}")
    if not known(node.leaf_changes):
        return unknown(f"Which disks of {node.node} left service lately is not known: {node.leaf_changes.reason}")
    for pool, _ in trees:
        for _, leaf in lookup.pool_leaves(pool):
            if str(leaf.guid) != params.get("vdev_guid", "") and _was_pulled(node, node.leaf_changes, pool, leaf):
                return refuse(_put_it_back(facts, params, pool, leaf))
    return ok("No other disk was pulled.")


@guard
def the_planned_disk_is_in_the_bay(facts: FleetFacts, params: Params) -> Verdict:
    """The one whose serial number was scanned before anything was pulled."""
    inside = need(disks_in(facts, params))
    if not inside:
        return refuse(
            f"{words(params).capitalize()} is empty. Put the disk with the serial number {params.get('spare_serial', '')} into it."
        )
    disk = inside[0]
    if not known(disk.serial):
        return unknown(f"The serial number of {title(disk)} is not known: {disk.serial.reason}")
    planned = params.get("spare_serial", "")
    if not names(planned, disk):
        return refuse(
            f"{words(params).capitalize()} holds the disk with the serial number {disk.serial}, and {planned} was scanned. "
            f"Put that one in. If {disk.serial} is the new disk, scan it again."
        )
    return ok(f"The disk with the serial number {disk.serial} is in {words(params)}.")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _light(facts: FleetFacts, params: Params, wanted: bool) -> Verdict:
    bay = the_bay(facts, params)
    if not known(bay):
        return unknown(bay.reason)
    if not known(bay.locate):
        return unknown(f"Whether {words(params)} is lit is not known: {bay.locate.reason}")
    text = f"{words(params).capitalize()} is {'lit' if bay.locate else 'dark'}."
    return ok(text) if bay.locate == wanted else refuse(text)


@derived
def _lit(facts: FleetFacts, params: Params) -> Known[tuple[BayFacts, ...]]:
    need(the_bay(facts, params))
    bays = need(facts.nodes[params.get("node", "")].bays)
    shelf = [b for b in bays if b.enclosure_id == params.get("enclosure", "")]
    for one in shelf:
        if not known(one.locate):
            return Unknown(f"Whether bay {one.slot} of enclosure {params.get('enclosure', '')} is lit is not known: {one.locate.reason}")
    return tuple(b for b in shelf if b.locate)


def _was_pulled(node: NodeFacts, leaf_changes: tuple[LeafChange, ...], pool: PoolFacts, leaf: VdevFacts) -> bool:
    if leaf.state in lookup.IN_SERVICE and leaf.name.startswith("/dev/disk/by-id/"):
        return lookup.at_path(node, leaf.name) is None
    changes = (c for c in leaf_changes if (c.pool_guid, c.vdev_guid) == (pool.guid, leaf.guid))
    return leaf.state in ("REMOVED", "UNAVAIL", "FAULTED") and any(c.age_seconds <= PULLED_SECONDS for c in changes)


def _put_it_back(facts: FleetFacts, params: Params, pool: PoolFacts, leaf: VdevFacts) -> str:
    """Named by the sticker of the disk that was pulled and by the empty bay; its name in ZFS comes last."""
    link = next((name for name in (leaf.name, leaf.was or "") if name.startswith("/dev/disk/by-id/")), "")
    gone = facts.gone.get((params.get("node", ""), normalise(link) or ""))
    what = f"the disk with the serial number {gone.serial}" if gone is not None and gone.serial else "a disk that serves"
    serves = pool.name if gone is not None and gone.serial else f"{pool.name} as {link.rsplit('/', 1)[-1] or leaf.name}"
    right = next(_still_there(facts, params), "")
    return f"Put it back now: {what} was pulled{_out_of(leaf, gone)}. It serves {serves}.{right} Pull nothing else."


def _out_of(leaf: VdevFacts, gone: Gone | None) -> str:
    if gone is not None and gone.slot is not None:
        return f" out of bay {gone.slot} of enclosure {gone.enclosure_id}"
    return f" out of bay {leaf.enc_path.rsplit('/', 1)[-1]}, by what its label remembers" if leaf.enc_path else ""


def _still_there(facts: FleetFacts, params: Params) -> Iterator[str]:
    inside = disks_in(facts, params)
    for disk in inside if known(inside) else ():
        if known(disk.wwid) and disk.wwid == params.get("old_wwid", ""):
            yield f" The disk that was meant is still in {words(params)}."
