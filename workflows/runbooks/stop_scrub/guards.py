"""What stop-scrub alone asks: whether there is a scrub to stop, and what is lost with it."""

from workflows.engine.core import Params, Verdict, guard, ok, refuse
from workflows.facts import FleetFacts, PoolFacts, ScanFacts, known, need
from workflows.facts.read.data_errors import data_errors
from workflows.guards.subject import the_pool

UNDER_WAY = ("running", "paused")
OF_ERRORS = "error scrub"  # of the blocks that are known to be damaged, 2.2 and newer: `zpool scrub -s` ends that one


def _of_the_whole(pool: PoolFacts) -> ScanFacts | None:
    scans = pool.scans if known(pool.scans) else ()
    found = (scan for scan in scans if scan.function == "scrub" and scan.state in UNDER_WAY and not scan.text.startswith(OF_ERRORS))
    return next(found, None)


@guard
def a_scrub_runs_or_is_paused(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    other = next((scan for scan in need(pool.scans) if scan.state in UNDER_WAY and scan.function != "scrub"), None)
    if other is not None:
        return refuse(
            f"A {other.function} of {pool.name} is {other.state}, and is never stopped here: a disk misses data until it ends. End this run."
        )
    scan = _of_the_whole(pool)
    if scan is None:
        return refuse(f"No scrub of {pool.name} runs or is paused, so there is none to stop. End this run.")
    return ok(f"A scrub of {pool.name} is {scan.state}{f' at {scan.percent} %' if scan.percent else ''}.")


@guard
def no_scrub_runs_or_is_paused(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    need(pool.scans)
    scan = _of_the_whole(pool)
    if scan is not None:
        return refuse(
            f"The scrub of {pool.name} is {scan.state}. Look at `zpool history -i {pool.name}`: another may have been begun since."
        )
    return ok(f"No scrub of {pool.name} runs or is paused.")


def what_is_lost(facts: FleetFacts, params: Params) -> str:
    """A line for each thing; what is not known is a line too."""
    pool = the_pool(facts, params)
    if not known(pool):
        return f"Not known: what is lost. {pool.reason}"
    scan, errors = _of_the_whole(pool), data_errors(pool)
    done = f" It is at {scan.percent} %." if scan is not None and scan.percent else ""
    lines = [f"Its place is lost: the next scrub of {pool.name} begins anew, and this one counts as none.{done}"]
    if errors is not None:
        lines.append(
            f"Damaged data of {pool.name} is listed. What the last whole scrub listed and this one has not read yet is listed no more afterwards, and is damaged all "
            "the same. Keep the list first: its pool's page has it as a file."
        )
    elif not pool.errors:
        lines.append(
            f"Not known: whether damaged data of {pool.name} is listed, which the list may lose. `zpool status -v {pool.name}` shows it."
        )
    return "\n".join(lines)
