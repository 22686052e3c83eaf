"""One runbook on one kind of disk: whether it is ordered, and how the disk is named then; or why it is not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from workflows.engine.core import Answer, Runbook, Situation
from workflows.rehearsal import Asked, Rehearsed, rehearse, scenarios
from workflows.rehearsal.kinds_of_disk.rows import ROWS
from workflows.rehearsal.on_twins import TwinStage
from workflows.runbooks import RUNBOOKS
from workflows.situations import detect_all

ORDERED, BY_HAND, REFUSED, NOT_OFFERED = "ordered", "by hand", "refused", "not offered"
# What brings, takes, lights, wipes, deletes or rescans a disk, or is set or asked on it.
ON_DISKS = frozenset(
    (
        *(
            "zpool_replace",
            "zpool_replace_serving",
            "zpool_replace_partition",
            "partition_copy",
            "proxmox_boot_init",
            "zpool_attach",
            "zpool_add",
            "zpool_add_class",
        ),
        *("zpool_online", "zpool_offline", "zpool_detach", "zpool_detach_new_half", "zpool_remove", "zpool_bring_back", "zpool_set_path"),
        *(
            "locate_led",
            "fault_led_off",
            "disk_wipe",
            "disk_wipe_destroyed",
            "disk_delete",
            "disk_rescan",
            "set_drive_mode",
            "smart_self_test",
        ),
    )
)
AT = 1795248315.0
SETTLES_SECONDS = 600.0  # between the first report and the second
CHOICES_MAX = 8
NOT_REPORTED = "Nothing is wrong as far as such disks report it: what this runbook answers is not among that."
_COMMAND_BY_HAND = re.compile(
    r"`(?:zpool (?:replace|attach|add|online|detach)|cryptsetup|sgdisk|gpart|multipath|multipathd|wipefs|labelclear|sdparm|smartctl -t short /dev)\b"
)
_LINK = re.compile(r"/dev/disk/by-id/(wwn-0x|ata-|nvme-eui\.|nvme-uuid\.|nvme-nvme\.|dm-uuid-mpath-)[^ ]*?(-part[0-9]+)?$")


@dataclass(frozen=True)
class Cell:
    """`how` says by what name a disk is given in the order's command; `reasons` why there is none, with the way on."""

    outcome: str
    how: str = ""
    reasons: tuple[str, ...] = ()


def columns() -> tuple[Runbook, ...]:
    return tuple(book for book in RUNBOOKS.values() if any(step.operation in ON_DISKS for step in book.steps))


@cache
def cell(row: str, slug: str) -> Cell:
    """The runbook on its own scenario, with every disk of that kind. Kept, because a walk takes a third of a second.

    Where the first report shows nothing that the runbook answers, a second is made: some is known of a span alone, as how slow a disk is.
    """
    nodes = scenarios.nodes(slug, AT)
    for node in nodes.values():
        ROWS[row].of(node)
    stage = TwinStage(nodes, AT)
    found = detect_all(stage.facts())
    if (answer := _answer(found, slug)) is None:
        stage.clock.sleep(SETTLES_SECONDS)
        answer = _answer(detect_all(stage.facts()), slug)
    return _walked(answer, stage) if answer else Cell(NOT_OFFERED, reasons=_advised(found))


def _answer(found: Iterable[Situation], slug: str) -> Answer | None:
    return next((answer for situation in found for answer in situation.answers if answer.runbook == slug), None)


def _walked(answer: Answer, stage: TwinStage) -> Cell:
    """With the first option that is fit, wherever one is asked for. Why the very first was not, is told where no command is left without it."""
    choices: dict[str, str] = {}
    passed_over: tuple[str, ...] = ()
    for _ in range(CHOICES_MAX):
        rehearsed = rehearse(Asked(RUNBOOKS[answer.runbook], answer.params, choices), stage.fork())
        if rehearsed.ending != "asks":
            break
        choices[rehearsed.asks] = next(choice.value for choice in rehearsed.choices if not choice.against)
        passed_over = passed_over or rehearsed.choices[0].against
    return _cell(rehearsed, passed_over)


def _cell(rehearsed: Rehearsed, passed_over: tuple[str, ...]) -> Cell:
    if rehearsed.ending == "done" and (rehearsed.commands or not passed_over):
        return Cell(ORDERED, _named(rehearsed.commands))
    if rehearsed.ending == "done":
        return Cell(_way(passed_over), reasons=passed_over)
    lines = rehearsed.acts[-1].lines if rehearsed.acts else []
    reasons = tuple(line.reason for line in lines if line.outcome != "pass")
    reasons = (rehearsed.choices[0].against if rehearsed.choices else ()) or reasons or (rehearsed.reason,)
    begun = tuple(f"By then `{' '.join(argv)}` has run." for argv in rehearsed.commands)
    return Cell(_way(reasons), reasons=(*reasons, *begun))


def _way(reasons: Iterable[str]) -> str:
    return BY_HAND if any(map(_COMMAND_BY_HAND.search, reasons)) else REFUSED


def _named(commands: Iterable[Iterable[str]]) -> str:
    """By what the commands name disks: "wwn-0x…", and their members by guid."""
    found = (_LINK.search(word) for argv in commands for word in argv)
    names = dict.fromkeys(f"{match.group(1)}…{match.group(2) or ''}" for match in found if match)
    return ", ".join(f"`{name}`" for name in names)


def _advised(found: Iterable[Situation]) -> tuple[str, ...]:
    """What is advised in the runbook's stead, of the first situation that advises anything."""
    return next((tuple(cure.text for cure in one.cures if cure.text) for one in found if one.cures), (NOT_REPORTED,))
