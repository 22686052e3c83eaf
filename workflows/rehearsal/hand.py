"""What a person does when a step of a rehearsal asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflows.rehearsal.play import Play

ASSUMED_DONE = "Taken for done in a rehearsal."


class CannotSuppose(Exception):
    """What a person at the rack would find is not known here. The message states why."""


@dataclass(frozen=True)
class Hand:
    supposes: str  # "" for a WAIT that needs no person
    does: Callable[[Play], str] = lambda play: ASSUMED_DONE


def scan_of(key: str) -> Hand:
    """Of the disk that this run parameter names."""

    def scan(play: Play) -> str:
        disk = next((disk for disk in play.node.disks if disk.wwid == play.params[key]), None)
        if disk is None or not disk.serial:
            raise CannotSuppose("The report gives no serial number of the disk that was chosen.")
        return disk.serial

    return Hand("The serial number that the chosen disk reports is scanned off it.", scan)


SCAN_CHOSEN: Mapping[str, Hand] = {"scan": scan_of("wwid")}
