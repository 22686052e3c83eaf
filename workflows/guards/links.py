"""Questions about SAS links: are their counters watched, which is the weakest, what hangs on it, and have they been quiet?"""

from workflows.analysis import redundancy
from workflows.analysis.links import Link, behind, fingerprint, links, phy_texts, read_quiet, watched_seconds
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, Unknown, derived, known, lookup, need
from workflows.guards.fresh import stale

SOURCES = ("sas_phys", "sas_topology", "block", "zpool_status")
WATCHED_SECONDS_MIN = 540  # sas_phys is asked every five minutes, so ten minutes are two looks and a little less
QUIET_SECONDS = 600


@guard
def what_link_triage_reads_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    if why := stale(node, SOURCES):
        return unknown(why)
    return ok(f"{node.node} reported {node.age_seconds:.0f} s ago, and its phys were asked when they should be.")


@guard
def the_counters_are_known(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    found = need(links(node))
    if not found:
        return refuse(f"{node.node} shows no SAS link.")
    return ok(f"{node.node} shows {sum(len(link.phys) for link in found)} phys in {len(found)} links.")


@guard
def growth_was_watched(facts: FleetFacts, params: Params) -> Verdict:
    """A counter runs for the whole life of the phy. Whether it grows now takes two looks some time apart."""
    node = need(lookup.node(facts, params.get("node", "")))
    seconds = watched_seconds(node)
    if not known(seconds):
        return refuse(seconds.reason)
    if seconds < WATCHED_SECONDS_MIN:
        return refuse(f"The counters were watched for {seconds:.0f} s; {WATCHED_SECONDS_MIN} s are needed.")
    return ok(f"The counters were watched for {seconds / 60:.0f} minutes.")


@derived
def the_link(facts: FleetFacts, params: Params) -> Known[Link]:
    node = need(lookup.node(facts, params.get("node", "")))
    found = need(links(node))
    name = params.get("link", "")
    return next((link for link in found if link.name == name), Unknown(f"{node.node} shows no link {name or 'that was chosen'}."))


@guard
def no_pool_lives_by_this_link_alone(facts: FleetFacts, params: Params) -> Verdict:
    """Taking out a cable takes away every disk that has no other path. No pool may depend on those disks."""
    link = need(the_link(facts, params))
    node, cut = link.node, behind(link)
    trees = lookup.trees(node)
    if not known(node.disks) or not known(trees):
        return unknown(f"Which members hang on this link is not known: {lookup.why_trees_unknown(node)}")
    for pool, tops in trees:
        for role, top in tops:
            gone = [leaf for leaf in top.leaves() if known(leaf.wwid) and leaf.wwid in cut and redundancy.leaf_counts(leaf)]
            blind = [leaf for leaf in top.leaves() if not known(leaf.wwid) and leaf.state in lookup.IN_SERVICE]
            margin = redundancy.top_margin(pool, top)
            if not gone:
                continue
            if blind or not known(margin):
                return unknown(f"Whether {top.name} of {pool.name} survives without this link is not known.")
            if role != "log" and len(gone) > margin:
                return refuse(
                    f"{len(gone)} disks of {top.name} in {pool.name} have no other way, and it survives {margin} losses. Taking this cable out "
                    "stops the pool. Plan a window: stop its users, export it, and then do it."
                )
    return ok(f"{len(cut)} disks have no other way than this link, and every vdev survives without them.")


@guard
def the_link_is_quiet(facts: FleetFacts, params: Params) -> Verdict:
    """No counter of it changed for ten minutes. A reset of the phy sets its counters to 0 and starts the ten minutes again."""
    quiet, link = read_quiet(params.get("quiet", "")), need(the_link(facts, params))
    if quiet is None:
        return refuse("It was not looked at yet since the change.")
    if quiet.seconds < QUIET_SECONDS:
        return refuse(f"No counter of {link.name} changed for {quiet.seconds} s; {QUIET_SECONDS} s are needed.")
    if why := stale(link.node, ("sas_phys",)):
        return unknown(why)  # counters that were not read again have not changed, which proves nothing
    if fingerprint(phy_texts(link.phys)) != quiet.counts:
        return refuse(f"Since {link.name} was quiet one of its counters changed. Go back to the rack, and wait anew.")
    return ok(f"No counter of {link.name} changed for {quiet.seconds // 60} minutes.")


@guard
def every_disk_behind_it_is_there(facts: FleetFacts, params: Params) -> Verdict:
    link = need(the_link(facts, params))
    disks = need(link.node.disks, f"The disks of {link.node.node} are not known")
    for disk in disks:
        bad = [p for p in disk.paths if known(p.link) and link.worst.far in (*p.link.expanders, p.link.end) and p.state != "running"]
        if bad:
            return refuse(
                f"The kernel calls {bad[0].name} behind this link {bad[0].state if known(bad[0].state) else 'unreadable'}. Look at it first."
            )
    trees = need(lookup.trees(link.node), f"The pools of {link.node.node} are not known")
    lost = [leaf for pool, _ in trees for _, leaf in lookup.pool_leaves(pool) if leaf.state in ("UNAVAIL", "REMOVED", "FAULTED")]
    if lost:
        return refuse(f"{lost[0].name} is {lost[0].state}. Bring it back with many-disks-offline, or replace it.")
    return ok("Every disk behind it runs, and no pool has lost a member.")
