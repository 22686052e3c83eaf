"""What import-without-log alone asks before it does something."""

from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, VdevFacts, known, lookup, need
from workflows.facts.fleet.divergence import rows
from workflows.guards.importing import listed_pool
from workflows.guards.subject import number, the_pool

LOG, LOST = "log", "UNAVAIL"  # a log whose device was opened and holds something else reads FAULTED
HERE = ("ONLINE", "DEGRADED")
SENTENCE_MIN = 20  # characters of what a person states
WHERE_IT_WAS = "Say where the log was looked for, and why it does not come back."


@guard
def only_a_log_of_it_is_lost(facts: FleetFacts, params: Params) -> Verdict:
    listed = need(listed_pool(facts, params))
    if not listed.tops or listed.hides_devices or listed.unread:
        return unknown(
            f"The listing of {listed.name} does not show every vdev, and what it does not show may hold data. Find the missing disks first."
        )
    if away := [
        f"{leaf.name} ({leaf.state})" for role, top in listed.tops if role != LOG for leaf in top.leaves() if leaf.state != "ONLINE"
    ]:
        return refuse(f"Of {listed.name} more than a log is missing: {', '.join(away)}. Bring that back first: power, cable, HBA, shelf.")
    if listed.state not in HERE and not listed.lacks_a_log:
        return refuse(
            f"{listed.name} is listed as {listed.state}, so it does not come in without its log either. Look at the rows of the listing."
        )
    logs = [top for role, top in listed.tops if role == LOG]
    if odd := [f"{top.name} is {top.state}" for top in logs if top.state not in (*HERE, LOST)]:
        return unknown(f"The log {', '.join(odd)}, so it may be there. Look at its label with `zdb -l` before anything is given up.")
    if not (lost := [_of_its_leaves(top) for top in logs if top.state == LOST]):
        return refuse(f"Every log of {listed.name} is there, so nothing has to be lost. Begin import-pool.")
    return ok(f"Of {listed.name} only a log is missing: {'; '.join(lost)}.")


def _of_its_leaves(top: VdevFacts) -> str:
    return ", ".join(leaf.name for leaf in top.leaves() if leaf.state != "ONLINE")


@guard
def no_other_node_sees_its_log(facts: FleetFacts, params: Params) -> Verdict:
    """By the label census: a member of the pool that this node does not see may be the log."""
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    own = {row.label.guid for row in rows(node, guid)}
    for other in facts.nodes.values():
        for row in rows(other, guid) if other.node != node.node else ():
            if row.label.guid not in own:
                return refuse(
                    f"{other.node} sees {' '.join(row.disk.names)} with a label of {params.get('pool', guid)} that no disk of {node.node} has. It may be the log: "
                    f"bring it to {node.node}, and begin import-pool."
                )
    return ok(f"No other node sees a member of {params.get('pool', guid)} that {node.node} does not see.")


def where_it_was_looked_for(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    if len(text) < SENTENCE_MIN:
        return (refuse(WHERE_IT_WAS),)
    return (ok("It is noted."),)


def what_becomes_of_the_log(facts: FleetFacts, params: Params) -> str:
    """The guid that it is removed by, and the runbook."""
    pool = the_pool(facts, params)
    if not known(pool):
        return f"Not known: which log is to be removed. {pool.reason}"
    if not known(pool.tops):
        return f"Not known: which log is to be removed. {pool.tops.reason}"
    lost = [top for role, top in pool.tops if role == LOG and top.state not in HERE]
    named = ", ".join(f"{top.name} (guid {top.guid if known(top.guid) else 'not known'})" for top in lost)
    if not lost:
        return f"{pool.name} shows no log that is not there. Look at its page."
    return f"Remove {named} with remove-auxiliary, which its situation on the pool's page offers; then add a log with add-auxiliary where one is wanted."
