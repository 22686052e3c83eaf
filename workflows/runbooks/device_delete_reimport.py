"""Take the one disk that blocks an import away from the kernel, and import the pool read-only without it.

    looked -> suspect chosen -> checked -> deleted -> verified -> imported read-only -> compared -> used -> let go of -> pulled

One disk that went its own way decides for all at an import; parity has no vote on it. Nothing is written to any disk, and the disk
comes back with a rescan. The pool does without one disk meanwhile. Importing it for writing, still without that disk, and replacing
the disk are the next steps, and are not taken here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.operations import disk_delete, disk_rescan, zpool_export_readonly, zpool_import_readonly
from workflows.core import END, Loop, Option, Params, Runbook, Step, ask, unknown
from workflows.facts import FleetFacts, known, lookup
from workflows.facts.census import title
from workflows.facts.divergence import rows
from workflows.guards.importing import (
    IMPORT_GUARDS,
    the_pool_can_be_read,
    the_pool_is_imported_here,
    the_pool_is_not_imported_here,
    the_pool_is_read_only,
    what_can_be_imported_is_fresh,
)
from workflows.guards.subject import number
from workflows.guards.suspect import (
    SUSPECT_GUARDS,
    it_is_back,
    it_is_gone_from_the_kernel,
    what_the_others_end_with,
)
from workflows.guards.target import the_zfs_versions_match_and_are_tested
from workflows.runbooks._orders import named, order, verify
from workflows.runbooks.read_only_import import AFTERWARDS, EXPORT_WHY, HELD, SOURCES, export_params, import_params, what_was_seen

GUARDS = (*IMPORT_GUARDS, the_zfs_versions_match_and_are_tested)
delete_params = named(*disk_delete.PARAMS)


def every_member(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """All disks that carry a label of the pool, the suspect first."""
    node, guid = lookup.node(facts, params.get("node", "")), number(params, "pool_guid")
    if not known(node) or not known(guid):
        return ()
    options = []
    for row in rows(node, guid):
        disk = row.disk
        value = disk.wwid if known(disk.wwid) else f"no-wwid:{' '.join(disk.names)}"
        against = (
            ask(SUSPECT_GUARDS, facts, {**params, "wwid": value}) if known(disk.wwid) else (unknown("It has no identity to be trusted."),)
        )
        bay = f"bay {disk.bay.slot} of {disk.bay.enclosure_id}" if known(disk.bay) else "bay not known"
        options.append(Option(value, title(disk), f"{bay}; its label is of txg {row.label.txg}, written by {row.label.hostname}", against))
    return tuple(sorted(options, key=lambda option: sum(v.outcome != "pass" for v in option.verdicts)))


def what_goes_with_it(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"compared": what_the_others_end_with(facts, params).reason}


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    return (f"pool:{params['pool_guid']}", *(f"disk:{wwid}" for wwid in filter(None, (params.get("wwid"),))))


DELETED = Loop(
    slug="deleted",
    what=lambda params: f"The disk {params.get('wwid', '')} is deleted from the kernel of {params['node']} and still in its bay.",
    undo="Pull it, or rescan the SCSI hosts while the pool is not imported.",
    over=it_is_back,
)

RUNBOOK = Runbook(
    slug="device-delete-reimport",
    title="Import a pool without the one disk that blocks it",
    purpose="Every import fails, and one disk tells another story than all others. This takes that disk away from the kernel, without "
    "touching it, and imports the pool read-only without it, so that people can see what it holds and decide.",
    states="looked -> suspect chosen -> checked -> deleted -> verified -> imported read-only -> compared -> used -> let go of -> pulled",
    point_of_no_return="",
    params={
        "node": "the node that sees the pool's disks",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
    },
    locks=what_must_be_held,
    undo="look-back",
    steps=(
        verify(
            "look",
            "Have the node read every label and uberblock",
            "Which disk stands out is judged by what is on the disks now.",
            (what_can_be_imported_is_fresh,),
            sources=SOURCES,
        ),
        Step(
            slug="suspect",
            title="Choose the disk that blocks it",
            kind="DECIDE",
            why="Only a disk that stands out alone, by two kinds of evidence, may be taken away, and only where its vdev can do without it.",
            guards=(what_can_be_imported_is_fresh,),
            param="wwid",
            options=every_member,
        ),
        Step(
            slug="check",
            title="Check that nobody has the pool, and that the disk can be spared",
            kind="CHECK",
            why="Each question must be answered with yes. What cannot be told counts as no.",
            guards=(*GUARDS, *SUSPECT_GUARDS, what_the_others_end_with),
        ),
        *order(
            "delete",
            "Take the disk away from the kernel",
            disk_delete,
            delete_params,
            (*GUARDS, *SUSPECT_GUARDS),
            "Every path that leads to it is deleted. The disk stays in its bay, and nothing on it changes.",
            approvals=1,
            adds=what_goes_with_it,
            opens=DELETED,
        ),
        verify(
            "verify-delete",
            "Verify that it alone is gone",
            "The node looks again: the disk is gone by every name, and the other disks are here.",
            (it_is_gone_from_the_kernel, what_can_be_imported_is_fresh),
            sources=SOURCES,
        ),
        *order(
            "import",
            "Import the pool read-only without it",
            zpool_import_readonly,
            import_params,
            (*GUARDS, it_is_gone_from_the_kernel),
            "By guid, with readonly=on, no cache file and no mounts. Nothing is written to any disk.",
            approvals=1,
            opens=HELD,
            fails_to="hand-over",
        ),
        verify(
            "verify-import",
            "Verify that it is read-only and can be read",
            "The pool does without exactly this disk.",
            (the_pool_is_imported_here, the_pool_is_read_only, the_pool_can_be_read, it_is_gone_from_the_kernel),
            sources=(*AFTERWARDS, "block"),
        ),
        Step(
            slug="use",
            title="Look, compare, and copy out what is needed",
            kind="MANUAL",
            why="How far the pool goes without this disk stands in the plan. See whether the data is what you expect before anybody writes.",
            guards=(the_pool_is_imported_here, the_pool_is_read_only),
            asks="Say what was looked at, how far the data goes, and what the next step is.",
            judges=what_was_seen,
        ),
        *order(
            "export",
            "Let go of the pool",
            zpool_export_readonly,
            export_params,
            (the_pool_is_imported_here, the_pool_is_read_only),
            EXPORT_WHY,
        ),
        verify(
            "verify-export",
            "Verify that it is let go of",
            "The node looks again.",
            (the_pool_is_not_imported_here,),
            sources=AFTERWARDS,
            closes=(HELD.slug,),
        ),
        Step(
            slug="pull",
            title="Pull the disk and label it",
            kind="MANUAL",
            why="A boot or a rescan would bring it back, and the next import would follow it again. Clear its labels on another machine only.",
            guards=(it_is_gone_from_the_kernel, the_pool_is_not_imported_here),
            asks="Scan or type the serial number on the disk that was pulled, and say where it is kept.",
            judges=what_was_seen,
            closes=(DELETED.slug,),
            then=END,
        ),
        Step(
            slug="hand-over",
            title="It does not come in without it either: hand over",
            kind="MANUAL",
            why="Then it was not this disk, or not this disk alone. The way back brings it back; image the disks before anything else is tried.",
            asks="Say who has taken over, and where the images of the disks are.",
            judges=what_was_seen,
        ),
        # the way back
        verify(
            "look-back", "See whether the pool is imported", "The node looks.", (what_can_be_imported_is_fresh,), SOURCES, undoes=HELD.slug
        ),
        *order(
            "undo-import",
            "Let go of the pool",
            zpool_export_readonly,
            export_params,
            (the_pool_is_imported_here, the_pool_is_read_only),
            EXPORT_WHY,
            needed=the_pool_is_imported_here,
            undoes=HELD.slug,
        ),
        verify(
            "verify-undo-import",
            "Verify that it is let go of",
            "The node looks again.",
            (the_pool_is_not_imported_here,),
            sources=AFTERWARDS,
            undoes=HELD.slug,
            closes=(HELD.slug,),
        ),
        *order(
            "rescan",
            "Have the kernel find the disk again",
            disk_rescan,
            delete_params,
            (what_can_be_imported_is_fresh, the_pool_is_not_imported_here),
            "It comes back under whatever name is free. Only while the pool is not imported.",
            undoes=DELETED.slug,
        ),
        verify(
            "verify-rescan",
            "Verify that it is back",
            "The node looks again.",
            (it_is_back,),
            sources=("block", "disk_links"),
            undoes=DELETED.slug,
            closes=(DELETED.slug,),
        ),
    ),
)
