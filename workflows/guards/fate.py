"""Whether the fate of the pool comes before any change of its disks."""

from workflows.analysis import pool_fate
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, need
from workflows.guards.subject import the_pool
from workflows.situations import gates_of

FIRST = {
    "hung": "Find out why `zpool` does not return there before anything else.",
    "suspended": "Let its I/O go on first.",
    "down": "Open it again first: its situation says how.",
    "held": "Fence one of the two hosts first.",
    "moved": "Export it and look for it by stable names first.",
    "unknown": "Have the node look again.",
}
READ_ONLY = "Import it writable first, when it is known why it was imported read-only."


@guard
def nothing_of_the_pool_comes_first(facts: FleetFacts, params: Params) -> Verdict:
    """While a pool is down, frozen, held elsewhere or read-only, or many of its members fail at once, none is replaced or taken out.

    Asked before a run changes anything and with each plan and order that takes a member out or puts one in; not of a wait, a look
    afterwards, or the way back.
    """
    pool = need(the_pool(facts, params))
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    need(pool.suspended, f"Whether {pool.name} is suspended is not known")
    node = facts.nodes[params["node"]]
    found = pool_fate.fate(node, pool, facts)
    if found.verdict == "unknown":
        return unknown(f"{found.reason} {FIRST['unknown']}")
    if found.gates:
        return refuse(f"{found.reason} {FIRST.get(found.verdict, READ_ONLY)}")
    read_only = pool_fate.is_read_only(pool)
    need(read_only, f"Whether {pool.name} is imported read-only is not known")
    return _of_situations(FleetFacts({node.node: node}, at=facts.at), params, pool.name)


def _of_situations(facts: FleetFacts, params: Params, pool: str) -> Verdict:
    standing = gates_of(facts, params["node"], pool)
    if standing:
        return refuse(f"{standing[0].title}. Settle that first; changing disks now makes it worse.")
    return ok(f"{pool} serves, and nothing that stands on it comes before its disk.")
