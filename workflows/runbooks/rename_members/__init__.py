"""End the kernel names of a pool's members: export it, and import it by its guid and the names in /dev/disk/by-id.

    looked -> checked -> what uses it is stopped by hand -> exported -> imported by stable names -> verified -> started by hand -> verified

The pool serves nothing from the export on until it is started again, and the loop "away" stays open as long. Nothing is forced: ZFS refuses to
export a pool that is busy, and the node refuses while something of it is mounted. Between export and import any host that sees the disks may take the
pool, so all are asked before. Nothing that is written is taken back: the way back imports the pool again and lists what is to be started.
"""

from agents.operations import zpool_export_unused, zpool_import_ordinary
from workflows.engine.core import CheckStep, Loop, ManualStep, Params, Runbook, Step, Verdict, VerifyStep, ok, refuse
from workflows.facts import FleetFacts
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.fresh import SOURCES as OF_MEMBERS
from workflows.guards.fresh import facts_are_fresh
from workflows.guards.importing import (
    IMPORT_GUARDS,
    no_disk_tells_another_story,
    no_other_node_imports_it_by_itself,
    the_node_has_a_hostid,
    the_pool_is_not_imported_here,
    what_can_be_imported_is_fresh,
)
from workflows.guards.modes import no_scan_runs_on_the_pool
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.rewinding import the_pool_is_imported_for_writing
from workflows.guards.target import (
    no_expansion_is_under_way,
    no_removal_is_under_way,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._imported import NOTE_LENGTH_MIN, SOURCES
from workflows.runbooks._orders import named, order, verify, what_must_be_held
from workflows.runbooks._starting import AFTERWARDS, SERVES, start
from workflows.runbooks.import_pool.guards import every_disk_of_it_is_here
from workflows.runbooks.rename_members.guards import (
    every_disk_has_its_link,
    every_member_has_its_stable_name,
    every_member_is_online,
    it_is_imported_and_mounted_again,
    its_cache_file_is_that_of_this_run,
    nothing_of_it_is_mounted,
    some_members_have_names_that_move,
    the_system_does_not_run_from_it,
    what_stops_meanwhile,
)

GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    nothing_of_the_pool_comes_first,
    the_pool_is_not_suspended,
    the_pool_is_imported_for_writing,
    some_members_have_names_that_move,
    every_member_is_online,
    every_disk_has_its_link,
    no_scan_runs_on_the_pool,
    no_removal_is_under_way,
    no_expansion_is_under_way,
    the_system_does_not_run_from_it,
    its_cache_file_is_that_of_this_run,
    no_other_node_imports_it_by_itself,
    the_node_has_a_hostid,
)
UNCHANGED = tuple(one for one in GUARDS if one is not nothing_of_the_pool_comes_first)  # the export asks that again
OF_AN_IMPORT = (*IMPORT_GUARDS, every_disk_of_it_is_here, no_disk_tells_another_story)
BEFORE = (*dict.fromkeys((*OF_MEMBERS, "zpool_get", "zfs_get", "zdb_config")),)
import_params = named(*zpool_import_ordinary.PARAMS)
IMPORT_WHY = (
    "By guid, and by the names in /dev/disk/by-id, without force. Nothing is mounted. It goes into the same cache file as before. Whoever approved the "
    "export should be at hand: the pool serves nothing meanwhile."
)


def what_was_stopped(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    if len(text) < NOTE_LENGTH_MIN:
        return (refuse("Say what was stopped, and who has the keys, if there are any."),)
    return (ok("It is noted."),)


AWAY = Loop(
    slug="away",
    what=lambda params: f"{params['pool']} was exported on {params['node']} for other names, and may not serve again yet.",
    undo="Import it with the runbook import-pool, if it is not imported; then load keys, mount, and start what it serves.",
    over=it_is_imported_and_mounted_again,
)


def _brought_in(slug: str, *, undoes: str = "") -> tuple[Step, ...]:
    """The order, passed over on the way back where the pool is imported."""
    return order(
        slug,
        "Import it by its stable names",
        zpool_import_ordinary,
        import_params,
        OF_AN_IMPORT,
        IMPORT_WHY,
        approvals=1,
        needed=the_pool_is_not_imported_here if undoes else None,
        undoes=undoes,
    )


def _serves_again(slug: str, *, undoes: str = "") -> VerifyStep:
    return verify(
        slug,
        "Verify that it is imported for writing and can be read",
        "The node looks again.",
        SERVES,
        sources=AFTERWARDS,
        undoes=undoes,
        closes=(AWAY.slug,),
    )


RUNBOOK = Runbook(
    slug="rename-members",
    title="End the kernel names of a pool's members",
    purpose="Members of a healthy pool stand under names like sdc, which lead to other disks after a boot. In a maintenance window this proves that every "
    "disk has a stable name and that no other host takes the pool meanwhile; people stop what uses it; then it is exported and imported by stable names.",
    states="looked -> checked -> stopped by hand -> exported -> imported by stable names -> verified -> started by hand -> verified",
    point_of_no_return="",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "cachefile": "whether it is in the node's cache file: default or none",
    },
    locks=what_must_be_held,
    undo="look-back",
    steps=(
        verify(
            "look",
            "Have the node look at the pool, its disks and its datasets",
            "Labels, links and mounts are read now. Looking changes nothing.",
            (facts_are_fresh,),
            sources=BEFORE,
        ),
        CheckStep(
            slug="check",
            title="Check that it can be exported and found again by stable names",
            why="Every member must be ONLINE and its disk have a link in /dev/disk/by-id. No scan runs, no other host has the pool or imports it at its next "
            "boot. What is not known counts as no.",
            guards=(*GUARDS, allowed(zpool_export_unused, zpool_import_ordinary), released(zpool_export_unused)),
            warns=(what_stops_meanwhile,),
        ),
        ManualStep(
            slug="stop",
            title="Stop what uses the pool, and unmount it",
            why="In this order: a cluster manager that would start it again; services, shares and Lustre targets; mounts. Have the keys of encrypted datasets "
            "first: no key goes through the portal. Stop nothing before the window begins and the second person is at hand.",
            guards=GUARDS,
            asks="Say what was stopped, and who has the keys, if there are any.",
            judges=what_was_stopped,
        ),
        verify(
            "stopped",
            "Verify that nothing of it is mounted",
            "The node looks again.",
            (*UNCHANGED, nothing_of_it_is_mounted),
            sources=BEFORE,
        ),
        *order(
            "export",
            "Export the pool",
            zpool_export_unused,
            named(*zpool_export_unused.PARAMS),
            (*GUARDS, nothing_of_it_is_mounted),
            "Without -f: what is busy is refused. From here on the pool serves nothing until it is imported and started again.",
            then=(zpool_import_ordinary,),
            approvals=1,
            opens=AWAY,
        ),
        verify(
            "verify-export",
            "Verify that it is exported, and whole in the listing",
            "The node looks at what can be imported.",
            OF_AN_IMPORT,
            sources=SOURCES,
        ),
        *_brought_in("import"),
        verify(
            "verify-import",
            "Verify that every member stands under its stable name",
            "Each name must lead to the disk with the member's own label.",
            (*SERVES, every_member_has_its_stable_name),
            sources=(*dict.fromkeys((*AFTERWARDS, "block", "disk_links")),),
        ),
        *start(),
        _serves_again("verify"),
        # the way back
        verify(
            "look-back", "See whether the pool is imported", "The node looks.", (what_can_be_imported_is_fresh,), SOURCES, undoes=AWAY.slug
        ),
        *_brought_in("import-again", undoes=AWAY.slug),
        *start("-again", undoes=AWAY.slug),
        _serves_again("verify-again", undoes=AWAY.slug),
    ),
)
