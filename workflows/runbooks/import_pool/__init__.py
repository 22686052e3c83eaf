"""Import a pool that nobody has, as the boot would have done, and start what it serves.

    looked -> checked -> imported, nothing mounted -> what to start is listed -> started by hand -> verified

For a pool that was exported, or that this host used last and did not import at boot, as its disks came too late. What another host used
last, or has, is refused. The import writes labels and replays the log; exporting the pool again is the way back while nothing is mounted.
"""

from collections.abc import Mapping

from agents.operations import _ordinary, zpool_export_unused, zpool_import_ordinary
from workflows.engine.core import CheckStep, Params, Runbook
from workflows.facts import FleetFacts, known, lookup
from workflows.facts.fleet.divergence import rows
from workflows.guards.importing import IMPORT_GUARDS, no_disk_tells_another_story, what_can_be_imported_is_fresh
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.subject import number, sharing_nodes
from workflows.runbooks._imported import SOURCES
from workflows.runbooks._orders import order, verify, what_must_be_held
from workflows.runbooks._starting import AFTERWARDS, BACK, SERVES, UNSTARTED, start_and_verify, way_back
from workflows.runbooks.import_pool.guards import every_disk_of_it_is_here, it_was_exported_or_this_host_used_it_last

GUARDS = (
    *IMPORT_GUARDS,
    it_was_exported_or_this_host_used_it_last,
    every_disk_of_it_is_here,
    no_disk_tells_another_story,
)


def import_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """A pool whose disks another node sees goes into no cache file: a boot must not import it on its own while the other has it."""
    shared = _seen_by_another(facts, params)
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "cachefile": _ordinary.NONE if shared else _ordinary.KEPT}


def _seen_by_another(facts: FleetFacts, params: Params) -> bool:
    """True where it is not known."""
    node, guid = lookup.node(facts, params.get("node", "")), number(params, "pool_guid")
    if not known(node) or not known(guid):
        return True
    wwids = frozenset(row.disk.wwid for row in rows(node, guid) if known(row.disk.wwid))
    others = sharing_nodes(facts, node.node, wwids)
    return not known(others) or bool(others)


RUNBOOK = Runbook(
    slug="import-pool",
    title="Import a pool that no host has, and start what it serves",
    purpose="A pool is exported, or was not imported at boot because its disks came too late. This proves that no other host has it, imports it "
    "without mounting, and lists what is started by hand then. A pool that another host used last is refused, and nothing is forced.",
    states="looked -> checked -> imported, nothing mounted -> what to start is listed -> started by hand -> verified",
    point_of_no_return="",
    params={"node": "the node that sees the pool's disks", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    undo=BACK,
    steps=(
        verify(
            "look",
            "Have the node look at what can be imported",
            "The listing, the labels and the uberblocks are read now: a disk that came late is listed by now. Looking imports nothing.",
            (what_can_be_imported_is_fresh,),
            sources=SOURCES,
        ),
        CheckStep(
            slug="check",
            title="Check that no host has it and all of it is here",
            why="Importing a pool that another host has imported can destroy it. What is not known counts as no.",
            guards=(*GUARDS, allowed(zpool_import_ordinary, zpool_export_unused), released(zpool_import_ordinary, zpool_export_unused)),
        ),
        *order(
            "import",
            "Import it, and mount nothing",
            zpool_import_ordinary,
            import_params,
            GUARDS,
            "By guid and stable names, without force or rewind. Labels are written, and the log is replayed, as at every boot. It goes into the "
            "node's cache file, and comes in again at the next boot; where another node sees its disks, it goes into none.",
            also=(zpool_export_unused,),
            approvals=1,
            opens=UNSTARTED,
        ),
        verify(
            "verify-import",
            "Verify that it is imported for writing and can be read",
            "The node looks again.",
            SERVES,
            sources=AFTERWARDS,
        ),
        *start_and_verify(),
        # the way back
        *way_back(),
    ),
)
