"""Scrub a pool that was not read through for long, or let its paused scrub go on, and wait until it is read through.

    scrub overdue or paused -> checked -> reads measured -> planned -> scrubbing -> over -> verified

Ending the run while the scrub runs leads to the way back, which pauses it; it keeps its place, and a new run lets it go on.
A scrub that runs already is not begun again. Nothing is written but what ZFS mends. It loads every disk of the pool for hours or days, so
it is not begun while a member is lost, or while anything else of the pool comes first.
"""

from agents.operations import zpool_scrub, zpool_scrub_pause
from workflows.engine.core import CheckStep, Params, Runbook, WaitStep
from workflows.guards import facts_are_fresh
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.mass import every_member_serves, the_scrub_found_nothing
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.scrubbing import nothing_but_a_paused_scrub_is_under_way, the_scrub_came_to_its_end
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import verify, what_must_be_held
from workflows.runbooks._scrubbing import BACK, SCRUBBING, scrub, scrubbed, way_back
from workflows.runbooks.scrub_due import measured
from workflows.runbooks.scrub_due.guards import a_scrub_is_due, how_reads_wait_was_measured, the_pool_was_read_through_lately

MEASURE_SECONDS = 1500  # in which `zpool iostat -w` is asked at least twice
GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    every_member_serves,
    nothing_but_a_paused_scrub_is_under_way,
    nothing_of_the_pool_comes_first,
    a_scrub_is_due,
)


def measure_seconds(params: Params) -> int:
    return MEASURE_SECONDS


RUNBOOK = Runbook(
    slug="scrub-due",
    title="Scrub a pool that was not read through for long",
    purpose="No scrub of the pool came to its end for more than 35 days. Blocks that went bad since are found while a failed disk is rebuilt "
    "from them, which is too late. This begins a scrub when nothing speaks against it, or lets one that "
    "is paused go on, measures what others wait for it, and shows which disks it repaired. To pause it, end the run.",
    states="scrub overdue or paused -> checked -> reads measured -> planned -> scrubbing -> over -> verified",
    point_of_no_return="",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    undo=BACK,
    steps=(
        CheckStep(
            slug="check",
            title="Check that a scrub is due and nothing forbids it",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(zpool_scrub, zpool_scrub_pause), released(zpool_scrub)),
        ),
        WaitStep(
            slug="measure",
            title="Measure how reads wait without the scrub",
            why="Two looks at the histogram of reads, some minutes apart, so that the cost of the scrub is known. After 25 minutes the run "
            "goes on without, and says so.",
            until=how_reads_wait_was_measured,
            progress=measured.how_reads_wait,
            keeps=measured.before,
            learned=measured.BEFORE,
            lasts=measure_seconds,
            deadline_seconds=2 * MEASURE_SECONDS,
        ),
        *scrub(
            "scrub",
            "Scrub the pool",
            GUARDS,
            "Everything the pool holds is read and checked. It takes a day or more on a large pool, which serves meanwhile.",
        ),
        scrubbed("scrubbed", "Wait for the scrub", measured.how_it_goes, keeps=measured.during, learned=measured.DURING),
        verify(
            "verify",
            "Verify that the pool was read through",
            "The node looks again: the scrub ended now, it found nothing, and every member serves.",
            (the_scrub_came_to_its_end, the_pool_was_read_through_lately, the_scrub_found_nothing, every_member_serves),
            closes=(SCRUBBING.slug,),
        ),
        *way_back(),
    ),
)
