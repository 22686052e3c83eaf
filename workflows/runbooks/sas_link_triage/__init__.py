"""Find the weakest SAS link of a node, name it with both its ends, and change one thing at a time until it is quiet.

    errors grow -> watched -> weakest link named -> one thing changed -> quiet for ten minutes

No command is given: cables and bays are hands' work. What hangs on a cable is counted before anybody takes it out, and a link that ends at
one disk leads to blink-and-replace, which takes that disk out of service first.
"""

from collections.abc import Mapping

from workflows.analysis.links import Link, links, look_again, phy_texts, read_quiet, watched_seconds
from workflows.engine.core import (
    END,
    CheckStep,
    DecideStep,
    ManualStep,
    Option,
    Params,
    Progress,
    Runbook,
    Verdict,
    VerifyStep,
    WaitStep,
    ok,
    refuse,
)
from workflows.facts import FleetFacts, known, lookup
from workflows.guards import links as guards

WATCH_SECONDS = 2 * 3600
QUIET_DEADLINE_SECONDS = 6 * 3600


def links_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """Every link whose errors grow, the weakest first; only that one can be chosen, as one thing is changed at a time."""
    node = lookup.node(facts, params.get("node", ""))
    found = links(node) if known(node) else node
    if not known(found):
        return ()
    ill = [link for link in found if link.grows]
    quiet = Option("none", "No link counts errors", "Nothing grows now.", (_nothing_grows(ill),), END)
    return (*(_option(link, ill[0]) for link in ill), quiet)


def _nothing_grows(ill: list[Link]) -> Verdict:
    if ill:
        return refuse(f"{len(ill)} links count errors, most of all {ill[0].ends}.")
    return ok(
        "No counter grows. What the counters show is of the past: one event, like a cable put in, leaves the same number on every lane."
    )


def _option(link: Link, weakest: Link) -> Option:
    verdict = ok(f"{link.numbers}.") if link is weakest else refuse(f"{weakest.ends} is weaker: {weakest.numbers}. One thing at a time.")
    return Option(link.name, f"The link {link.ends}", f"{link.numbers}. {_what_it_means(link)}", (verdict,))


def _what_it_means(link: Link) -> str:
    if link.disk is not None:
        return "Only the link of this one disk: the disk, its bay, or its connector."
    ill = sum(known(p.growth) and p.growth.any for p in link.phys)
    if len(link.phys) > 1 and ill < len(link.phys):
        return "Not all lanes: a lane of the cable, or its plug."
    return "The cable, its plugs, or the port at either end."


def things_to_change(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    link = guards.the_link(facts, params)
    if not known(link):
        return ()
    is_disk = link.disk is not None
    cable = (
        refuse("This link ends at one disk, and there is no cable to it.")
        if is_disk
        else guards.no_pool_lives_by_this_link_alone(facts, params)
    )
    one = ok("Only this disk's link grows.") if is_disk else refuse("This link leads to more than one disk. Look at the cable first.")
    return (
        Option("cable", "Reseat or replace the cable", f"One end after the other: {link.ends}.", (cable,)),
        Option(
            "disk",
            "Take the disk out and look at bay and connector",
            "Go on with blink-and-replace, which takes it out of service first.",
            (one,),
            END,
        ),
        Option("later", "Leave it for a window", "Nothing is changed now. The situation stays open.", (ok("Nothing is touched."),), END),
    )


def the_end_that_was_touched(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    link = guards.the_link(facts, params)
    if not known(link):
        return (refuse(f"{link.reason} Look at the node: the cable may be out."),)
    ends = (link.worst.owner, link.worst.far or "")
    if text in ends:
        return (ok(f"{text} is an end of this link."),)
    return (refuse(f"This link is between {ends[0]} and {ends[1]}, not at {text}. If another cable was touched, put it back as it was."),)


def watch_it(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    """The moment the counters were asked, not the moment we looked: a look at old numbers is no quiet."""
    link = guards.the_link(facts, params)
    if not known(link) or not known(link.node.ages) or "sas_phys" not in link.node.ages:
        return {}
    return {"quiet": look_again(phy_texts(link.phys), params.get("quiet", ""), at - link.node.ages["sas_phys"]).text}


def how_quiet_it_is(facts: FleetFacts, params: Params) -> Progress:
    quiet, link = read_quiet(params.get("quiet", "")), guards.the_link(facts, params)
    if not known(link) or quiet is None:
        return Progress(link.reason if not known(link) else "It was not looked at yet.")
    return Progress(f"{link.numbers}. Quiet for {quiet.seconds} s.", min(100.0, 100.0 * quiet.seconds / guards.QUIET_SECONDS))


def how_long_it_was_watched(facts: FleetFacts, params: Params) -> Progress:
    node = lookup.node(facts, params.get("node", ""))
    seconds = watched_seconds(node) if known(node) else node
    if not known(seconds):
        return Progress(seconds.reason)
    return Progress(f"Watched for {seconds / 60:.0f} minutes.", min(100.0, 100.0 * seconds / guards.WATCHED_SECONDS_MIN))


RUNBOOK = Runbook(
    slug="sas-link-triage",
    title="Find the weakest SAS link, and make it quiet",
    purpose="Phys count errors, and a link that counts errors loses commands before it loses disks. This watches how they grow, names the "
    "weakest link with both its ends and the bay, and changes one thing at a time.",
    states="errors grow -> watched -> weakest link named -> one thing changed -> quiet for ten minutes",
    point_of_no_return="",
    params={"node": "the node whose links count errors"},
    steps=(
        CheckStep(
            slug="check",
            title="Check that the counters are read",
            why="The counters of both ends of every link are needed, and from reports that are not late.",
            guards=(guards.what_link_triage_reads_is_fresh, guards.the_counters_are_known),
        ),
        WaitStep(
            slug="watch",
            title="Watch how they grow",
            why=(
                "A counter keeps its number until a reset, so the number alone does not show errors of today. Two looks some time apart do."
            ),
            until=guards.growth_was_watched,
            progress=how_long_it_was_watched,
            sources=("sas_phys",),
            deadline_seconds=WATCH_SECONDS,
        ),
        DecideStep(
            slug="weakest",
            title="Name the weakest link",
            why="The links whose errors grow, the weakest first, with both ends. Begin with the first one, and change one thing at a time.",
            guards=(guards.what_link_triage_reads_is_fresh, guards.growth_was_watched),
            param="link",
            options=links_there_are,
            branches=(END,),
        ),
        DecideStep(
            slug="change",
            title="Decide what is changed",
            why=(
                "One thing is changed. Disks with no other path than this link are lost meanwhile, so every vdev behind it is checked "
                "for whether it survives that."
            ),
            guards=(guards.what_link_triage_reads_is_fresh,),
            param="what",
            options=things_to_change,
            branches=(END,),
        ),
        ManualStep(
            slug="hands",
            title="Reseat or replace the cable",
            why="One end first, then look. Disks that are lost meanwhile and come back are resilvered by themselves.",
            asks="Type the end that you touched, as it is called here: the HBA (host…) or the expander.",
            judges=the_end_that_was_touched,
            param="touched",
        ),
        WaitStep(
            slug="quiet",
            title="Wait until it is quiet",
            why="Ten minutes without a new error. A reset of the phy sets its counters to 0 and starts the ten minutes again.",
            until=guards.the_link_is_quiet,
            keeps=watch_it,
            learned=("quiet",),
            progress=how_quiet_it_is,
            deadline_seconds=QUIET_DEADLINE_SECONDS,
        ),
        VerifyStep(
            slug="verify",
            title="Verify that everything behind it is there",
            why="The node looks again: every disk behind the link runs, and no pool has lost a member.",
            guards=(guards.the_link_is_quiet, guards.every_disk_behind_it_is_there),
            sources=("sas_phys", "block", "zpool_status", "zpool_status_guid", "zdb_label"),
        ),
    ),
)
