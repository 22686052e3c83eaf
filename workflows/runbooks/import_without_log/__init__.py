"""Import a pool whose log device is lost for good, and lose what stood only in it.

    looked -> checked -> the log was looked for -> confirmed -> approved -> imported without it, nothing mounted -> started by hand -> the log is removed

An ordinary import refuses while a log is missing. `zpool import -m` passes over it, and empties the intent logs of the whole pool: agents/operations/
zpool_import_without_log.py says by which code. So it comes last: a log that comes back in time loses nothing. What else is missing refuses.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_export_unused, zpool_import_without_log
from workflows.engine.core import CheckStep, ConfirmStep, ManualStep, Params, Runbook
from workflows.facts import FleetFacts, known, lookup, release_numbers
from workflows.guards.importing import (
    IMPORT_GUARDS,
    enough_of_its_disks_are_here,
    no_disk_tells_another_story,
    what_can_be_imported_is_fresh,
)
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.runbooks._imported import SOURCES
from workflows.runbooks._orders import order, verify, what_must_be_held
from workflows.runbooks._starting import AFTERWARDS, BACK, SERVES, UNSTARTED, start_and_verify, way_back
from workflows.runbooks.import_pool import import_params
from workflows.runbooks.import_pool.guards import it_was_exported_or_this_host_used_it_last
from workflows.runbooks.import_without_log.guards import (
    WHERE_IT_WAS,
    no_other_node_sees_its_log,
    only_a_log_of_it_is_lost,
    what_becomes_of_the_log,
    where_it_was_looked_for,
)

GUARDS = (
    *(guard for guard in IMPORT_GUARDS if guard is not enough_of_its_disks_are_here),
    it_was_exported_or_this_host_used_it_last,
    only_a_log_of_it_is_lost,
    no_other_node_sees_its_log,
    no_disk_tells_another_story,
)
LOSS = (
    "What {pool} acknowledged as written synchronously, and had in no transaction group yet, is lost for ever: mostly the last seconds before it went "
    "down, of every dataset and volume, also where it stood on another log that is here. Of a dataset that was not mounted since an earlier crash, as its "
    "key was not loaded, what was to be replayed is lost too. What was written without sync is not in a log, and is as after any crash."
)
LOOK_WHY = (
    "A log that comes back loses nothing: import-pool replays it. Look for an NVMe or SSD that did not come up after the boot, a card or "
    "cable that is loose, a bay without power, a name that moved; and on the partner, where it may be plugged in."
)
IMPORT_WHY = (
    "By guid and stable names, with -m, without force or rewind. It empties the intent log of every dataset of the pool, and cannot be undone: exporting the "
    "pool again brings nothing back. The node refuses where anything but a log is missing."
)


FORGOTTEN = "With this release {pool} also forgets its spares and cache devices (OpenZFS #14794, mended in 2.1.12): note which it has, and add them again afterwards."
KEPT_SINCE = (2, 1, 12)


def what_is_lost(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    node = lookup.node(facts, params["node"])
    numbers = release_numbers(node.zfs_module) if known(node) else node
    forgets = not known(numbers) or numbers < KEPT_SINCE  # where the release is not known, it may
    return {"given_up": " ".join(text.format(pool=params["pool"]) for text in (LOSS, *([FORGOTTEN] if forgets else ())))}


def the_pool_and_the_log(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['pool']} without {plan['outgoing']['log'][-6:]}"


RUNBOOK = Runbook(
    slug="import-without-log",
    title="Import a pool without its lost log",
    purpose="The log device of a pool is gone for good, and the pool is not imported: an ordinary import refuses then. This proves that nothing else is "
    "missing and no other host has the pool, and imports it without the log. What stood only in the log is lost.",
    states="looked -> checked -> the log was looked for -> confirmed -> approved -> imported, nothing mounted -> started by hand -> verified",
    point_of_no_return="import",
    params={"node": "the node that sees the pool's disks", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    undo=BACK,
    steps=(
        verify(
            "look",
            "Have the node look at what can be imported",
            "The listing, the labels and the uberblocks are read now. Looking imports nothing.",
            (what_can_be_imported_is_fresh,),
            sources=SOURCES,
        ),
        CheckStep(
            slug="check",
            title="Check that only a log is missing and no host has the pool",
            why="-m is for a lost log alone. Where data is missing too, bring that back first. What is not known counts as no.",
            guards=(
                *GUARDS,
                allowed(zpool_import_without_log, zpool_export_unused),
                released(zpool_import_without_log, zpool_export_unused),
            ),
        ),
        ManualStep(
            slug="search",
            title="Look for the log first",
            why=LOOK_WHY,
            guards=(only_a_log_of_it_is_lost, no_other_node_sees_its_log),
            asks=WHERE_IT_WAS,
            judges=where_it_was_looked_for,
        ),
        *order(
            "import",
            "Import it without the log",
            zpool_import_without_log,
            import_params,
            GUARDS,
            IMPORT_WHY,
            also=(zpool_export_unused,),
            confirm=ConfirmStep(
                slug="confirm-import",
                title="Confirm which log is given up",
                why="You type which pool loses which log. The plan says what is lost with it.",
                phrase=the_pool_and_the_log,
                phrase_hint="Type the pool's name, the word without, and the last 6 characters of what the plan names as the log.",
            ),
            approvals=1,
            adds=what_is_lost,
            opens=UNSTARTED,
        ),
        verify(
            "verify-import",
            "Verify that it is imported for writing and can be read",
            "The node looks again.",
            SERVES,
            sources=AFTERWARDS,
        ),
        CheckStep(
            slug="see-the-log",
            title="See what becomes of the log",
            why="The pool keeps the lost log as a member that is not there, and is DEGRADED until that is removed or replaced. Synchronous writes go to the "
            "data disks meanwhile, and are slower.",
            guards=SERVES,
            warns=(what_becomes_of_the_log,),
        ),
        *start_and_verify(),
        # the way back
        *way_back(),
    ),
)
