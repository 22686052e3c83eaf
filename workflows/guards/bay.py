"""Questions about one bay: who sits in it, what is lit, what was pulled. A bay is a place, and what is in it is asked each time."""

from collections.abc import Iterator

from agents.collectors.enclosure import PORTS
from agents.domain.wwid import normalise
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import (
    BayFacts,
    DiskFacts,
    FleetFacts,
    Gone,
    Known,
    LeafChange,
    LightFacts,
    NodeFacts,
    PoolFacts,
    Unknown,
    VdevFacts,
    derived,
    known,
    lookup,
    need,
    title,
)
from workflows.facts.lookup import NO_BAY
from workflows.guards.scanned import names

PULLED_SECONDS = 15 * 60  # how long a member that left service counts as just pulled
EMPTY = ("not installed",)
PLACES = ("/dev/disk/by-vdev/", "/dev/disk/by-path/")  # links whose name says where a disk is
NOT_LIT = "No source gives a bay of this disk that can be lit"


def has_no_bay(params: Params) -> bool:
    """Whether the run was begun for a disk whose place has no number: on a node without SES, or in a bay whose light no source shows."""
    return (params.get("enclosure", ""), params.get("slot", "")) == (NO_BAY, NO_BAY) or is_at_a_light(params)


def is_at_a_light(params: Params) -> bool:
    """Whether it was begun for a disk in no bay, to which the light of a PCIe port leads, or one that a tool of the node switches."""
    return lookup.is_a_light(params.get("enclosure", ""))


def _is_read_back(params: Params) -> bool:
    return lookup.reads_back(params.get("enclosure", ""))


def _light_in_words(params: Params) -> str:
    return lookup.place_in_words(params.get("enclosure", ""), params.get("slot", ""))


def place_of(params: Params) -> tuple[str, str] | None:
    """Enclosure and slot that a run or a situation names; None where it names none."""
    place = (params.get("enclosure", ""), params.get("slot", ""))
    return place if all(place) and not has_no_bay(params) else None


def bay_lock(node: str, enclosure: str, slot: str) -> tuple[str, ...]:
    """What holds the place: an enclosure's id is one in the fleet, the place of a light is named by its node alone. Empty where no light leads there."""
    if NO_BAY in (enclosure, slot) or not (enclosure and slot):
        return ()
    return (f"bay:{node}/{enclosure}/{slot}",) if lookup.is_a_light(enclosure) else (f"bay:{enclosure}/{slot}",)


@derived
def the_bay(facts: FleetFacts, params: Params) -> Known[BayFacts]:
    node = need(lookup.node(facts, params.get("node", "")))
    bays = need(node.bays, f"The bays of {node.node} are not known")
    place = (params.get("enclosure", ""), params.get("slot", ""))
    if not all(place) or has_no_bay(params):
        return Unknown("The run names no bay.")
    found = next((bay for bay in bays if (bay.enclosure_id, str(bay.slot)) == place), None)
    return Unknown(f"{node.node} does not show {words(params)}. Check that its enclosure driver is loaded.") if found is None else found


def words(params: Params) -> str:
    if is_at_a_light(params):
        return f"the place at {_light_in_words(params)}" if params["enclosure"] == PORTS else _light_in_words(params)
    if has_no_bay(params):
        return "the place of the old disk"
    return f"bay {params.get('slot', '')} of enclosure {params.get('enclosure', '')}"


@derived
def disks_in(facts: FleetFacts, params: Params) -> Known[tuple[DiskFacts, ...]]:
    node = need(lookup.node(facts, params.get("node", "")))
    disks = need(node.disks, f"The disks of {node.node} are not known")
    place = (params.get("enclosure", ""), params.get("slot", ""))
    return tuple(d for d in disks if known(d.bay) and (d.bay.enclosure_id, str(d.bay.slot)) == place)


def by_its_label(disk: DiskFacts) -> str:
    """A disk as a person at the rack knows it: by the serial number on its sticker, where the disk reports one."""
    return f"the disk with the serial number {disk.serial}" if known(disk.serial) else title(disk)


def the_old_one(params: Params) -> str:
    serial = params.get("old_serial", "")
    return f"the disk with the serial number {serial}" if serial else params.get("old_wwid", "")


@guard
def the_disk_sits_in_the_bay_meant(facts: FleetFacts, params: Params) -> Verdict:
    disk = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    if not known(disk) or disk is None:
        return unknown(
            disk.reason if not known(disk) else f"{params.get('node', '')} does not see {params.get('old_wwid', '')}. Have it look again."
        )
    if is_at_a_light(params) and not (known(disk.light) and (disk.light.by, disk.light.place) == _place(params)):
        return _not_at_the_light(disk, params)
    if has_no_bay(params):
        return _by_its_serial_number(disk, params)
    bay = need(disk.bay, f"The bay of {title(disk)} is not known")
    if bay.conflict:
        return unknown(f"The bay of {title(disk)} is in dispute: {bay.conflict}. Settle that at the rack first.")
    if bay.evidence > lookup.BAY_EVIDENCE_TO_LIGHT:
        return unknown(f"The bay of {title(disk)} is only guessed. A guess lights no LED; find the disk by its serial number.")
    if (bay.enclosure_id, str(bay.slot)) != (params.get("enclosure", ""), params.get("slot", "")):
        return refuse(f"{title(disk)} sits in bay {bay.slot} of {bay.enclosure_id}, not in {words(params)}. Begin again.")
    return ok(f"{title(disk)} sits in {words(params)}.")


def _place(params: Params) -> tuple[str, str]:
    return params.get("enclosure", ""), params.get("slot", "")


def _not_at_the_light(disk: DiskFacts, params: Params) -> Verdict:
    if not known(disk.light):
        return unknown(f"The light that leads to {title(disk)} is not known: {disk.light.reason}")
    there = lookup.place_in_words(disk.light.by, disk.light.place)
    return refuse(f"{title(disk)} sits at {there}, not at {_light_in_words(params)}. Begin again.")


def _by_its_serial_number(disk: DiskFacts, params: Params) -> Verdict:
    if not known(disk.serial):
        return unknown(f"Neither a bay that can be lit nor the serial number of {title(disk)} is known: {disk.serial.reason}")
    why = f"The light of {_light_in_words(params)} leads to it, and no bay" if is_at_a_light(params) else NOT_LIT
    return ok(f"{why}: {title(disk)} is found by its serial number {disk.serial}, which is scanned before it is pulled.{_named(disk)}")


def _named(disk: DiskFacts) -> str:
    """What other sources call its place; a hint for a person, as none of it is read back from the bay."""
    links = (link for path in disk.paths for link in (*path.other_names, *path.by_id))
    found = [link for link in links if link.startswith(PLACES) and "-part" not in link]
    hints = [f"udev names it {link}" for link in dict.fromkeys(found)]
    if known(disk.bay):
        hints.append(f"bay {disk.bay.slot} of enclosure {disk.bay.enclosure_id} is named for it")
    return f" {_capital('; '.join(hints))}: a hint where to look, which is not read back from the bay." if hints else ""


@guard
def a_bay_is_known_that_can_be_lit(facts: FleetFacts, params: Params) -> Verdict:
    """Whether a light leads to the disk. Else a person finds it by its serial number."""
    need(lookup.node(facts, params.get("node", "")))
    if is_at_a_light(params):
        return refuse(f"A light leads to {words(params)}, which has no number to be read off, so the disk is found by its serial number.")
    if has_no_bay(params):
        return refuse(f"{NOT_LIT}, so it is found by its serial number.")
    if not (params.get("enclosure") and params.get("slot")):
        return unknown("The run names no bay.")
    return ok(f"A light leads to {words(params)}.")


@guard
def the_disk_is_found_by_its_serial_number(facts: FleetFacts, params: Params) -> Verdict:
    """Whether a person scans it in its place, as no light leads to it."""
    by_light = a_bay_is_known_that_can_be_lit(facts, params)
    if by_light.outcome == "refuse":
        return ok(by_light.reason)
    return refuse(by_light.reason) if by_light.outcome == "pass" else by_light


@guard
def no_other_bay_is_lit(facts: FleetFacts, params: Params) -> Verdict:
    if is_at_a_light(params):
        return _no_other_light_is_on(facts, params)
    if has_no_bay(params):
        return _lights_none(facts, params)
    lit = need(_lit(facts, params))
    others = [bay for bay in lit if str(bay.slot) != params.get("slot", "")]
    if others:
        named = ", ".join(str(bay.slot) for bay in others)
        return refuse(f"Bay {named} of enclosure {params.get('enclosure', '')} is lit already. Switch it off first: two lit bays mislead.")
    return ok(f"No other bay of enclosure {params.get('enclosure', '')} is lit.")


def the_bay_is_dark(facts: FleetFacts, params: Params) -> Verdict:
    if is_at_a_light(params):
        return _light_without_number(facts, params, wanted=False)
    if has_no_bay(params):
        return _lights_none(facts, params)
    return _light(facts, params, wanted=False)


def the_bay_can_be_lit_and_is_dark(facts: FleetFacts, params: Params) -> Verdict:
    can = a_light_leads_there(facts, params)
    return the_bay_is_dark(facts, params) if can.outcome == "pass" else can


def a_light_leads_there(facts: FleetFacts, params: Params) -> Verdict:
    """Whether there is a light to switch, of a bay, of a PCIe port or by a tool."""
    if is_at_a_light(params):
        return ok(f"A light leads to {words(params)}.")
    return a_bay_is_known_that_can_be_lit(facts, params)


def the_bay_is_lit(facts: FleetFacts, params: Params) -> Verdict:
    if is_at_a_light(params):
        return _light_without_number(facts, params, wanted=True)
    if has_no_bay(params):
        return a_bay_is_known_that_can_be_lit(facts, params)
    return _light(facts, params, wanted=True)


def exactly_this_bay_is_lit(facts: FleetFacts, params: Params) -> Verdict:
    if has_no_bay(params) and not is_at_a_light(params):
        return no_other_bay_is_lit(facts, params)
    lit = the_bay_is_lit(facts, params)
    return no_other_bay_is_lit(facts, params) if lit.outcome == "pass" else lit


@guard
def the_fault_light_is_on(facts: FleetFacts, params: Params) -> Verdict:
    """The light the node requested is read: ZED requests it for a disk that it faulted."""
    if has_no_bay(params):
        return a_bay_is_known_that_can_be_lit(facts, params)
    bay = need(_with_a_fault_light(facts, params))
    return ok(f"The fault light of {words(params)} is on, as the node asked.") if bay.fault_asked else refuse(_not_asked(bay, params))


@guard
def the_fault_light_is_off(facts: FleetFacts, params: Params) -> Verdict:
    """The light the node requested is read. A fault that the enclosure senses by itself is reported and cannot be cleared by a command."""
    if has_no_bay(params):
        return _lights_none(facts, params)
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
        return f"The enclosure itself senses a fault in {words(params)}. No program on the node requests that light; look at the bay."
    return f"The fault light of {words(params)} is off."


@guard
def the_bay_is_empty(facts: FleetFacts, params: Params) -> Verdict:
    """The enclosure reports it empty, no disk is linked to it, and the node no longer sees the disk that was in it."""
    if has_no_bay(params):
        return _is_gone(facts, params)
    bay, inside = need(the_bay(facts, params)), need(disks_in(facts, params))
    status = need(bay.status, f"Whether {words(params)} is empty is not known")
    if inside:
        return refuse(f"{_capital(by_its_label(inside[0]))} is still in {words(params)}. Pull it.")
    if status not in EMPTY:
        return refuse(f"The enclosure calls {words(params)} {status}, so something is in it. Pull it.")
    old = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    if not known(old) or old is not None:
        where = f"bay {old.bay.slot}" if known(old) and old is not None and known(old.bay) else "some bay"
        return refuse(
            f"{words(params).capitalize()} is empty, and {the_old_one(params)} is still seen, in {where}. Put back what was pulled."
        )
    return ok(f"{words(params).capitalize()} is empty and {the_old_one(params)} is gone.")


@guard
def the_old_disk_is_in_its_bay(facts: FleetFacts, params: Params) -> Verdict:
    if has_no_bay(params):
        return _is_seen(facts, params)
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
    trees = need(lookup.trees(node), f"Whether another disk of {node.node} was pulled is not known")
    need(node.disks, f"Whether another disk of {node.node} was pulled is not known")
    leaf_changes = need(node.leaf_changes, f"Which disks of {node.node} left service lately is not known")
    for pool, _ in trees:
        for _, leaf in lookup.pool_leaves(pool):
            if str(leaf.guid) != params.get("vdev_guid", "") and _was_pulled(node, leaf_changes, pool, leaf):
                return refuse(_put_it_back(facts, params, pool, leaf))
    return ok("No other disk was pulled.")


@guard
def the_planned_disk_is_in_the_bay(facts: FleetFacts, params: Params) -> Verdict:
    """The one whose serial number was scanned before anything was pulled."""
    if has_no_bay(params):
        return _the_planned_one_is_seen(facts, params)
    inside = need(disks_in(facts, params))
    if not inside:
        return refuse(
            f"{words(params).capitalize()} is empty. Put the disk with the serial number {params.get('spare_serial', '')} into it."
        )
    disk = inside[0]
    serial = need(disk.serial, f"The serial number of {title(disk)} is not known")
    planned = params.get("spare_serial", "")
    if not names(planned, disk):
        return refuse(
            f"{words(params).capitalize()} holds the disk with the serial number {serial}, and {planned} was scanned. "
            f"Put that one in. If {serial} is the new disk, scan it again."
        )
    return ok(f"The disk with the serial number {serial} is in {words(params)}.")


@guard
def _lights_none(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    if is_at_a_light(params):
        return ok(f"{_capital(words(params))} has no fault light that {node.node} shows.")
    return ok(f"{NOT_LIT}, so no light of {node.node} was switched on.")


@derived
def _lights(facts: FleetFacts, params: Params) -> Known[tuple[LightFacts, ...]]:
    """All of the same kind as the one that is meant, which is among them."""
    node = need(lookup.node(facts, params.get("node", "")))
    lights = [light for light in need(node.lights) if light.by == params.get("enclosure", "")]
    if all(light.place != params.get("slot", "") for light in lights):
        return Unknown(f"{node.node} does not show the light of {_light_in_words(params)}. Have it look again.")
    return tuple(lights)


@guard
def _only_seen(facts: FleetFacts, params: Params) -> Verdict:
    """Of a tool that reads no light back: a step of the run goes on by the tool's own answer to the order before it, and nothing else follows from it."""
    need(lookup.node(facts, params.get("node", "")))
    return ok(
        f"{params.get('enclosure', '')} does not read a light back, so only a person sees at the rack which bay blinks, and that none does at the end. Rely on "
        "the serial number alone: the disk is scanned before it is pulled."
    )


@guard
def the_light_is_known_to_be_off(facts: FleetFacts, params: Params) -> Verdict:
    """Whether the node itself shows, after the run, that nothing is lit: of a tool that reads no light back a person has to say so."""
    if is_at_a_light(params) and not _is_read_back(params):
        return unknown(f"{params.get('enclosure', '')} does not read a light back. Look at the rack, and state whether a bay blinks.")
    return the_bay_is_dark(facts, params)


@guard
def _no_other_light_is_on(facts: FleetFacts, params: Params) -> Verdict:
    if not _is_read_back(params):
        return _only_seen(facts, params)
    others = [light for light in need(_lights(facts, params)) if light.place != params.get("slot", "")]
    for light in others:
        need(light.lit, f"Whether {lookup.place_in_words(light.by, light.place)} is lit is not known")
    if lit := [lookup.place_in_words(light.by, light.place) for light in others if light.lit]:
        return refuse(f"{_capital(', '.join(lit))} of {params.get('node', '')} is lit already. Switch it off first: two lights mislead.")
    return ok(f"No other such light of {params.get('node', '')} is on.")


def _light_without_number(facts: FleetFacts, params: Params, wanted: bool) -> Verdict:
    if not _is_read_back(params):
        return _only_seen(facts, params)
    lights = _lights(facts, params)
    if not known(lights):
        return unknown(lights.reason)
    light = next(light for light in lights if light.place == params.get("slot", ""))
    if not known(light.lit):
        return unknown(f"Whether {_light_in_words(params)} is lit is not known: {light.lit.reason}")
    text = f"{_capital(_light_in_words(params))} is {'lit' if light.lit else 'dark'}."
    return ok(text) if light.lit == wanted else refuse(text)


@derived
def _old_one_seen(facts: FleetFacts, params: Params) -> Known[DiskFacts | None]:
    if not params.get("old_wwid"):
        return Unknown("The run does not say which disk comes out.")
    return need(lookup.disk(facts, params.get("node", ""), params["old_wwid"]))


@guard
def _is_gone(facts: FleetFacts, params: Params) -> Verdict:
    """Without a bay, the node itself says which disk went: every disk is listed, and this one is not among them."""
    seen = need(_old_one_seen(facts, params))
    if seen is not None:
        return refuse(f"{params.get('node', '')} still sees {the_old_one(params)}. Pull it.")
    return ok(f"{params.get('node', '')} sees {the_old_one(params)} no more.")


@guard
def _is_seen(facts: FleetFacts, params: Params) -> Verdict:
    seen = need(_old_one_seen(facts, params))
    if seen is None:
        return refuse(f"{params.get('node', '')} does not see {the_old_one(params)}. Put it back into its place.")
    return ok(f"{params.get('node', '')} sees {the_old_one(params)}.")


@guard
def _the_planned_one_is_seen(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    disks = need(node.disks)
    planned = params.get("spare_serial", "")
    found = [disk for disk in disks if names(planned, disk)]
    if not found:
        return refuse(f"{node.node} sees no disk with the serial number {planned}. Put it into the place of the old disk.")
    if len(found) > 1:
        return unknown(f"{node.node} sees {len(found)} disks with the serial number {planned}. Take out the one that is not meant.")
    return ok(f"{node.node} sees the disk with the serial number {planned}.")


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
        need(one.locate, f"Whether bay {one.slot} of enclosure {params.get('enclosure', '')} is lit is not known")
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
