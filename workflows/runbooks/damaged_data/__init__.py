"""Have ZFS forget damaged data that was restored or deleted, and see what is still damaged.

    damage listed -> checked -> restored or deleted by people -> scrubbing -> over -> what is left scrubbed once more -> verified

A scrub that comes to its end lists what it found damaged in the place of what was listed before (spa_errlog_rotate, module/zfs/spa_errlog.c),
so one is enough for what was gone when it began; errors that were met while it ran need a second. Nothing is deleted here.
"""

from agents.operations import zpool_scrub, zpool_scrub_pause
from workflows.engine.core import CheckStep, DecideStep, Runbook
from workflows.guards import facts_are_fresh
from workflows.guards.mass import every_member_serves
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.scrubbing import nothing_but_a_paused_scrub_is_under_way, the_scrub_came_to_its_end
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import verify, what_must_be_held
from workflows.runbooks._replacing import how_far_the_scrub_is
from workflows.runbooks._scrubbing import BACK, SCRUBBING, scrub, scrubbed, way_back
from workflows.runbooks.damaged_data.guards import (
    nothing_is_listed_any_more,
    something_is_still_listed,
    the_damage_is_listed,
    what_brings_it_back,
    what_was_done,
)

GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    every_member_serves,
    nothing_but_a_paused_scrub_is_under_way,
)


RUNBOOK = Runbook(
    slug="damaged-data",
    title="Settle damaged data and scrub until none is listed",
    purpose="ZFS lists files or objects of which no copy is right. This shows what each of them is and what brings it back. When people have restored or "
    "deleted them, it scrubs the pool until the list is empty, a second time where the first scrub left something.",
    states="damage listed -> checked -> restored or deleted -> scrubbing -> over -> scrubbed once more where something is left -> verified",
    point_of_no_return="",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    undo=BACK,
    steps=(
        CheckStep(
            slug="check",
            title="Check what is damaged, and that every member serves",
            why="While a member is away, data may only be out of reach. Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, the_damage_is_listed, allowed(zpool_scrub, zpool_scrub_pause), released(zpool_scrub)),
            warns=(what_brings_it_back,),
        ),
        DecideStep(
            slug="restored",
            title="Say what was done about what is damaged",
            why="The portal restores and deletes nothing. Do that first, on the node or from your backups; this run can wait for days.",
            param="restored",
            options=what_was_done,
        ),
        *scrub(
            "scrub",
            "Scrub the pool",
            GUARDS,
            "Everything the pool holds is read and checked, and the list becomes what this scrub finds. It takes a day or more on a large pool.",
        ),
        scrubbed("scrubbed", "Wait for the scrub", how_far_the_scrub_is),
        verify(
            "see-what-is-left",
            "See what the scrub left",
            "The node looks again, and asks for the list anew.",
            (the_scrub_came_to_its_end,),
            ("zpool_status", "zpool_status_errors"),
            closes=(SCRUBBING.slug,),
        ),
        *scrub(
            "scrub-again",
            "Scrub the pool once more",
            GUARDS,
            "What was met while the first scrub ran is listed still. After this one, what is listed is damaged now.",
            needed=something_is_still_listed,
        ),
        scrubbed("scrubbed-again", "Wait for the second scrub", how_far_the_scrub_is),
        verify(
            "verify",
            "Verify that nothing is damaged any more",
            "The node looks again: the scrub came to its end, every member serves, and the list is empty.",
            (the_scrub_came_to_its_end, every_member_serves, nothing_is_listed_any_more),
            ("zpool_status", "zpool_status_errors"),
            closes=(SCRUBBING.slug,),
        ),
        *way_back(),
    ),
)
