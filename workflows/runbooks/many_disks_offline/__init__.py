"""Many members lost at once have one cause: find it, mend it by hand, bring the members back in order, and scrub.

    lost together -> cause named -> mended -> disks back and quiet -> resumed -> members back -> resilvered -> scrubbed

While they are away no disk is replaced and nothing is cleared: every such step makes it worse. A pool that is resumed and says ONLINE may
have lost writes all the same, so the run ends with a scrub that found nothing, not before.
"""

from collections.abc import Mapping

from agents.operations import zpool_bring_back, zpool_clear, zpool_scrub
from agents.operations._pool import IO
from workflows.analysis.links import look_again, paths_and_phys, read_quiet
from workflows.engine.core import CheckStep, DecideStep, ManualStep, Option, Params, Progress, Runbook, Verdict, WaitStep, ok, refuse
from workflows.facts import FleetFacts, known, lookup
from workflows.guards import mass
from workflows.guards.modes import no_scan_runs_on_the_pool
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.subject import the_pool
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import named, order, verify, what_must_be_held
from workflows.runbooks._replacing import how_far_the_resilver_is, how_far_the_scrub_is
from workflows.situations.many_disks_offline import SUSPECTS, Group

AT_THE_RACK_SECONDS = 12 * 3600
CATCH_UP_SECONDS = 48 * 3600
SCRUB_SECONDS = 21 * 24 * 3600
BACK_GUARDS = (
    mass.what_a_mass_event_reads_is_fresh,
    mass.the_disks_are_back,
    the_pool_is_imported_here_and_nowhere_else,
)
CLEAR_GUARDS = (*BACK_GUARDS, mass.it_was_suspended_by_io_errors, mass.everything_is_quiet)
BRING_GUARDS = (*BACK_GUARDS, the_pool_is_not_suspended, mass.everything_is_quiet)
SCRUB_GUARDS = (
    mass.what_a_mass_event_reads_is_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    mass.every_member_that_went_is_back,
    mass.no_vdev_is_beyond_rebuilding,
    no_scan_runs_on_the_pool,
)


def causes_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """What the lost disks hang on. Everything that fits is named, for the hands to look at one after the other."""
    found = mass.the_groups(facts, params)
    if not known(found):
        return ()
    any_disk = Option(
        "its disks", "Look at the disks of the pool", "Nothing is known that they share.", (mass.many_were_lost_together(facts, params),)
    )
    return tuple(option for group in found for option in _causes(group)) or (any_disk,)


def _causes(group: Group) -> tuple[Option, ...]:
    count = len(group.lost)
    detail = SUSPECTS[group.thing.kind] if group.whole else f"{count} members hang on {group.thing.words}, where other disks still work."
    first = Option(group.thing.words, f"Look at {group.thing.words}", detail, (ok(f"{count} lost members hang on it."),))
    others = (
        Option(thing.words, f"Look at {thing.words}", SUSPECTS[thing.kind], (ok("The same disks hang on it."),)) for thing in group.also
    )
    return (first, *others)


def watch_it(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    node = lookup.node(facts, params.get("node", ""))
    if not known(node) or not known(node.ages) or not known(node.disks):
        return {}
    source = "sas_phys" if known(node.fabric) else "block"
    if source not in node.ages:
        return {}
    return {"quiet": look_again(paths_and_phys(node), params.get("quiet", ""), at - node.ages[source]).text}


def who_is_back(facts: FleetFacts, params: Params) -> Progress:
    pool, quiet = the_pool(facts, params), read_quiet(params.get("quiet", ""))
    if not known(pool):
        return Progress(pool.reason)
    node, gone = facts.nodes[params["node"]], mass.away(pool)
    back = sum(mass.is_back(node, leaf) for _, leaf in gone)
    return Progress(f"{back} of {len(gone)} disks are back; quiet for {quiet.seconds if quiet else 0} s.")


def clear_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "why": IO}


def bring_back_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """The members in the order in which they are brought back."""
    pool = the_pool(facts, params)
    guids = mass.bring_back_order(facts.nodes[params["node"]], pool) if known(pool) else ()
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "vdev_guids": " ".join(map(str, guids))}


def what_was_mended(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    """Whoever reads the ledger must be able to find the plug again."""
    if len(text.split()) < 2:
        return (refuse("Name what was changed and where: the cable or module, and the end that was touched."),)
    return (ok(f"Changed: {text}."),)


RUNBOOK = Runbook(
    slug="many-disks-offline",
    title="Bring back members that were lost together",
    purpose="Several members of a pool went at once. That is a cable, an expander, an HBA, a shelf or its power, and the disks are mostly "
    "well. This names what they share, waits until it is mended and quiet, brings the members back in order, and scrubs.",
    states="lost together -> cause named -> mended -> disks back and quiet -> resumed -> members back -> resilvered -> scrubbed",
    point_of_no_return="",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that they were lost together",
            why="One lost disk is replaced; many are brought back. While this stands, no runbook replaces a disk of this node.",
            guards=(
                mass.what_a_mass_event_reads_is_fresh,
                mass.many_were_lost_together,
                allowed(zpool_bring_back),
                released(zpool_bring_back),
            ),
        ),
        DecideStep(
            slug="cause",
            title="Name what they share",
            why="By HBA, expander, enclosure, neighbouring bays, or the minute in which they went. What is nearer to the host comes first.",
            guards=(mass.what_a_mass_event_reads_is_fresh,),
            param="suspect",
            options=causes_there_are,
        ),
        ManualStep(
            slug="mend",
            title="Mend it at the rack",
            why="Power, cable, plug, I/O module, HBA: one change at a time. Pull no disk and put none in.",
            asks="Say what you changed and at which end.",
            judges=what_was_mended,
            param="mended",
        ),
        WaitStep(
            slug="back",
            title="Wait until the disks are back and quiet",
            why=(
                "Every lost member needs its own disk, running and with its label. Then ten minutes without a new error: a disk on a "
                "link that flaps is lost again."
            ),
            until=mass.the_disks_are_back_and_everything_is_quiet,
            keeps=watch_it,
            learned=("quiet",),
            progress=who_is_back,
            sources=("block", "zdb_label", "zpool_status"),
            deadline_seconds=AT_THE_RACK_SECONDS,
        ),
        *order(
            "clear",
            "Let the pool take writes again",
            zpool_clear,
            clear_params,
            CLEAR_GUARDS,
            "The writes that wait are done now. If it hangs, something is still broken: nothing is queued behind it.",
            approvals=1,
            needed=mass.the_pool_is_suspended,
        ),
        WaitStep(
            slug="resumed",
            title="Check that it takes writes",
            why="A pool that is suspended again at once still lacks disks.",
            until=the_pool_is_not_suspended,
            sources=("zpool_status", "zpool_status_guid", "kstat_pools"),
            deadline_seconds=1800,
        ),
        *order(
            "online",
            "Bring the members back in order",
            zpool_bring_back,
            bring_back_params,
            BRING_GUARDS,
            "The vdev that survives least comes first. A member that serves already stays as it is.",
            needed=mass.some_members_are_away,
        ),
        WaitStep(
            slug="whole",
            title="Wait until all have caught up",
            why="Each is resilvered with what was written while it was away. No disk is touched meanwhile.",
            until=mass.every_member_that_went_is_back,
            sources=("zpool_status", "zpool_status_guid"),
            progress=how_far_the_resilver_is,
            deadline_seconds=CATCH_UP_SECONDS,
        ),
        *order(
            "scrub",
            "Scrub the pool",
            zpool_scrub,
            named(*zpool_scrub.PARAMS),
            SCRUB_GUARDS,
            "Everything the pool holds is read and checked. It takes a day or more on a large pool, which serves meanwhile.",
        ),
        WaitStep(
            slug="scrubbed",
            title="Wait for the scrub",
            why="“No known data errors” covers only blocks that were read since. Only a scrub without findings covers all.",
            until=mass.the_scrub_found_nothing,
            alarm=mass.the_scrub_goes_well,
            sources=("zpool_status",),
            progress=how_far_the_scrub_is,
            deadline_seconds=SCRUB_SECONDS,
        ),
        verify(
            "verify",
            "Verify that all is well",
            "The node looks again: every member that went away serves, the scrub found nothing, and no data is damaged.",
            (mass.every_member_that_went_is_back, mass.the_scrub_found_nothing, mass.no_data_is_damaged, mass.no_vdev_is_beyond_rebuilding),
        ),
    ),
)
