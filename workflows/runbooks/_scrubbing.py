"""A scrub as steps, for the runbooks that begin one: the order, the wait, and the way back, which pauses it."""

from collections.abc import Callable
from typing import Any

from agents.operations import zpool_scrub, zpool_scrub_pause
from workflows.engine.core import Guard, Loop, Params, Step, WaitStep
from workflows.guards import facts_are_fresh
from workflows.guards.scrubbing import a_scrub_runs, no_scrub_runs, the_scrub_goes_on_in_its_hours, the_scrub_is_over
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import named, order, verify

SCRUB_SECONDS = 21 * 24 * 3600
BACK = "see-whether-it-runs"  # the first step of the way back
WAIT_WHY = (
    "It is over when it came to its end, was cancelled, or a resilver took its place; what it came to is asked next. "
    "Where it costs others too much, or its hours are over, end this run: the scrub is paused and keeps its place."
)


def what_runs(params: Params) -> str:
    return f"A scrub of {params['pool']} runs on {params['node']}."


SCRUBBING = Loop(
    slug="scrubbing",
    what=what_runs,
    undo="Let it end, or pause it: zpool scrub -p POOL. A paused one goes on with: zpool scrub POOL.",
    over=no_scrub_runs,
)
WAY_BACK = (facts_are_fresh, the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended)


def scrub(slug: str, title: str, guards: tuple[Guard, ...], why: str, needed: Guard | None = None) -> tuple[Step, ...]:
    """PLAN and EXECUTE of one scrub, which opens the loop `scrubbing`."""
    return order(
        slug, title, zpool_scrub, named(*zpool_scrub.PARAMS), guards, why, also=(zpool_scrub_pause,), needed=needed, opens=SCRUBBING
    )


def scrubbed(slug: str, title: str, progress: Callable[..., Any], **more: Any) -> WaitStep:
    """The wait for its end, however it ends. `more` are other fields of the step."""
    return WaitStep(
        slug=slug,
        title=title,
        why=WAIT_WHY,
        until=the_scrub_is_over,
        alarm=the_scrub_goes_on_in_its_hours,
        sources=("zpool_status",),
        progress=progress,
        deadline_seconds=SCRUB_SECONDS,
        **more,
    )


def way_back() -> tuple[Step, ...]:
    """The last steps of a runbook that has a scrub."""
    return (
        verify(
            BACK,
            "See whether the scrub still runs",
            "The node looks again. A scrub that is over or paused needs no command.",
            (facts_are_fresh,),
            undoes=SCRUBBING.slug,
        ),
        *order(
            "pause",
            "Pause the scrub",
            zpool_scrub_pause,
            named(*zpool_scrub_pause.PARAMS),
            WAY_BACK,
            "It keeps its place, also over a reboot. To leave it running instead, end the run once more.",
            needed=a_scrub_runs,
            undoes=SCRUBBING.slug,
        ),
        verify(
            "verify-paused",
            "Verify that no scrub runs",
            "The node looks again: the scrub is paused, or is over.",
            (no_scrub_runs,),
            undoes=SCRUBBING.slug,
            closes=(SCRUBBING.slug,),
        ),
    )
