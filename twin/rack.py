"""Hands at a twin's rack: pull a disk out of a bay, put one in, see which bay is lit, unplug its SAS cables, switch it on. For trying
Slotlight out, and for tests.

What was pulled lies on the shelf, `rack.json` beside the node's state, with the new disks that lay there from the start.
"""

import json
import time
import uuid
from dataclasses import asdict
from pathlib import Path

from twin.build import sd_name
from twin.model import Bay, Disk, Node, load
from twin.scenarios import plug, unplug
from twin.store import Store

SHELF = "rack.json"


class NotThere(ValueError):
    """Hands found no such bay or disk. The message says what there is."""


def lay_out(state_path: Path, disks: list[Disk]) -> None:
    state_path.with_name(SHELF).write_text(json.dumps([asdict(disk) for disk in disks]), encoding="ascii")


def shelf(state_path: Path) -> list[Disk]:
    path = state_path.with_name(SHELF)
    return [load(Disk, raw) for raw in json.loads(path.read_text(encoding="ascii"))] if path.exists() else []


def describe(state_path: Path) -> str:
    """What a person in front of the rack sees."""
    node = Store(state_path).view().node
    lines = ["It has no power."] * bool(node.off_since)
    lines += [_line(node, bay) for enclosure in node.enclosures for bay in enclosure.bays]
    lines += [f"on the shelf: {disk.vendor} {disk.model}, serial {disk.serial}" for disk in shelf(state_path)]
    return "\n".join(lines)


def _line(node: Node, bay: Bay) -> str:
    light = "  BLINKS" if bay.locate else ""
    inside = next((disk for disk in (*node.disks, *node.deleted) if disk.wwid == bay.wwid), None)
    return f"bay {bay.number}: {f'serial {inside.serial}' if inside else 'empty'}{light}"


def pull(state_path: Path, number: int) -> str:
    """Take the disk out of this bay and lay it on the shelf; returns its serial number."""
    lying = shelf(state_path)
    with Store(state_path).changing() as node:
        bay = _bay(node, number)
        if bay.wwid is None:
            raise NotThere(f"Bay {number} is empty.")
        disk = unplug(node, bay.wwid)
    lay_out(state_path, [*lying, disk])
    return disk.serial


def insert(state_path: Path, number: int, serial: str) -> None:
    """Put the disk with this serial number from the shelf into this bay."""
    lying = shelf(state_path)
    disk = next((disk for disk in lying if disk.serial == serial), None)
    if disk is None:
        raise NotThere(f"No disk {serial} is on the shelf. There are: {', '.join(d.serial for d in lying) or 'none'}.")
    with Store(state_path).changing() as node:
        bay = _bay(node, number)
        if bay.wwid is not None:
            raise NotThere(f"Bay {number} holds a disk. Pull that first.")
        taken = {path.name for other in node.disks for path in other.paths}
        free = (name for name in map(sd_name, range(1000)) if name not in taken)
        for path in disk.paths:
            if path.name in taken:
                path.name = next(free)
        plug(node, disk, bay, time.time())
    lay_out(state_path, [other for other in lying if other is not disk])


def unplug_cables(state_path: Path) -> None:
    """Unplug the SAS cables: the node sees no disk of its shelves, and has no pool of them."""
    with Store(state_path).changing() as node:
        node.pools, node.disks, node.deleted = [], [], []
        for bay in (bay for enclosure in node.enclosures for bay in enclosure.bays):
            bay.wwid = None


def power_on(state_path: Path) -> None:
    """Switch a node on that has no power. It has imported then what it had imported, as from its cache file, if its cables are plugged."""
    with Store(state_path).changing() as node:
        if not node.off_since:
            raise NotThere(f"{node.hostname} has power.")
        node.off_since, node.booted_at, node.boot_id = 0.0, time.time(), str(uuid.uuid4())


def _bay(node: Node, number: int) -> Bay:
    found = next((bay for enclosure in node.enclosures for bay in enclosure.bays if bay.number == number), None)
    if found is None:
        raise NotThere(f"{node.hostname} has no bay {number}.")
    return found
