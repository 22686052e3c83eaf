"""Take the one disk that blocks an import away from the kernel, bring the pool back without it, and replace it.

    looked -> suspect chosen -> tried without it -> weighed -> checked -> deleted -> imported read-only -> compared -> let go of
      -> imported for writing -> pulled -> looked for again -> new disk chosen -> replacing -> resilvered -> verified
      -> (read only is enough, or there is no way in) pulled and handed over

One disk that went its own way decides for all at an import; parity has no vote on it. Until "write" nothing is written to any disk, and
the disk comes back with a rescan. From "write" on there is only forward: what that disk alone holds is lost, and it must not come back
under the pool. So it is pulled first, and only then the kernel looks for disks again.
"""

from functools import partial

from agents.operations import (
    disk_delete,
    disk_rescan,
    zdb_without,
    zpool_export_readonly,
    zpool_import_readonly,
    zpool_import_writable,
    zpool_replace,
)
from workflows.engine.core import (
    END,
    CheckStep,
    ConfirmStep,
    DecideStep,
    Loop,
    ManualStep,
    Runbook,
    WaitStep,
)
from workflows.guards import CANDIDATE_GUARDS, REPLACED_GUARDS, TARGET_GUARDS, facts_are_fresh
from workflows.guards.bay import words
from workflows.guards.candidate import a_path_is_down
from workflows.guards.importing import (
    IMPORT_GUARDS,
    the_listing_shows_the_pool_once,
    the_pool_can_be_read,
    the_pool_is_imported_here,
    the_pool_is_not_imported_here,
    the_pool_is_read_only,
    what_can_be_imported_is_fresh,
)
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.replaced import the_new_disk_has_taken_over
from workflows.guards.rewinding import the_pool_is_imported_for_writing
from workflows.guards.suspect import (
    it_is_back_or_out,
    it_is_out_of_its_bay,
    it_may_be_looked_for,
    it_must_be_pulled_first,
    the_other_members_are_still_here,
    the_pool_lacks_exactly_this_disk,
)
from workflows.runbooks._imported import AFTERWARDS, HELD, SOURCES, WAY_BACK, let_go_and_verify, what_was_seen
from workflows.runbooks._orders import order, verify
from workflows.runbooks._pulling import find_and_pull
from workflows.runbooks._replacing import (
    RESILVER_SECONDS_MAX,
    every_disk,
    how_far_the_resilver_is,
    plan_is_for_what_was_chosen,
    replace_params,
)
from workflows.runbooks.device_delete_reimport.choices import (
    MAY_BE,
    SUSPECT,
    WRITE_GUARDS,
    compared,
    delete_params,
    every_member,
    from_the_trial,
    it_is_gone,
    pool_and_loss,
    rescan_params,
    serial_end_and_pool,
    what_goes_with_it,
    what_is_given_up,
    what_leaves,
    what_must_be_held,
    what_speaks_against_it,
    what_was_compared,
    write_params,
)
from workflows.runbooks.read_only_import import import_params

GUARDS = IMPORT_GUARDS
TRY_GUARDS = (what_can_be_imported_is_fresh, the_pool_is_not_imported_here, *MAY_BE)
BAY_SOURCES = ("block", "disk_links", "enclosure")
REPLACE_GUARDS = (*TARGET_GUARDS, *CANDIDATE_GUARDS, it_is_gone)
DELETED = Loop(
    slug="deleted",
    what=lambda params: (
        f"The disk {params.get('old_wwid', '')} is deleted from the kernel of {params['node']} and still in {words(params)}."
    ),
    undo="Pull it. While the pool is not imported, a rescan of the SCSI hosts brings it back instead.",
    over=it_is_back_or_out,
)
UNLIT = "The kernel does not see this disk any more, so the node can light no bay for it."
PULL_WHY = "A boot or a rescan would bring it back under the pool, and the next import could follow it again. Clear the disk's labels on another machine only."
RESCAN_WHY = "Every SCSI host is asked what is there now. What is new is found, and the disk that was pulled must stay away."


deleted_disk = partial(find_and_pull, which="deleted", unlit=UNLIT, why=PULL_WHY, before=(it_is_gone,), after=(it_is_out_of_its_bay,))

RUNBOOK = Runbook(
    slug="device-delete-reimport",
    title="Bring a pool back without the one disk that blocks it, and replace that",
    purpose="Every import fails, and one disk contradicts all others. This takes that disk away from the kernel, without "
    "touching it, imports the pool read-only without it, and shows how far the two states are apart in time. When people have compared, the "
    "pool is imported for writing, the disk is pulled, and a new one takes its place.",
    states="looked -> suspect chosen -> tried without it -> weighed -> deleted -> imported read-only -> compared -> let go of -> imported for writing -> pulled -> "
    "looked for again -> new disk chosen -> replacing -> resilvered -> verified",
    point_of_no_return="write",
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
            sources=(*SOURCES, "enclosure", "dbgmsg", "kernel_log"),
        ),
        DecideStep(
            slug="suspect",
            title="Choose the disk that blocks it",
            why="Only a single disk that differs from all others may be deleted, and only where its vdev can do without it. Two kinds of evidence are "
            "needed first, out of: its label, its uberblocks, missing answers, ZFS's own log, and a trial without it, which is next.",
            guards=(what_can_be_imported_is_fresh,),
            param="old_wwid",
            options=every_member,
            learned=("vdev_guid", "old_serial", "enclosure", "slot", "loss", "ends_with", "others"),
        ),
        *order(
            "try",
            "Try to open the pool without it",
            zdb_without,
            delete_params,
            TRY_GUARDS,
            "The pool is read by zdb with all disks, and once more where this one is hidden from it. Nothing is imported, written, or taken away. "
            "On a large pool it takes minutes. Where it cannot be tried, this goes on without that evidence.",
            learns=from_the_trial,
            learned=("tried",),
            fails_to="weigh",
            fails_means="The pool was not tried out, so what follows is weighed without that evidence.",
        ),
        DecideStep(
            slug="weigh",
            title="Take it away, or hand over",
            why="Two kinds of evidence must point at this disk alone, and no trial may contradict them. Otherwise nothing is deleted.",
            guards=(what_can_be_imported_is_fresh,),
            param="weighed",
            options=what_speaks_against_it,
            branches=("hand-over",),
        ),
        CheckStep(
            slug="check",
            title="Check that no host has the pool, and that the disk can be spared",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(
                *GUARDS,
                *SUSPECT,
                compared,
                allowed(disk_delete, disk_rescan, zpool_import_readonly, zpool_export_readonly),
                released(disk_delete, zpool_import_readonly, zpool_export_readonly),
            ),
        ),
        *order(
            "delete",
            "Take the disk away from the kernel",
            disk_delete,
            delete_params,
            (*GUARDS, *SUSPECT),
            "Every path that leads to it is deleted. The disk stays in its bay, and nothing on it changes.",
            approvals=1,
            adds=what_goes_with_it,
            opens=DELETED,
        ),
        verify(
            "verify-delete",
            "Verify that it alone is gone",
            "The node looks again: the disk is gone by every name, and the other disks are here.",
            (it_is_gone, the_other_members_are_still_here, what_can_be_imported_is_fresh),
            sources=SOURCES,
        ),
        *order(
            "import",
            "Import the pool read-only without it",
            zpool_import_readonly,
            import_params,
            (*GUARDS, it_is_gone),
            "By guid, with readonly=on, no cache file and no mounts. Nothing is written to any disk.",
            approvals=1,
            opens=HELD,
            fails_to="hand-over",
            fails_means="The pool is not imported and nothing was written. Other hands have to go on from here.",
        ),
        verify(
            "verify-import",
            "Verify that it is read-only and can be read",
            "The pool does without exactly this disk.",
            (the_pool_is_imported_here, the_pool_is_read_only, the_pool_can_be_read, the_pool_lacks_exactly_this_disk, it_is_gone),
            sources=(*AFTERWARDS, "block"),
        ),
        ManualStep(
            slug="use",
            title="Look, and compare",
            why="The plan that deleted the disk shows how many seconds of writes are lost without it. Check that the data is what you expect,"
            " and copy out what must not be risked, before the pool is imported for writing.",
            guards=(the_pool_is_imported_here, the_pool_is_read_only),
            asks="Say what was looked at, how far the data goes, and what the next step is.",
            judges=what_was_seen,
        ),
        *let_go_and_verify(what_can_be_imported_is_fresh, the_listing_shows_the_pool_once, sources=SOURCES),
        DecideStep(
            slug="next",
            title="Choose whether it is imported for writing",
            why="Writes that only the deleted disk holds are given up by that, and the pool can no longer be rewound as far as before.",
            guards=(the_pool_is_not_imported_here, it_is_gone),
            param="next",
            options=what_was_compared,
            branches=("leave-find",),
        ),
        *order(
            "write",
            "Import it for writing without this disk",
            zpool_import_writable,
            write_params,
            WRITE_GUARDS,
            "By guid, without any force or rewind, with no cache file and no mounts. Labels are written, and the pool's log is replayed.",
            confirm=ConfirmStep(
                slug="confirm-write",
                title="Confirm what is given up",
                why="You type how many seconds of writes only the deleted disk holds.",
                phrase=pool_and_loss,
                phrase_hint="Type the pool's name, the word loses, and how much, as the plan says it.",
            ),
            approvals=1,
            adds=what_is_given_up,
        ),
        verify(
            "verify-write",
            "Verify that it serves without exactly this disk",
            "The node looks again. Who uses the pool may mount and begin; until the disk is replaced it survives one loss less.",
            (
                the_pool_is_imported_here,
                the_pool_is_imported_for_writing,
                the_pool_can_be_read,
                the_pool_lacks_exactly_this_disk,
                it_is_gone,
            ),
            sources=(*AFTERWARDS, "block"),
        ),
        *deleted_disk("find", "pull"),
        *order(
            "rescan",
            "Have the kernel look for disks again",
            disk_rescan,
            rescan_params,
            (facts_are_fresh, it_may_be_looked_for, it_is_out_of_its_bay),
            RESCAN_WHY,
        ),
        verify(
            "verify-rescan",
            "Verify that the old disk stays away",
            "The node looks again: the pool still lacks exactly this disk, and nothing took its place by itself.",
            (it_is_gone, it_is_out_of_its_bay, the_pool_lacks_exactly_this_disk),
            sources=(*BAY_SOURCES, *AFTERWARDS, "mounts", "node"),
            closes=(DELETED.slug,),
        ),
        DecideStep(
            slug="choose",
            title="Choose the new disk",
            why="Put a new disk into the empty bay, or use one that is present. Every disk the node sees is listed, with the for and against "
            "it. The old disk counts as new when its labels were cleared on another machine.",
            guards=(facts_are_fresh,),
            param="wwid",
            options=every_disk,
        ),
        *order(
            "replace",
            "Replace the disk",
            zpool_replace,
            replace_params,
            REPLACE_GUARDS,
            "The node checks everything once more and runs the one command of the plan, at most once. All content of the new disk is "
            "overwritten; what the pool holds stays readable meanwhile.",
            confirm=ConfirmStep(
                slug="confirm-replace",
                title="Confirm what is replaced",
                why="You type which disk you expect to be replaced.",
                phrase=serial_end_and_pool,
                phrase_hint="Type the last 6 characters of the old disk's serial number (of its WWN where it reported none), a space, and the pool's name.",
            ),
            approvals=1,
            adds=what_leaves,
            agrees=plan_is_for_what_was_chosen,
            warns=(a_path_is_down,),
        ),
        WaitStep(
            slug="resilver",
            title="Wait for the resilver",
            why="ZFS resilvers the new disk and then detaches the old member. Until then the vdev survives no more losses than before.",
            until=the_new_disk_has_taken_over,
            sources=("zpool_status", "zpool_status_guid", "zdb_label"),
            progress=how_far_the_resilver_is,
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        verify(
            "verify",
            "Verify that the new disk has taken over",
            "The node looks again, and every answer uses what it reports after the resilver has ended.",
            REPLACED_GUARDS,
            sources=("zpool_status", "zpool_status_guid", "zdb_label", "block"),
            then=END,
        ),
        *deleted_disk("leave-find", "leave", closes=(DELETED.slug,), then=END),
        ManualStep(
            slug="hand-over",
            title="It does not come in without it either: hand over",
            why="The cause is not this disk, or not this disk alone. If it was deleted, the way back brings it back. Where no disk differs "
            "from the others, rewind-import shows what the disks still hold; image them before anything is tried for writing.",
            asks="Say who has taken over, and where the images of the disks are.",
            judges=what_was_seen,
        ),
        # the way back
        *WAY_BACK,
        verify(
            "look-deleted",
            "See whether the pool is imported, and who sits in the bay",
            "While the pool is imported the disk must not come back under it.",
            (what_can_be_imported_is_fresh,),
            sources=(*SOURCES, "enclosure"),
            undoes=DELETED.slug,
        ),
        *deleted_disk("find-after-all", "pull-after-all", needed=it_must_be_pulled_first, undoes=DELETED.slug),
        *order(
            "undo-delete",
            "Have the kernel look for disks again",
            disk_rescan,
            rescan_params,
            (what_can_be_imported_is_fresh, it_may_be_looked_for),
            "While the pool is not imported the disk comes back, under whatever name is free. Else it is out, and stays out.",
            undoes=DELETED.slug,
        ),
        verify(
            "verify-undo-delete",
            "Verify that it is back, or out",
            "The node looks again.",
            (it_is_back_or_out,),
            sources=BAY_SOURCES,
            undoes=DELETED.slug,
            closes=(DELETED.slug,),
        ),
    ),
)
