"""Take a pool back to a point in time before its damage: read-only first, and copied out rather than gone back to.

    looked -> checked -> point chosen -> imported as it was then, read-only -> compared -> copied out -> let go of
      -> (copying is not enough) let go of -> disks imaged -> gone back for good -> past the old end -> verified
      -> (no point is any good, or it is too far back) disks imaged -> a person or the vendor takes over

Until "rewind" nothing is written to any disk. From "rewind" on there is only forward: what is newer than the point is gone, and until
the pool has written past it, neither an export nor a boot may come between. Nothing is forced, and what -F does not reach is gone back
to for writing by people alone.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_export_readonly, zpool_import_txg, zpool_rewind
from workflows.analysis.rewind_points import Point, Timeline, date
from workflows.engine.core import (
    END,
    CheckStep,
    ConfirmStep,
    DecideStep,
    Guard,
    Loop,
    ManualStep,
    Option,
    Params,
    Progress,
    Runbook,
    Verdict,
    WaitStep,
    ask,
    ok,
    refuse,
)
from workflows.facts import FleetFacts, known
from workflows.guards.importing import (
    the_pool_can_be_read,
    the_pool_is_imported_here,
    the_pool_is_not_imported_here,
    the_pool_is_read_only,
    what_can_be_imported_is_fresh,
)
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.rewinding import (
    BEFORE_GUARDS,
    BY_HAND,
    POINT_GUARDS,
    SENTENCE_MIN,
    agreed,
    every_disk_is_imaged,
    it_came_in_at_the_point_chosen,
    it_has_passed_what_it_left_behind,
    it_is_still_imported,
    it_landed_further_back,
    it_lost_no_more_than_was_agreed,
    older_points,
    the_log_says_where_it_came_in,
    the_pool_is_imported_for_writing,
    the_rewind_is_short_enough,
    the_timeline,
    what_it_took,
)
from workflows.runbooks._imported import AFTERWARDS, HELD, SOURCES, WAY_BACK, let_go, let_go_and_verify, what_was_seen
from workflows.runbooks._orders import named, order, verify, what_must_be_held

IMAGE = "image"
PASSING_SECONDS = 3600
RESULT = (*AFTERWARDS, "dbgmsg")
PASSING = ("zpool_status", "zpool_status_guid", "kstat_txgs")
ROUND = (*BEFORE_GUARDS, *POINT_GUARDS)
FOR_GOOD = (*ROUND, the_rewind_is_short_enough, every_disk_is_imaged)
HELD_HERE = (the_pool_is_imported_here, the_pool_is_read_only, the_pool_can_be_read)
LOOKED_AT = (*HELD_HERE, it_came_in_at_the_point_chosen)


def every_point(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """The whole timeline, the newest first: each point with what it costs, and who holds it; and the way out."""
    line = the_timeline(facts, params)
    points = tuple(_point(point, line, facts, params) for point in line.points) if known(line) else ()
    fresh = ask((what_can_be_imported_is_fresh,), facts, params)
    out = "Nothing is tried. Every disk is imaged, and a person or the vendor takes over."
    return (*points, Option(IMAGE, "No point is any good: image the disks and hand over", out, fresh, leads_to="verify-let-go"))


def _point(point: Point, line: Timeline, facts: FleetFacts, params: Params) -> Option:
    txg = str(point.txg)
    when = " and ".join(map(date, point.times))
    held = f"Written {when}. {len(point.holders)} of {point.disks} disks hold it: {', '.join(point.holders)}."
    older = (p for p in line.points if p.txg < point.txg and not p.short and len(p.times) == 1)
    kept = {"older": ";".join(f"{p.txg}={p.loss}" for p in older)}
    fixes = {"newest_txg": str(line.points[0].txg), "loss": point.loss, **(kept if kept["older"] else {})}
    against = ask(POINT_GUARDS, facts, {**params, "txg": txg})
    return Option(txg, f"txg {txg} = lose {point.loss}", held, against, fixes=fixes)


def where_it_landed(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    took = what_it_took(facts, params)
    loss = older_points(params).get(took, "")
    here = ask((*HELD_HERE, it_landed_further_back), facts, params)
    return (
        Option(
            "accept",
            f"Look at it as it came in: txg {took or 'not known'} = lose {loss or 'not known'}",
            "Nothing was written. Whatever is newer than this cannot be loaded by this way.",
            here,
            fixes={"took": took, "took_loss": loss} if took and loss else {},
        ),
        Option(
            "let-go",
            "Let go of it, and image the disks",
            "It is further back than is of any use.",
            ask((the_pool_is_imported_here, the_pool_is_read_only), facts, params),
            leads_to="plan-let-go",
        ),
    )


def what_to_do_with_it(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    seen = ask(LOOKED_AT, facts, params)
    return (
        Option(
            "evacuate",
            "Copy the data out, and write nothing",
            "The safe way: the disks stay as they are, whatever comes of the copy.",
            seen,
        ),
        Option(
            "back",
            "Let go of it; image the disks, and decide then whether to go back for good",
            f"A rewind for good discards {the_loss(params)} for ever. Before anybody does, every disk is imaged.",
            ask((the_pool_is_imported_here, the_pool_is_read_only), facts, params),
            leads_to="plan-let-go",
        ),
    )


def what_after_the_images(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    return (
        Option(
            "rewind",
            "Go back for good",
            f"What the pool wrote in its last {the_loss(params) or 'seconds'} is discarded for ever. The images are the only way to it then.",
            ask(FOR_GOOD, facts, params),
        ),
        Option("hand-over", "Hand over to a person or the vendor", BY_HAND, ask((every_disk_is_imaged,), facts, params), leads_to=END),
    )


def every_disk_was_imaged(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    return ask((every_disk_is_imaged,), facts, {**params, "images": text})


def where_it_was_copied(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    if len(text) < SENTENCE_MIN:
        return (refuse("Say what was copied, where to, and how it was compared."),)
    return (ok("It is noted."),)


def how_far_it_has_come(facts: FleetFacts, params: Params) -> Progress:
    return Progress(it_has_passed_what_it_left_behind(facts, params).reason)


def the_loss(params: Params) -> str:
    return params.get("took_loss") or params.get("loss", "")


def pool_and_loss(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['pool']} loses {the_loss(params)}"


def what_is_left_out(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"rewind": {"to": f"txg {agreed(params)}", "from": f"txg {params.get('newest_txg', '')}", "left_out": the_loss(params)}}


YOUNG = Loop(
    slug="young",
    what=lambda params: (
        f"{params['pool']} on {params['node']} went back in time. Until it has written past txg {params.get('newest_txg', '')}, an export or "
        "a reboot may bring the old timeline back (OpenZFS #19163)."
    ),
    undo="Leave it imported and in use until it has passed that txg; `zpool sync` after some writing helps.",
    over=it_has_passed_what_it_left_behind,
)
PASSED_WHY = (
    "The rings still hold newer uberblocks of the timeline that was left, and the next import would follow those (OpenZFS #19163). So "
    "neither export the pool nor reboot the node before it has written past them. Use the pool, or write something and `zpool sync`."
)
at_the_point = named(*zpool_import_txg.PARAMS)
for_good = named(*zpool_rewind.PARAMS)


def _passed(slug: str, *, alarm: Guard | None = None, undoes: str = "") -> WaitStep:
    return WaitStep(
        slug=slug,
        title="Wait until it has written past what it left behind",
        why=PASSED_WHY,
        until=it_has_passed_what_it_left_behind,
        progress=how_far_it_has_come,
        sources=PASSING,
        deadline_seconds=PASSING_SECONDS,
        closes=(YOUNG.slug,),
        alarm=alarm,
        undoes=undoes,
    )


RUNBOOK = Runbook(
    slug="rewind-import",
    title="Take a pool back to a point before its damage",
    purpose="No import works, and no single disk is to blame. This shows every point in time that the disks still hold and what each costs, "
    "imports the pool as it was then without writing, and has the data copied out. Only where ZFS still keeps what it freed, with every "
    "disk imaged and another person's word, the pool itself goes back.",
    states="looked -> checked -> point chosen -> imported read-only -> compared -> copied out, or imaged and gone back -> past the old end",
    point_of_no_return="rewind",
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
            "Have the node read every label and every uberblock",
            "The timeline is what is on the disks now. Looking imports nothing.",
            (what_can_be_imported_is_fresh,),
            sources=SOURCES,
        ),
        CheckStep(
            slug="check",
            title="Check that no host has it, and that there is no other way",
            why=(
                "A rewind is for a pool that cannot be imported in any other way. Where one disk has a different history from all "
                "others, that disk is deleted instead. A pool that another host has or may have imported is left alone. What is not "
                "known counts as no."
            ),
            guards=(*BEFORE_GUARDS, allowed(zpool_import_txg, zpool_export_readonly), released(zpool_import_txg, zpool_export_readonly)),
        ),
        DecideStep(
            slug="point",
            title="Choose the point in time",
            why="Each point that a disk still holds, what would be missing, and which disks hold it. The one that loses least is tried first. "
            "Choosing writes nothing, and neither does the next step.",
            guards=(what_can_be_imported_is_fresh,),
            param="txg",
            options=every_point,
            branches=("verify-let-go",),
            learned=("newest_txg", "loss", "older"),
        ),
        *order(
            "import-at",
            "Import it as it was then, read-only",
            zpool_import_txg,
            at_the_point,
            ROUND,
            "By guid, with -T, readonly=on, no cache file and no mounts. Nothing is written: what is newer stays on the disks. It may take "
            "hours, as ZFS may read all metadata before it accepts them.",
            approvals=1,
            adds=what_is_left_out,
            opens=HELD,
            fails_to="verify-let-go",
            fails_means="The pool did not come in at this point. It is made sure that nothing of it is held.",
        ),
        verify(
            "verify-import",
            "Verify that it came in read-only, and that ZFS says at which point",
            "-T is an upper bound: ZFS goes further back and prints nothing of it. Its log names the txg it took.",
            (*HELD_HERE, the_log_says_where_it_came_in),
            sources=RESULT,
        ),
        DecideStep(
            slug="landed",
            title="It came in further back than was chosen: look at that, or let go of it",
            why="The chosen txg could not be loaded, and ZFS took the next older one that could. What that loses stands beside the choice.",
            guards=(the_pool_is_imported_here, the_pool_is_read_only),
            param="landed",
            options=where_it_landed,
            branches=("plan-let-go",),
            needed=it_landed_further_back,
            learned=("took", "took_loss"),
        ),
        ManualStep(
            slug="compare",
            title="Look at the data, and compare",
            why="Datasets can be listed, read and sent. See whether this is the state you want before anything is decided.",
            guards=LOOKED_AT,
            asks="Say what was looked at, whether it is whole, and what is missing.",
            judges=what_was_seen,
        ),
        DecideStep(
            slug="way",
            title="Choose what to do with it",
            why="Copying out writes nothing and can be repeated. A rewind for writing cannot be undone.",
            guards=LOOKED_AT,
            param="way",
            options=what_to_do_with_it,
            branches=("plan-let-go",),
        ),
        ManualStep(
            slug="evacuate",
            title="Copy the data out",
            why="`zfs send` of snapshots and a copy of heads both work from a read-only pool. Make the pool anew only from a copy that was "
            "compared, and on other disks while these are still needed.",
            guards=LOOKED_AT,
            asks="Say what was copied, where to, and how it was compared.",
            judges=where_it_was_copied,
        ),
        *let_go_and_verify(then=END),
        *let_go("let-go"),
        verify(
            "verify-let-go",
            "Verify that it is not imported",
            "The node looks again. A disk is imaged only while it is not in use.",
            (the_pool_is_not_imported_here, what_can_be_imported_is_fresh),
            sources=SOURCES,
            closes=(HELD.slug,),
        ),
        ManualStep(
            slug="image",
            title="Stop: image every disk first",
            why="The next attempt for writing may be the last. Images of every member, made before it, are the only way back.",
            guards=(the_pool_is_not_imported_here,),
            asks="Say how many disks are imaged, by whom, and where the images are.",
            judges=every_disk_was_imaged,
            param="images",
        ),
        DecideStep(
            slug="after",
            title="Choose whether to go back for good",
            why="Two choices are left, and one of them destroys the newer data.",
            guards=(the_pool_is_not_imported_here,),
            param="after",
            options=what_after_the_images,
            branches=(END,),
        ),
        *order(
            "rewind",
            "Go back for good",
            zpool_rewind,
            for_good,
            FOR_GOOD,
            "By guid, with -F: two transaction groups back at the most. What is newer is discarded for ever. Nothing is forced or mounted.",
            confirm=ConfirmStep(
                slug="confirm-rewind",
                title="Confirm what is lost",
                why="You type what is lost for good.",
                phrase=pool_and_loss,
                phrase_hint="Type the pool's name, the word loses, and how much, as the plan says it.",
            ),
            approvals=1,
            adds=what_is_left_out,
            opens=YOUNG,
        ),
        verify(
            "verify-rewind",
            "Verify where it came in",
            "The node looks again, and ZFS's own log says which txg it took.",
            (the_pool_is_imported_here, the_pool_is_imported_for_writing, the_pool_can_be_read, it_lost_no_more_than_was_agreed),
            sources=RESULT,
        ),
        _passed("passed", alarm=it_is_still_imported),
        verify(
            "verify",
            "Verify that it serves",
            "Scrub it next: a rewind is over only when every block has been read.",
            (the_pool_is_imported_here, the_pool_is_imported_for_writing, the_pool_can_be_read),
            sources=AFTERWARDS,
        ),
        # the way back
        *WAY_BACK,
        _passed("passed-after-all", undoes=YOUNG.slug),
    ),
)
