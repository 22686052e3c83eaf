"""What import-pool alone asks before it does something."""

from agents.collectors.zdb_label import ACTIVE
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, known, lookup, need
from workflows.facts.fleet.divergence import rows
from workflows.guards.importing import listed_pool
from workflows.guards.subject import number


@guard
def it_was_exported_or_this_host_used_it_last(facts: FleetFacts, params: Params) -> Verdict:
    """By hostid and by name: two hosts may have one hostid."""
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    pool, table = params.get("pool", guid), rows(node, guid)
    if not table:
        return unknown(f"No disk of {node.node} is known to carry a label of {pool}.")
    in_use = [row.label for row in table if row.label.state == ACTIVE]
    if not in_use:
        return ok(f"{pool} was exported by the host that used it last.")
    if not known(node.hostid) or not known(node.hostname):
        return unknown(f"Hostid and name of {node.node} are not both known, so whether it used {pool} last is not known.")
    own = (int(node.hostid, 16), node.hostname)
    others = {(label.hostname or "an unknown host", label.hostid or 0) for label in in_use if (label.hostid, label.hostname) != own}
    if others:
        who = ", ".join(f"{name} (hostid {hostid:x})" for name, hostid in sorted(others))
        return refuse(
            f"{who} used {pool} last and never exported it; this is {node.hostname} (hostid {own[0]:x}). Export it there. If that host is "
            "dead, fence it before anything else; read-only-import says what is missing."
        )
    return ok(f"{node.hostname} used {pool} last.")


@guard
def every_disk_of_it_is_here(facts: FleetFacts, params: Params) -> Verdict:
    """A disk that is only late is out of date once the pool was imported without it."""
    listed = need(listed_pool(facts, params))
    if not listed.tops:
        return unknown(f"The listing of {listed.name} shows no vdevs.")
    absent = [f"{leaf.name} ({leaf.state}) of {top.name}" for _, top in listed.tops for leaf in top.leaves() if leaf.state != "ONLINE"]
    if absent or listed.state != "ONLINE":
        rows_say = f"; not there: {', '.join(absent)}" if absent else ""
        return refuse(
            f"{listed.name} is listed as {listed.state}{rows_say}. Bring back what is away first: power, cable, HBA, shelf, then look again. "
            "read-only-import shows what can be read without it, and writes nothing."
        )
    return ok(f"Every disk of {listed.name} is here and ONLINE.")
