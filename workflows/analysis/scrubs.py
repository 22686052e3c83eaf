"""How long ago a pool was read through, for whoever plans to take a disk out of it.

An old scrub refuses nothing. It is a warning: the blocks that went bad meanwhile show when a new disk is filled from the others.
"""

from workflows.analysis.last_scrub import DAY, WARN_DAYS, LastScrub, last_scrub_of
from workflows.engine.core import Params
from workflows.facts import FleetFacts, Known, known
from workflows.guards.subject import the_pool

__all__ = ["DAY", "LastScrub", "last_scrub", "of_the_last_scrub", "the_last_scrub_is_long_ago"]


def last_scrub(facts: FleetFacts, params: Params) -> Known[LastScrub]:
    pool = the_pool(facts, params)
    return last_scrub_of(facts, facts.nodes[params["node"]], pool) if known(pool) else pool


def of_the_last_scrub(facts: FleetFacts, params: Params) -> dict[str, str]:
    """For a plan: what whoever approves reads of it."""
    last = last_scrub(facts, params)
    return {"last": last.words if known(last) else f"not known: {last.reason}"}


def the_last_scrub_is_long_ago(facts: FleetFacts, params: Params) -> str:
    """What went bad on the other disks since the last scrub shows only when the new disk is filled from them."""
    last = last_scrub(facts, params)
    if known(last) and not last.is_old:
        return ""
    return f"{_text_of(last, params.get('pool', ''))} {_meaning(facts, params)}"


def _text_of(last: Known[LastScrub], pool: str) -> str:
    if not known(last):
        return f"When {pool} was last scrubbed is not known: {last.reason}"
    if last.found:
        return f"The last scrub of {pool} ended {last.days} days ago, on {last.at:%Y-%m-%d}; more than {WARN_DAYS} days is long."
    return f"No scrub of {pool} came to its end in the {last.days} days that its history covers, since {last.at:%Y-%m-%d}."


def _meaning(facts: FleetFacts, params: Params) -> str:
    pool = the_pool(facts, params)
    runs = known(pool) and known(pool.scans) and any(s.function == "scrub" and s.state in ("running", "paused") for s in pool.scans)
    first = "let the scrub that has begun end first" if runs else f"run `zpool scrub {params.get('pool', '')}` to its end first"
    return (
        "What went bad meanwhile on the other disks shows only while the new disk is filled, with this disk gone and less left to mend it "
        f"from. Where this disk can wait, {first}."
    )
