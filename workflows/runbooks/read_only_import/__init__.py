"""Import a pool without writing to it, to look, to copy, or to find out why it does not come in.

    looked -> checked -> imported read-only -> verified -> used -> let go of
                    \\-> (it does not come in) asked for a rewind -> approved -> imported as it was, read-only -> ...
                                                            \\-> (no way in) the disks are imaged, a person takes over

Nothing here writes to a disk, so there is no point of no return. What is dangerous is that another host has the pool, and
that the next one imports it for writing "to try": that is left to people, with images of the disks.
"""

import re
from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_export_readonly, zpool_import_dry_run, zpool_import_readonly, zpool_import_rewind
from workflows.engine.core import END, CheckStep, ConfirmStep, DecideStep, ManualStep, Option, Params, Runbook, ask, ok, refuse
from workflows.facts import FleetFacts
from workflows.guards.importing import (
    IMPORT_GUARDS,
    IMPORTED,
    NOTHING,
    REFUSED,
    REWIND,
    a_rewind_is_offered,
    last_used_elsewhere,
    no_disk_tells_another_story,
    the_pool_can_be_read,
    the_pool_is_imported_here,
    the_pool_is_not_imported_here,
    the_pool_is_read_only,
    what_can_be_imported_is_fresh,
)
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.runbooks._imported import AFTERWARDS, DRY_RUN, HELD, SOURCES, WAY_BACK, let_go_and_verify, what_was_seen, who_has_taken_over
from workflows.runbooks._orders import order, verify, what_must_be_held

GUARDS = IMPORT_GUARDS
_BACK_TO = re.compile(r"Would be able to return .+ to its state as of (.+)\.\n")
_LOSS = re.compile(r"Would discard approximately ([0-9]+ (?:seconds?|minutes?)) of transactions\.")
_SAME_SECOND = "1 second"  # where both txgs are of one second, zpool says nothing of a loss


def import_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """`-f` only where another host used it last, and the guards have that host's word that it has it no more."""
    force = "yes" if last_used_elsewhere(facts, params) else "no"
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "force": force}


def from_the_dry_run(text: str) -> Mapping[str, str]:
    """Its own words, as far as they are known. An empty answer means that no rewind helps, or that it was imported."""
    back, loss = _BACK_TO.search(text), _LOSS.search(text)
    if back and (loss or text.endswith(back[0])):
        return {"dry_run": REWIND, "rewind_to": back[1], "rewind_loss": loss[1] if loss else _SAME_SECOND}
    return {"dry_run": REFUSED if "cannot import" in text else NOTHING, "rewind_to": "", "rewind_loss": ""}


def why_it_failed(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    alone = ask((no_disk_tells_another_story,), facts, params)
    stands_out = tuple(
        ok(v.reason) if v.outcome == "refuse" else refuse("No disk stands out, so there is none to take away.") for v in alone
    )
    return (
        Option(DRY_RUN, "Ask what a rewind would discard", "Nothing is written. Its answer is shown before anything is decided.", alone),
        Option(
            "take-away",
            "One disk blocks it: end here, and take that disk away",
            "Begin device-delete-reimport from the situation. The pool is whole on the other disks.",
            stands_out,
            leads_to=END,
        ),
        Option(
            "image",
            "Image the disks and hand over",
            "Nothing more is tried from here.",
            ask((what_can_be_imported_is_fresh,), facts, params),
            leads_to="image",
        ),
    )


def after_the_dry_run(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    here = ask((the_pool_is_imported_here, the_pool_is_read_only), facts, params)
    gone = ask((the_pool_is_not_imported_here, a_rewind_is_offered), facts, params)
    return (
        Option(
            IMPORTED,
            "The dry run has imported the pool, read-only: go on with it",
            "Nothing had to be discarded, and then ZFS keeps the pool imported whatever the command was called.",
            here,
            leads_to="verify-import",
        ),
        Option(REWIND, "Import it as it was then, read-only", _offer(params), gone),
        Option(
            "image",
            "Image the disks and hand over",
            "No rewind is offered, or it costs too much. What else the disks hold is shown by rewind-import, which writes nothing either.",
            ask((the_pool_is_not_imported_here,), facts, params),
            leads_to="nothing-imported",
        ),
    )


def _offer(params: Params) -> str:
    if params.get("dry_run") != REWIND:
        return "No rewind is offered."
    return f"Its state of {params['rewind_to']}; about {params['rewind_loss']} before the end are left out, and stay on the disks."


def pool_and_loss(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['pool']} loses {params.get('rewind_loss', '')}"


def what_is_lost(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"rewind": {"to": params.get("rewind_to", ""), "left_out": params.get("rewind_loss", "")}}


RUNBOOK = Runbook(
    slug="read-only-import",
    title="Import a pool without writing to it",
    purpose="A pool is needed and not imported, or does not come in. This proves that no other host has it, imports it so that nothing is "
    "written, and asks for a rewind only when no single disk is to blame. It never imports for writing.",
    states="looked -> checked -> imported read-only -> verified -> used -> let go of",
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
            "Have the node look at what can be imported",
            "The listing, the labels and the uberblocks are read now. Looking imports nothing.",
            (what_can_be_imported_is_fresh,),
            sources=SOURCES,
        ),
        CheckStep(
            slug="check",
            title="Check that no host has it and enough of it is here",
            why="Importing a pool that another host has imported can destroy it, read-only or not. What is not known counts as no.",
            guards=(*GUARDS, allowed(zpool_import_readonly, zpool_export_readonly), released(zpool_import_readonly, zpool_export_readonly)),
        ),
        *order(
            "import",
            "Import it read-only",
            zpool_import_readonly,
            import_params,
            GUARDS,
            "By guid, with readonly=on, no cache file and no mounts. Nothing is written to any disk.",
            approvals=1,
            opens=HELD,
            fails_to="look-again",
            fails_means="The pool is not imported. What the node saw is read again before another way is taken.",
        ),
        verify(
            "verified-at-once",
            "Verify that it is read-only",
            "The node looks again, and says that nothing can be written.",
            (the_pool_is_imported_here, the_pool_is_read_only, the_pool_can_be_read),
            sources=AFTERWARDS,
            then="use",
        ),
        verify(
            "look-again",
            "It did not come in: have the node look again",
            "Labels and uberblocks say whether one disk is to blame. What zpool advises in such a case is not followed.",
            (what_can_be_imported_is_fresh, the_pool_is_not_imported_here),
            sources=SOURCES,
        ),
        DecideStep(
            slug="why",
            title="Choose how to go on",
            why=(
                "If one disk has a different history from all others, the pool is whole without it, and a rewind would follow the wrong"
                " disk."
            ),
            guards=(what_can_be_imported_is_fresh,),
            param="way",
            options=why_it_failed,
            branches=(END, "image"),
        ),
        *order(
            DRY_RUN,
            "Ask what a rewind would discard",
            zpool_import_dry_run,
            import_params,
            (*GUARDS, no_disk_tells_another_story),
            "Always with readonly=on: where nothing has to be discarded, this imports the pool although it is called a dry run.",
            approvals=1,
            opens=HELD,
            learns=from_the_dry_run,
            learned=("dry_run", "rewind_to", "rewind_loss"),
        ),
        verify(
            "look-after-dry-run",
            "See whether the dry run imported the pool",
            "Its name promises nothing; the list of imported pools does.",
            (what_can_be_imported_is_fresh,),
            sources=SOURCES,
        ),
        DecideStep(
            slug="offer",
            title="Choose by its result",
            why="The state it would go back to, and what is left out, stand beside each choice.",
            guards=(what_can_be_imported_is_fresh,),
            param="offer",
            options=after_the_dry_run,
            branches=("verify-import", "nothing-imported"),
        ),
        *order(
            "rewind",
            "Import it as it was then, read-only",
            zpool_import_rewind,
            import_params,
            (*GUARDS, no_disk_tells_another_story, a_rewind_is_offered),
            "Two transaction groups back at the most, and nothing is written: what is left out stays on the disks.",
            confirm=ConfirmStep(
                slug="confirm-rewind",
                title="Confirm what is left out",
                why="You type what will be missing from what you see.",
                phrase=pool_and_loss,
                phrase_hint="Type the pool's name, the word loses, and how much, as the plan says it.",
            ),
            approvals=1,
            adds=what_is_lost,
            opens=HELD,
            fails_to="nothing-imported",
            fails_means="Neither way imports the pool. It is left as it was, and nothing was written.",
        ),
        verify(
            "verify-import",
            "Verify that it is read-only",
            "The node looks again, and says that nothing can be written.",
            (the_pool_is_imported_here, the_pool_is_read_only, the_pool_can_be_read),
            sources=AFTERWARDS,
        ),
        ManualStep(
            slug="use",
            title="Look, and copy out what is needed",
            why="Datasets can be listed, read, and sent. A read-only pool cannot be scrubbed, repaired, or turned into a writable one.",
            guards=(the_pool_is_imported_here, the_pool_is_read_only),
            asks="Say what was looked at or copied, and what the next step is.",
            judges=what_was_seen,
        ),
        *let_go_and_verify(then=END),
        verify(
            "nothing-imported",
            "Verify that nothing is left imported",
            "The node looks again.",
            (the_pool_is_not_imported_here,),
            sources=AFTERWARDS,
            closes=(HELD.slug,),
        ),
        ManualStep(
            slug="image",
            title="Image the disks and hand over",
            why="No import that writes nothing succeeded. The next attempt may be the last, so every disk is imaged first.",
            asks="Say who has taken over, and where the images of the disks are.",
            judges=who_has_taken_over,
        ),
        # the way back
        *WAY_BACK,
    ),
)
