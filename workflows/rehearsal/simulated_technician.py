"""What hands do at the rack, and outside of Slotlight, when a step asks for it. In a rehearsal they only do it to the twin.

A hand says what it takes for done, does it, and gives what would be typed then.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from agents.domain.wwid import scheme
from twin import disk_names, scenarios
from twin.model import Bay, Disk, Node, Path
from workflows.facts import known, lookup
from workflows.guards import links, suspended
from workflows.guards.bay import has_no_bay
from workflows.guards.rewinding import the_timeline
from workflows.guards.subject import sharing_nodes, the_pool
from workflows.rehearsal.hand import ASSUMED_DONE, SCAN_CHOSEN, CannotSuppose, Hand
from workflows.rehearsal.twin_of_node import spare_name
from workflows.runbooks._parts import parts

if TYPE_CHECKING:
    from workflows.rehearsal.play import Play

NEW_WWID, NEW_SERIAL = "naa:5000000000000001", "REHEARSAL1"
BOOTED = "00000000-0000-4000-8000-000000000001"


# --- disks and bays


def _the_bay(play: Play, node: Node) -> Bay | None:
    """None in a run for a disk that no light leads to."""
    if has_no_bay(play.params):
        return None
    shelf, slot = play.params["enclosure"], play.params["slot"]
    found = next((bay for e in node.enclosures if e.id == shelf for bay in e.bays if str(bay.number) == slot), None)
    if found is None:
        raise CannotSuppose(f"The report shows no bay {slot} in the enclosure {shelf}.")
    return found


def new_wwid(old: str) -> str:
    """The identity of a new disk of the same kind: of the same scheme, and by the new serial number where that is part of it."""
    fields = old.partition(":")[2]
    if scheme(old) == "ata":
        return f"ata:{fields.partition(':')[0]}:{NEW_SERIAL}"
    if scheme(old) == "nvme":
        vendor, _, model, namespace = fields.split("-")
        return f"nvme:{vendor}-{NEW_SERIAL.encode().hex()}-{model}-{namespace}"
    if scheme(old) == "uuid":
        return "uuid:00000000-0000-4000-8000-000000000001"
    return f"eui:{1:0{len(fields)}x}" if scheme(old) == "eui" else NEW_WWID


def _lay_out(play: Play) -> str:
    old = next((disk for disk in play.node.disks if disk.wwid == play.params["old_wwid"]), None)
    if old is None:
        raise CannotSuppose("The disk that is to go out is not in the report, so a new one like it cannot be supposed.")
    new = copy.deepcopy(old)
    new.wwid, new.serial, new.partitions, new.holders = new_wwid(old.wwid), NEW_SERIAL, [], []
    new.smart.passed, new.smart.grown_defects, new.smart.uncorrected, new.smart.corrected = True, 0, 0, 0
    play.kept["new"] = new
    return new.serial


def _scan_the_old(play: Play) -> str:
    return play.params["old_serial"]


def _lit(play: Play) -> str:
    lit = [bay for e in play.node.enclosures for bay in e.bays if bay.locate]
    if len(lit) != 1:
        raise CannotSuppose(f"{len(lit)} bays are lit, so which one a person would name is not known.")
    return str(lit[0].number)


def _pull(play: Play) -> str:
    with play.host.store.changing() as node:
        bay = _the_bay(play, node)
        wwid = play.params["old_wwid"] if bay is None else bay.wwid
        if wwid is None:
            raise CannotSuppose("The bay is empty by the report, so there is nothing to pull.")
        play.kept["pulled"] = scenarios.unplug(node, wwid)
    return ASSUMED_DONE


def _insert(play: Play) -> str:
    new, pulled = play.kept["new"], play.kept["pulled"]
    with play.host.store.changing() as node:
        new.paths = []
        for before in pulled.paths if pulled.map else pulled.paths[:1]:
            new.paths.append(_path(node, new, before))
        scenarios.plug(node, new, _the_bay(play, node))
    return ASSUMED_DONE


def _path(node: Node, new: Disk, before: Path) -> Path:
    """The new disk comes up where the old one was, under the first name that is free."""
    path = copy.deepcopy(before)
    if disk_names.is_nvme(path):  # its name went with it; its state is "live", and no SCSI address leads to it
        return path
    path.name, path.state = spare_name(node, new), "running"
    if path.sas_address:
        path.sas_address = f"0x{NEW_WWID.removeprefix('naa:')}"
    return path


def _seat(play: Play) -> str:
    with play.host.store.changing() as node:
        bay, old = _the_bay(play, node), play.params["old_wwid"]
        if any(disk.wwid == old for disk in node.disks):
            return ASSUMED_DONE
        inside = bay.wwid if bay is not None else next((disk.wwid for disk in node.disks if disk.wwid == new_wwid(old)), None)
        if inside is not None:
            scenarios.unplug(node, inside)
        scenarios.plug(node, play.kept["pulled"], bay)
    return ASSUMED_DONE


def _keep_deleted(play: Play) -> str:
    with play.host.store.changing() as node:
        if not node.deleted:
            raise CannotSuppose("No disk was taken away from the kernel.")
        disk = node.deleted.pop()
        place = node.bay_of(disk.wwid)
        if place:
            place[1].wwid, place[1].status = None, "not installed"
    return disk.serial


def _scan_the_deleted(play: Play) -> str:
    if not play.node.deleted:
        raise CannotSuppose("No disk was taken away from the kernel.")
    return play.node.deleted[-1].serial


def _give_spare_back(play: Play) -> str:
    """What ZFS does when another run's new disk is filled."""
    with play.host.store.changing() as node:
        pool = node.pool(play.params["pool"])
        for top in pool.tops:
            for place, child in enumerate(top.children):
                if child.type == "spare" and any(str(leaf.guid) == play.params["spare_guid"] for leaf in child.children):
                    top.children[place] = child.children[0]
        for spare in pool.spares:
            if str(spare.guid) == play.params["spare_guid"]:
                spare.state = "AVAIL"
    return ASSUMED_DONE


# --- pools that stand still


def _mend(play: Play) -> str:
    with play.host.store.changing() as node:
        for disk in node.disks:
            for path in disk.paths:
                path.state = "running"
    return ASSUMED_DONE


def _name_partners(play: Play) -> str:
    facts = play.stage.facts()
    pool = the_pool(facts, play.params)
    wwids = frozenset(leaf.wwid for _, leaf in lookup.pool_leaves(pool) if known(leaf.wwid)) if known(pool) else frozenset()
    sharing = sharing_nodes(facts, play.params["node"], wwids)
    if not known(sharing):
        raise CannotSuppose(sharing.reason)
    return " ".join(node.node for node in sharing) or suspended.NO_DISK


def _pull_the_sick(play: Play) -> str:
    """Out of its bay on every host that sees it."""
    sick = play.params["sick"]
    for seen in play.stage.seen.values():
        with seen.host.store.changing() as node:
            disk = next((disk for disk in node.disks if disk.wwid == sick), None)
            if disk is None:
                continue
            guids = {part.label.guid for part in disk.partitions if part.label}
            scenarios.take_away(node, sick)
            for leaf in (leaf for pool in node.imported for leaf in pool.leaves() if leaf.guid in guids):
                leaf.state, leaf.aux = "UNAVAIL", "open_failed"
    return play.params.get("old_serial") or sick


def _tell_owners(play: Play) -> str:
    return " ".join(pool.name for pool in play.node.imported if pool.name != play.params["pool"]) or "none"


def _reboot(play: Play) -> str:
    with play.host.store.changing() as node:
        node.boot_id, node.booted_at = BOOTED, play.stage.clock.at
        node.kernel_lines = []
        for pool in node.pools:
            pool.imported, pool.suspended = False, ""
    return ASSUMED_DONE


def _import(play: Play) -> str:
    with play.host.store.changing() as node:
        node.pool(play.params["pool"]).imported = True
    return ASSUMED_DONE


def _set_alike(play: Play) -> str:
    named = suspended.partners(play.stage.facts(), play.params)
    for name in named:
        if name not in play.stage.seen:
            raise CannotSuppose(f"{name} is not part of this rehearsal, so what is set there cannot be shown.")
        with play.stage.host(name).store.changing() as node:
            for parameter in suspended.MULTIHOST:
                if parameter in play.node.parameters:
                    node.parameters[parameter] = play.node.parameters[parameter]
    return " ".join(named) or "none"


def _touch(play: Play) -> str:
    link = links.the_link(play.stage.facts(), play.params)
    if not known(link):
        raise CannotSuppose(link.reason)
    with play.host.store.changing() as node:
        node.phy_rates.clear()
    return link.worst.owner


def _image(play: Play) -> str:
    line = the_timeline(play.stage.facts(), play.params)
    if not known(line) or not line.points:
        raise CannotSuppose(f"How many disks would be imaged is not known. {line.reason if not known(line) else ''}".strip())
    return f"All {line.points[0].disks} disks are imaged. {ASSUMED_DONE}"


FOUND = "The serial number of the disk that comes out is scanned off it, in its place."
LOOKED = Hand("A person looks, and copies out what is needed.")
HANDED_OVER = Hand("The disks are imaged, and a person has taken over.")
PULLED = Hand("The disk that was taken away from the kernel is pulled and labelled.", _keep_deleted)
HANDS: dict[tuple[str, str], Hand] = {
    **{("wwid-mismatch-replace", step): hand for step, hand in SCAN_CHOSEN.items()},
    ("blink-and-replace", "spare"): Hand(
        "A new disk lies there, blank, healthy and like the old one, with the serial REHEARSAL.", _lay_out
    ),
    ("blink-and-replace", "blinks"): Hand("The bay that the node lit is the bay that blinks.", _lit),
    ("blink-and-replace", "find"): Hand(FOUND, _scan_the_old),
    ("blink-and-replace", "pull"): Hand("The disk that was found or lit is pulled.", _pull),
    ("blink-and-replace", "insert"): Hand("The new disk is put into its place, and the node finds it.", _insert),
    ("blink-and-replace", "seat"): Hand("The old disk is put back into its bay.", _seat),
    ("read-only-import", "use"): LOOKED,
    ("read-only-import", "image"): HANDED_OVER,
    ("device-delete-reimport", "use"): LOOKED,
    ("device-delete-reimport", "hand-over"): HANDED_OVER,
    **{("device-delete-reimport", step): Hand(FOUND, _scan_the_deleted) for step in ("find", "leave-find", "find-after-all")},
    ("device-delete-reimport", "pull"): PULLED,
    ("device-delete-reimport", "leave"): PULLED,
    ("device-delete-reimport", "pull-after-all"): PULLED,
    ("rewind-import", "compare"): LOOKED,
    ("rewind-import", "evacuate"): Hand(
        "The data is copied out, and the copy is compared.", lambda play: f"The copy is compared. {ASSUMED_DONE}"
    ),
    ("rewind-import", "image"): Hand("Every disk that carries a label of the pool is imaged.", _image),
    ("spare-return", "wait"): Hand("Another run replaces the disk, and ZFS gives the spare back.", _give_spare_back),
    ("many-disks-offline", "mend"): Hand("What was named is mended, and every disk answers again.", _mend),
    ("suspended-pool", "attest"): Hand("Only the hosts that report the same disks can reach them.", _name_partners),
    ("suspended-pool", "find"): Hand(FOUND, lambda play: play.params.get("old_serial") or play.params["sick"]),
    ("suspended-pool", "mend"): Hand("What stalled is mended.", lambda play: ASSUMED_DONE),
    ("suspended-pool", "pull"): Hand("The disk that was named is out of its bay.", _pull_the_sick),
    ("suspended-pool", "others"): Hand("The owners of the other pools of this node know.", _tell_owners),
    ("suspended-pool", "reboot"): Hand("The node boots anew and imports nothing by itself.", _reboot),
    ("suspended-pool", "import"): Hand("The pool is imported by its guid.", _import),
    ("suspended-pool", "alike"): Hand("The partners get the same value.", _set_alike),
    ("suspended-pool", "alike-again"): Hand("The partners get the value of before.", _set_alike),
    ("sas-link-triage", "hands"): Hand("The cable is reseated, and nothing counts errors any more.", _touch),
}


@cache
def every_hand() -> Mapping[tuple[str, str], Hand]:
    """What is done at each (runbook, step): those above, and those in the runbooks' folders, which need this room to be loaded first."""
    return HANDS | {(slug, step): hand for slug, part in parts("rehearsal") for step, hand in part.HANDS.items()}
