"""What is asked of a scrub: whether it may begin or go on, whether it runs, and how it ended."""

from workflows.analysis import scrub_result
from workflows.engine.core import Params, Verdict, guard, ok, refuse
from workflows.facts import FleetFacts, PoolFacts, ScanFacts, known, lookup, need
from workflows.guards.subject import the_pool


def is_paused(scan: ScanFacts) -> bool:
    """A whole scrub. An error scrub, 2.2 and newer, is resumed by other words."""
    return scan.function == "scrub" and scan.state == "paused" and not scan.text.startswith("error scrub")


def a_scrub_is_paused(facts: FleetFacts, params: Params) -> bool:
    pool = the_pool(facts, params)
    return known(pool) and known(pool.scans) and any(is_paused(scan) for scan in pool.scans)


@guard
def nothing_but_a_paused_scrub_is_under_way(facts: FleetFacts, params: Params) -> Verdict:
    """`zpool scrub` lets a paused scrub go on where it stopped; while anything else is scanned it is refused."""
    pool = need(the_pool(facts, params))
    under_way = [scan for scan in need(pool.scans) if scan.state in ("running", "paused") and not is_paused(scan)]
    if under_way:
        return refuse(f"A {under_way[0].function} of {pool.name} is {under_way[0].state}. Wait until it ends.")
    if a_scrub_is_paused(facts, params):
        return ok(f"A scrub of {pool.name} is paused; it goes on where it stopped.")
    return ok(f"No scan runs on {pool.name}.")


@guard
def the_scrub_goes_on_in_its_hours(facts: FleetFacts, params: Params) -> Verdict:
    """A paused scrub never goes on by itself, also not after a reboot. One that runs is to be paused when the hours for scrubs are over."""
    pool = need(the_pool(facts, params))
    scans = need(pool.scans)
    if any(is_paused(scan) for scan in scans):
        return refuse(
            f"The scrub of {pool.name} was paused by a person or a program. Type `zpool scrub {pool.name}` when the reason is over, "
            "or end this run; the runbook can be begun again and lets it go on where it stopped."
        )
    if any(scan.function == "scrub" and scan.state == "running" for scan in scans) and (over := _hours_are_over(facts, params)):
        return refuse(over)
    return ok(f"The scrub of {pool.name} is not paused.")


def _hours_are_over(facts: FleetFacts, params: Params) -> str:
    """Empty while they are not, and where no hours are known."""
    node = lookup.node(facts, params["node"])
    if not known(node) or not known(node.policy) or not known(facts.at) or node.policy.may_scrub(facts.at):
        return ""
    return (
        f"The hours in which {node.node} allows scrubs are over, and the scrub of {params['pool']} runs. {node.policy.scrubs_until(facts.at)} "
        "End this run: the scrub is paused and keeps its place, and the runbook, begun again in these hours, lets it go on."
    )


@guard
def the_scrub_is_over(facts: FleetFacts, params: Params) -> Verdict:
    """However it ended. Whether it came to its end and what it found is asked afterwards."""
    pool = need(the_pool(facts, params))
    need(pool.scans)
    scan = scrub_result.of_the_run(pool)
    if scan is None:
        return refuse(f"{pool.name} shows no scrub.")
    if scan.function == "scrub" and scan.state in ("running", "paused"):
        return refuse(f"The scrub of {pool.name} is {scan.state}.")
    return ok(_how_it_ended(pool, scan))


def _how_it_ended(pool: PoolFacts, scan: ScanFacts) -> str:
    if scan.function != "scrub":
        return f"A resilver took the place of the scrub of {pool.name}."
    return f"The scrub of {pool.name} was cancelled." if scan.state == "canceled" else f"The scrub of {pool.name} came to its end."


@guard
def the_scrub_came_to_its_end(facts: FleetFacts, params: Params) -> Verdict:
    """A scrub that was cancelled, or replaced by a resilver, left a part of the pool unchecked."""
    pool = need(the_pool(facts, params))
    need(pool.scans)
    scan = scrub_result.of_the_run(pool)
    if scan is None:
        return refuse(f"{pool.name} shows no scrub. Look at `zpool history -i {pool.name}`, end this run and begin anew.")
    if scan.function == "scrub" and scan.state == "finished":
        return ok(f"The scrub of {pool.name} came to its end.")
    if scan.function != "scrub":
        return refuse(
            f"A resilver took the place of the scrub of {pool.name}, and what the scrub had not read is unchecked. "
            "Let the resilver end, then end this run and begin the scrub anew."
        )
    if scan.state == "canceled":
        return refuse(
            f"The scrub of {pool.name} was cancelled, and what it had not read is unchecked. `zpool history -i {pool.name}` "
            "shows when. End this run, and begin a new one when the reason is over."
        )
    return refuse(f"The scrub of {pool.name} is {scan.state}. Wait until it ends.")


@guard
def a_scrub_runs(facts: FleetFacts, params: Params) -> Verdict:
    """What can be paused; a scrub that ended or is paused already needs no command."""
    pool = need(the_pool(facts, params))
    if any(scan.function == "scrub" and scan.state == "running" for scan in need(pool.scans)):
        return ok(f"A scrub of {pool.name} runs.")
    return refuse(f"No scrub of {pool.name} runs, so there is nothing to pause.")


@guard
def no_scrub_runs(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    if any(scan.function == "scrub" and scan.state == "running" for scan in need(pool.scans)):
        return refuse(f"A scrub of {pool.name} still runs. Pause it with `zpool scrub -p {pool.name}`, or let it end.")
    return ok(f"No scrub of {pool.name} runs.")
