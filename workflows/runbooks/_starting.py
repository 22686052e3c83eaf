"""The end of every runbook that leaves a pool imported and nothing of it mounted: people start what is to be started."""

from agents.operations import zpool_export_unused
from workflows.analysis import starting
from workflows.engine.core import CheckStep, Loop, ManualStep, Params, Step, Verdict, ok, refuse
from workflows.facts import FleetFacts, known
from workflows.guards.importing import (
    the_pool_can_be_read,
    the_pool_is_imported_here,
    the_pool_is_not_imported_here,
    what_can_be_imported_is_fresh,
)
from workflows.guards.rewinding import the_pool_is_imported_for_writing
from workflows.guards.subject import the_pool
from workflows.runbooks._imported import AFTERWARDS as OF_THE_IMPORT
from workflows.runbooks._imported import NOTE_LENGTH_MIN, SOURCES
from workflows.runbooks._orders import named, order, verify

AFTERWARDS = (*OF_THE_IMPORT, "zfs_get")
SERVES = (the_pool_is_imported_here, the_pool_is_imported_for_writing, the_pool_can_be_read)
START_WHY = (
    "Nothing is mounted yet. In this order: load the keys, if datasets are encrypted; mount; start shares and Lustre targets. The keys are "
    "loaded by hand on the node: no key and no passphrase goes through the portal. Mount no Lustre target with `zfs mount`."
)

UNSTARTED = Loop(
    slug="unstarted",
    what=lambda params: f"{params['pool']} is imported on {params['node']}, and nothing of it was started by the run.",
    undo="Start what it serves, or export it while nothing of it is mounted.",
    over=the_pool_is_not_imported_here,
)
BACK = "look-back"


def what_was_started(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    if len(text) < NOTE_LENGTH_MIN:
        return (refuse("Say what was started, and what was left out and why."),)
    return (ok("It is noted."),)


def what_is_to_be_started(facts: FleetFacts, params: Params) -> str:
    """A line for each kind, from what the node reports of the pool's datasets."""
    pool = the_pool(facts, params)
    return "\n".join(starting.lines(pool)) if known(pool) else f"Not known: what is to be started. {pool.reason}"


def start(suffix: str = "", *, undoes: str = "") -> tuple[Step, ...]:
    """What is to be started, from what the node reports, and people who start it. On a way back their slugs end in `suffix`."""
    return (
        CheckStep(
            slug=f"see-what-to-start{suffix}",
            title="See what is to be started",
            why="From what the node reports of the pool's datasets. Nothing of it is done by the portal. A line that begins with Not known is looked "
            "at on the node.",
            guards=SERVES,
            warns=(what_is_to_be_started,),
            undoes=undoes,
        ),
        ManualStep(
            slug=f"start{suffix}",
            title="Load keys, mount, and start what the pool serves",
            why=START_WHY,
            guards=SERVES,
            asks="Say what was started, and what was left out and why.",
            judges=what_was_started,
            undoes=undoes,
            warns=(what_is_to_be_started,),
        ),
    )


def start_and_verify() -> tuple[Step, ...]:
    """The same, and that the pool serves then. Closes UNSTARTED."""
    return (
        *start(),
        verify(
            "verify",
            "Verify that it is imported for writing and can be read",
            "The node looks again.",
            SERVES,
            sources=AFTERWARDS,
            closes=(UNSTARTED.slug,),
        ),
    )


def way_back() -> tuple[Step, ...]:
    """Export it again, while nothing of it is mounted. The node refuses otherwise."""
    here = (the_pool_is_imported_here, the_pool_is_imported_for_writing)
    return (
        verify(
            BACK, "See whether the pool is imported", "The node looks.", (what_can_be_imported_is_fresh,), SOURCES, undoes=UNSTARTED.slug
        ),
        *order(
            "undo-import",
            "Export the pool again",
            zpool_export_unused,
            named(*zpool_export_unused.PARAMS),
            here,
            "Only while nothing of it is mounted, and without -f. It is marked as exported then, also where it was not before.",
            needed=the_pool_is_imported_here,
            undoes=UNSTARTED.slug,
        ),
        verify(
            "verify-undo-import",
            "Verify that it is exported",
            "The node looks again.",
            (the_pool_is_not_imported_here,),
            sources=AFTERWARDS,
            undoes=UNSTARTED.slug,
            closes=(UNSTARTED.slug,),
        ),
    )
