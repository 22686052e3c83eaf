"""Judging what somebody at the rack types or scans. The answer must be right, and a wrong one says what to do with it."""

from __future__ import annotations

import re

from workflows.core import Params, Verdict, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, known, lookup
from workflows.facts.census import title
from workflows.guards.bay import words

SERIAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{3,39}")
PREFIX = re.compile(r"(?:S/?N|\(S\))\s*[: ]\s*", re.IGNORECASE)  # what labels print, and some scanners read, before the number itself


def serial_of(said: str) -> str:
    """A scanned serial number as the disk itself says it."""
    return PREFIX.sub("", said.strip(), count=1) if PREFIX.match(said.strip()) else said.strip()


def a_disk_from_the_shelf(facts: FleetFacts, params: Params, said: str) -> tuple[Verdict, ...]:
    """The serial number of a disk that is in nobody's hands but ours: in no bay of any node."""
    serial = serial_of(said)
    if SERIAL.fullmatch(serial) is None:
        return (refuse(f"“{said}” is no serial number. Scan the bar code that is marked S/N on the new disk."),)
    if serial == params.get("old_serial", ""):
        return (refuse(f"{serial} is the disk that is to go. Scan the new one."),)
    if serial != said:
        return (refuse(f"Type the serial number alone: {serial}."),)
    blind = [node for node in facts.nodes.values() if not known(node.disks)]
    if blind:
        return (unknown(f"Whether {blind[0].node} has this disk in a bay is not known: {blind[0].disks.reason}"),)
    found = [(node, disk) for node in facts.nodes.values() for disk in node.disks if known(disk.serial) and disk.serial == serial]
    if found:
        node, disk = found[0]
        where = f" in bay {disk.bay.slot} of {disk.bay.enclosure_id}" if known(disk.bay) else ""
        return (refuse(f"{serial} is {title(disk)} of {node.node}{where}, and not on the shelf. Take another disk."),)
    return (ok(f"No node has a disk with the serial number {serial} in a bay."),)


def the_bay_that_blinks(facts: FleetFacts, params: Params, said: str) -> tuple[Verdict, ...]:
    """The number of the lit bay, or the serial number on the disk in it."""
    answer = serial_of(said)
    if answer in (params.get("slot", ""), params.get("old_serial", "")):
        return (ok(f"It is {words(params)}, with the disk {params.get('old_serial', '')}."),)
    if answer.isdigit() and len(answer) <= 3:
        return (
            refuse(
                f"You see bay {answer} blink, and that is not the bay that was lit. Pull nothing. "
                "Check that you stand before the right enclosure, and how its bays are counted."
            ),
        )
    other = _disk_with(facts, params, answer)
    if other is not None:
        return (refuse(f"{answer} is {title(other)}, which stays. Pull nothing, and look again."),)
    return (refuse(f"{answer} is neither the bay that was lit nor the serial number of the disk in it. Pull nothing, and look again."),)


def the_serial_that_was_pulled(facts: FleetFacts, params: Params, said: str) -> tuple[Verdict, ...]:
    answer = serial_of(said)
    if answer == params.get("old_serial", ""):
        return (ok(f"{answer} is the disk that was to go."),)
    return (refuse(f"{answer} is not the disk that was to go, {params.get('old_serial', '')}. Put it back now."),)


def _disk_with(facts: FleetFacts, params: Params, serial: str) -> DiskFacts | None:
    node = lookup.node(facts, params.get("node", ""))
    disks = node.disks if known(node) and known(node.disks) else ()
    return next((disk for disk in disks if known(disk.serial) and disk.serial == serial), None)
