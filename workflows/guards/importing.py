"""Questions before a pool is imported, even read-only: is it listed, does no host have it, are enough of its disks here?

What `zpool import` advises is never repeated. It advises to make pools anew that are whole on most of their disks.
"""

from agents.collectors.zdb_label import ACTIVE
from agents.operations._importing import OF_HOSTID_0
from workflows.analysis.rewind_points import spare
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import (
    FleetFacts,
    ImportableFacts,
    Known,
    LabelFacts,
    NodeFacts,
    PoolFacts,
    Suspect,
    Unknown,
    derived,
    known,
    lookup,
    need,
    suspects,
)
from workflows.facts.fleet.divergence import rows
from workflows.guards.fresh import ONE_MOMENT, stale, stale_elsewhere
from workflows.guards.subject import number, sharing_nodes

SOURCES = ("zpool_import", "zpool_status", "zdb_label", "block", "node")
OF_OTHERS = ("zpool_status", "zdb_label", "block")
REWIND, NOTHING, IMPORTED, REFUSED = "rewind", "nothing", "imported", "refused"  # what a dry run may come to


@guard
def what_can_be_imported_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    if why := stale(node, SOURCES):
        return unknown(why)
    return ok(f"{node.node} has looked at what can be imported, {node.age_seconds:.0f} s ago.")


@guard
def the_pool_is_not_imported_here(facts: FleetFacts, params: Params) -> Verdict:
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    pools = need(node.pools, f"Which pools {node.node} has imported is not known")
    for pool in pools:
        if not known(pool.guid):
            return unknown(f"The guid of {pool.name} on {node.node} is not known: {pool.guid.reason}")
        if pool.guid == guid:
            return refuse(f"{pool.name} is imported on {node.node} now.")
    return ok(f"{params.get('pool', '')} is not imported on {node.node}.")


def the_pool_is_imported_here(facts: FleetFacts, params: Params) -> Verdict:
    verdict = the_pool_is_not_imported_here(facts, params)
    if verdict.outcome == "unknown":
        return verdict
    return refuse(verdict.reason) if verdict.outcome == "pass" else ok(verdict.reason)


@guard
def the_listing_shows_the_pool_once(facts: FleetFacts, params: Params) -> Verdict:
    listed = need(listed_pool(facts, params))
    return ok(f"`zpool import` lists {listed.name} ({listed.guid}) once.")


@guard
def no_other_system_writes_to_it(facts: FleetFacts, params: Params) -> Verdict:
    """What multihost protection sees now. A pool with multihost=off shows nothing to it."""
    listed = need(listed_pool(facts, params))
    text = " ".join(f"{listed.status} {listed.action}".split())
    if OF_HOSTID_0.search(text):
        return unknown(
            f"`zpool import` sees activity on {listed.name} and names no host (hostid=0). That is no proof that another host has it, nor that none "
            "has. Ask every partner (`zpool list`), and look in the kernel log for errors of its disks."
        )
    if "currently imported by another system" in text or "must be exported from" in text:
        who = text.partition("must be exported from ")[2].split(" before")[0] or "another system"
        return refuse(f"{listed.name} is imported on {who} right now. Export it there; never force it here.")
    return ok(f"`zpool import` sees no other system writing to {listed.name}.")


@guard
def no_other_node_has_or_may_have_it(facts: FleetFacts, params: Params) -> Verdict:
    """Every node that sees one of its disks reports that it has not imported the pool, and so does the host that used it last."""
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    shared = no_sharing_node_has_or_may_have_it(facts, params)
    return shared if shared.outcome != "pass" else _last_user(facts, node, tuple(row.label for row in rows(node, guid)), params)


@guard
def no_sharing_node_has_or_may_have_it(facts: FleetFacts, params: Params) -> Verdict:
    """The same without the host that used it last, where that does not report."""
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    table = rows(node, guid)
    if not table:
        return unknown(f"No disk of {node.node} is known to carry a label of {params.get('pool', guid)}.")
    for other in facts.nodes.values():
        if other.node != node.node and known(other.pools) and any(known(p.guid) and p.guid == guid for p in other.pools):
            return refuse(f"{params.get('pool', guid)} is imported on {other.node}. Importing it here too would destroy it.")
    sharing = need(sharing_nodes(facts, node.node, frozenset(row.disk.wwid for row in table if known(row.disk.wwid))))
    for other in sharing:
        if why := _may_have_it(other):
            return unknown(f"{other.node} sees disks of it. {why}")
    return ok(f"No other node that sees disks of {params.get('pool', 'it')} has it imported.")


@guard
def no_other_node_imports_it_by_itself(facts: FleetFacts, params: Params) -> Verdict:
    """A node whose cache file names the pool imports it at its next boot."""
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    table = rows(node, guid)
    sharing = need(sharing_nodes(facts, node.node, frozenset(row.disk.wwid for row in table if known(row.disk.wwid))))
    for other in sharing:
        if other.brought:
            return unknown(f"{other.node} sees disks of it. {ONE_MOMENT.format(node=other.node, seconds=other.age_seconds)}")
        cached = need(other.cached, f"{other.node} sees disks of it, and what it imports at its next boot is not known")
        if any(pool.guid == guid for pool in cached):
            return refuse(f"{other.node} has it in its cache file and imports it at its next boot. Take it out there first.")
    return ok("No other node that sees its disks imports it by itself.")


@guard
def no_imported_pool_has_its_name(facts: FleetFacts, params: Params) -> Verdict:
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    pools = need(node.pools, f"Which pools {node.node} has imported is not known")
    if any(pool.name == params.get("pool") and known(pool.guid) and pool.guid != guid for pool in pools):
        return refuse(f"Another pool named {params.get('pool')} is imported on {node.node}. The two cannot be imported together.")
    return ok(f"No other pool named {params.get('pool', '')} is imported on {node.node}.")


@guard
def enough_of_its_disks_are_here(facts: FleetFacts, params: Params) -> Verdict:
    listed = need(listed_pool(facts, params))
    if not listed.tops:
        return unknown(f"The listing of {listed.name} shows no vdevs.")
    for _, top in listed.tops:
        absent = [leaf.name for leaf in top.leaves() if leaf.state != "ONLINE"]
        if len(absent) > spare(top):
            return refuse(f"{top.name} lacks {len(absent)} disks ({', '.join(absent)}) and can do without {spare(top)}. Attach them first.")
    return ok(f"Every vdev of {listed.name} has enough of its disks here.")


@guard
def this_software_can_read_it(facts: FleetFacts, params: Params) -> Verdict:
    listed = need(listed_pool(facts, params))
    if "feature" in listed.status or "newer version" in f"{listed.status} {listed.action}":
        return refuse(f"{listed.name} uses features that the ZFS of this node does not know. Import it where they are known.")
    return ok(f"Nothing says that {listed.name} needs other software.")


@guard
def the_node_has_a_hostid(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    hostid = need(node.hostid, f"The hostid of {node.node} is not known")
    if int(hostid, 16) == 0:
        return refuse(f"{node.node} has no hostid, so no other system could see that it has the pool imported. Run `zgenhostid` first.")
    return ok(f"{node.node} has the hostid {hostid}.")


@guard
def the_pool_is_read_only(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(_imported(facts, params))
    if not known(pool.properties) or "readonly" not in pool.properties:
        why = "" if known(pool.properties) else f" {pool.properties.reason}"
        return unknown(f"Whether {pool.name} is imported read-only is not known.{why}")
    if pool.properties["readonly"] != "on":
        return refuse(f"{pool.name} is imported for writing. Stop everything that uses it, and get help before anything else.")
    return ok(f"{pool.name} is imported read-only.")


@guard
def the_pool_can_be_read(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(_imported(facts, params))
    if pool.state not in ("ONLINE", "DEGRADED"):
        return refuse(f"{pool.name} is {pool.state}. Look at the pool before anything is read from it.")
    return ok(f"{pool.name} is {pool.state}. {pool.errors or 'Whether data is damaged was not read.'}".rstrip(".") + ".")


@guard
def no_disk_tells_another_story(facts: FleetFacts, params: Params) -> Verdict:
    """A rewind follows the newest uberblock, so one disk with a newer, different history decides for all."""
    found = need(diverging(facts, params))
    if found:
        names = ", ".join(" ".join(s.disk.names) for s in found)
        return refuse(f"{names} contradicts the other disks. A rewind would follow it; take it away first instead.")
    return ok("No disk stands out from the others.")


def a_rewind_is_offered(facts: FleetFacts, params: Params) -> Verdict:
    here = the_pool_is_not_imported_here(facts, params)
    if here.outcome != "pass":
        return here
    dry_run = params.get("dry_run", "")
    if dry_run == REWIND:
        return ok(f"Going back to {params.get('rewind_to', '')} would leave out about {params.get('rewind_loss', '')}.")
    if not dry_run:
        return unknown("What the dry run said is not known. Ask again.")
    return refuse("The dry run offers no rewind.")


@derived
def diverging(facts: FleetFacts, params: Params) -> Known[tuple[Suspect, ...]]:
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    need(node.disks, f"The disks of {node.node} are not known")
    need(node.timelines, "The uberblocks of its disks are not known")
    listed = listed_pool(facts, params)
    return tuple(s for s in suspects(node, guid, listed if known(listed) else None) if s.diverges)


def last_used_elsewhere(facts: FleetFacts, params: Params) -> bool:
    """Whether some label says that another host used the pool last and never let go of it. Only then `-f` is needed."""
    node, guid = lookup.node(facts, params.get("node", "")), number(params, "pool_guid")
    if not known(node) or not known(guid) or not known(node.hostid):
        return False
    own = int(node.hostid, 16)
    return any(row.label.state == ACTIVE and row.label.hostid not in (None, own) for row in rows(node, guid))


IMPORT_GUARDS = (
    what_can_be_imported_is_fresh,
    the_listing_shows_the_pool_once,
    no_other_system_writes_to_it,
    no_other_node_has_or_may_have_it,
    no_other_node_imports_it_by_itself,
    no_imported_pool_has_its_name,
    enough_of_its_disks_are_here,
    this_software_can_read_it,
    the_node_has_a_hostid,
    the_pool_is_not_imported_here,
)


@derived
def listed_pool(facts: FleetFacts, params: Params) -> Known[ImportableFacts]:
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    found = [pool for pool in need(node.importable, f"What {node.node} can import is not known") if pool.guid == guid]
    if len(found) == 1:
        return found[0]
    times = f"lists it {len(found)} times" if found else "does not list it"
    return Unknown(f"`zpool import` on {node.node} {times}. Check that its disks are seen.")


@derived
def _imported(facts: FleetFacts, params: Params) -> Known[PoolFacts]:
    guid = need(number(params, "pool_guid"))
    found = lookup.pool(facts, params.get("node", ""), guid)
    return Unknown(f"{params.get('pool', guid)} is not imported on {params.get('node', '')}.") if found is None else found


def _may_have_it(other: NodeFacts) -> str:
    """Why this node's word that it has not imported the pool does not count; empty when it does."""
    if why := stale_elsewhere(other, OF_OTHERS):
        return f"It may have the pool: {why}"
    if not known(other.pools) or not all(known(pool.guid) for pool in other.pools):
        return "Which pools it has imported is not known."
    return ""


def _last_user(facts: FleetFacts, node: NodeFacts, labels: tuple[LabelFacts, ...], params: Params) -> Verdict:
    """The host that used it last and did not export it must be a node that reports here."""
    own = int(node.hostid, 16) if known(node.hostid) else None
    odd = diverging(facts, params)
    if known(odd) and len(odd) == 1:
        # What one disk of many holds about another host is a contradiction of that disk, and another guard checks it.
        labels = tuple(label for label in labels if label not in (odd[0].disk.labels if known(odd[0].disk.labels) else ()))
    in_use = {(x.hostid, x.hostname or "an unknown host") for x in labels if x.state == ACTIVE}
    if nameless := sorted(name for hostid, name in in_use if hostid is None and name != node.hostname):
        return unknown(f"{nameless[0]} used it last, never exported it, and had no hostid, so it may be any host. Fence it first.")
    for hostid, name in sorted((hostid, name) for hostid, name in in_use if hostid not in (None, own)):
        there = next((n for n in facts.nodes.values() if known(n.hostid) and int(n.hostid, 16) == hostid), None)
        if there is None:
            return unknown(f"{name} (hostid {hostid:x}) used it last and never exported it, and that host has no agent. Fence it first.")
        if why := _may_have_it(there):
            return unknown(f"{there.node} used it last and never exported it. {why}")
    return ok(f"No other node has {params.get('pool', 'it')}, nor may have it.")
