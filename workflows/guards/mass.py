"""Questions about members that were lost together: by what, are their disks back, is everything quiet, does the pool serve again?"""

from agents.collectors.block import RUNNING
from workflows.analysis import redundancy
from workflows.analysis.links import fingerprint, paths_and_phys, read_quiet
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import REPAIRS, FleetFacts, Known, NodeFacts, PoolFacts, VdevFacts, derived, known, lookup, need
from workflows.facts.lookup import wwid_of
from workflows.guards.fresh import stale
from workflows.guards.links import QUIET_SECONDS
from workflows.guards.margin import left
from workflows.guards.subject import the_pool
from workflows.situations import many_disks_offline, pool_suspended
from workflows.situations._words import plural
from workflows.situations.many_disks_offline import Group, groups

SOURCES = ("zpool_status", "zpool_status_guid", "block", "zdb_label", "kstat_pools", "node")
AWAY = ("UNAVAIL", "REMOVED", "FAULTED")  # OFFLINE is a person's decision


@guard
def what_a_mass_event_reads_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    if why := stale(node, SOURCES):
        return unknown(why)
    return ok(f"{node.node} reported {node.age_seconds:.0f} s ago, and no source is older than it may be.")


@derived
def the_groups(facts: FleetFacts, params: Params) -> Known[tuple[Group, ...]]:
    """What was lost together on the node, with a member of this pool among it."""
    pool = need(the_pool(facts, params))
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    node = facts.nodes[params["node"]]
    lost = list(many_disks_offline.left(FleetFacts({node.node: node})))
    return tuple(group for group in groups(lost) if any(each.pool.guid == pool.guid for each in group.lost))


@guard
def many_were_lost_together(facts: FleetFacts, params: Params) -> Verdict:
    found = need(the_groups(facts, params))
    if not found and (pool := the_pool(facts, params)) and known(pool) and known(pool.suspended) and pool.suspended:
        return it_was_suspended_by_io_errors(facts, params)
    if not found:
        return refuse(f"No members of {params.get('pool')} are lost together now. One lost disk is another runbook's matter.")
    return ok(f"{len(found[0].lost)} members hang on {found[0].thing.words}.")


def away(pool: PoolFacts) -> tuple[tuple[VdevFacts, VdevFacts], ...]:
    """(top-level vdev, leaf) of every member that left by itself, whatever the tree of a suspended pool still says of it."""
    tops = pool.tops if known(pool.tops) else ()
    return tuple((top, leaf) for _, top in tops for leaf in top.leaves() if leaf.state in AWAY or (known(leaf.gone) and leaf.gone))


def is_back(node: NodeFacts, leaf: VdevFacts) -> bool:
    """Whether its own disk runs and carries its label."""
    wwid = wwid_of(leaf)
    for disk in node.disks if known(node.disks) else ():
        running = any(known(p.state) and p.state in RUNNING for p in disk.paths)
        labels = disk.labels if known(disk.labels) else ()
        if running and any(label.guid == leaf.guid for label in labels) and (wwid is None or disk.wwid == wwid):
            return True
    return False


@guard
def the_disks_are_back(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    node = facts.nodes[params["node"]]
    tops = need(pool.tops, f"Which members of {pool.name} are away is not known")
    need(node.disks, f"Which members of {pool.name} are away is not known")
    untold = next((leaf.gone for _, top in tops for leaf in top.leaves() if not known(leaf.gone)), None)
    if untold is not None:
        return unknown(untold.reason)
    gone = [leaf for _, leaf in away(pool) if not is_back(node, leaf)]
    if gone:
        return refuse(
            f"{plural(len(gone), 'member')} of {pool.name} have no running disk with their label yet: {_names(gone)}. Look at power and cables."
        )
    return ok(f"Every member of {pool.name} has its disk, running and with its label.")


@guard
def everything_is_quiet(facts: FleetFacts, params: Params) -> Verdict:
    """For ten minutes no error counter of a phy grew and no disk came or went. Members on links that still flap are not brought back."""
    node, quiet = need(lookup.node(facts, params.get("node", ""))), read_quiet(params.get("quiet", ""))
    if quiet is None:
        return refuse("Cables and disks were not looked at yet since the change.")
    if quiet.seconds < QUIET_SECONDS:
        return refuse(f"Cables and disks are quiet for {quiet.seconds} s; {QUIET_SECONDS} s are needed.")
    need(node.disks, "Whether a disk came or went since is not known")
    if why := stale(node, ("sas_phys", "block") if known(node.fabric) else ("block",)):
        return unknown(why)  # what was not read again is the same as before, which proves nothing
    if fingerprint(paths_and_phys(node)) != quiet.counts:
        return refuse("Since they were quiet a phy counted an error, or a disk came or went. Go back to the rack, and wait anew.")
    return ok(f"No phy counted an error, and no disk came or went, for {quiet.seconds // 60} minutes.")


def the_disks_are_back_and_everything_is_quiet(facts: FleetFacts, params: Params) -> Verdict:
    back, quiet = the_disks_are_back(facts, params), everything_is_quiet(facts, params)
    return quiet if back.outcome == "pass" else back


@guard
def the_pool_is_suspended(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    suspended = need(pool.suspended)
    return ok(f"{pool.name} is suspended.") if suspended else refuse(f"{pool.name} is not suspended, so nothing has to be cleared.")


@guard
def it_was_suspended_by_io_errors(facts: FleetFacts, params: Params) -> Verdict:
    """Clearing a multihost suspension may let two hosts write, so it is refused here."""
    pool = need(the_pool(facts, params))
    kind = pool_suspended.kind_of(facts.nodes[params["node"]], pool)
    if kind == pool_suspended.IO:
        return ok(f"{pool.name} was suspended by I/O errors.")
    if kind == pool_suspended.MMP:
        return refuse(f"{pool.name} was suspended by multihost. Go on with suspended-pool; do not clear it here.")
    return unknown(f"What suspended {pool.name} is not known. Until it is, take it for multihost and do not clear it.")


@guard
def some_members_are_away(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    found = away(pool)
    return (
        ok(f"{plural(len(found), 'member')} of {pool.name} {'is' if len(found) == 1 else 'are'} away.")
        if found
        else refuse(f"No member of {pool.name} is away by itself, so none has to be brought back.")
    )


def bring_back_order(node: NodeFacts, pool: PoolFacts) -> tuple[int, ...]:
    """Guids of the members to bring back: the vdev that survives least comes first, then bay after bay."""
    margins = {id(top): redundancy.top_margin(pool, top) for top, _ in away(pool)}
    place = {d.wwid: (d.bay.enclosure_id, d.bay.slot) for d in (node.disks if known(node.disks) else ()) if known(d.wwid) and known(d.bay)}

    def key(pair: tuple[VdevFacts, VdevFacts]) -> tuple[int, tuple[str, int], str]:
        margin = margins[id(pair[0])]
        return (margin if known(margin) else 99, place.get(wwid_of(pair[1]) or "", ("~", 0)), pair[1].name)

    return tuple(leaf.guid for _, leaf in sorted(away(pool), key=key) if known(leaf.guid) and is_back(node, leaf))


@guard
def every_member_serves(facts: FleetFacts, params: Params) -> Verdict:
    """No member is OFFLINE either: a scrub does not read it, and while it is missing the pool has less redundancy."""
    back = every_member_that_went_is_back(facts, params)
    if back.outcome != "pass":
        return back
    pool = need(the_pool(facts, params))
    off = _switched_off(pool)
    if off:
        return refuse(
            f"OFFLINE members of {pool.name}: {_names(off)}. A scrub does not read an OFFLINE member. "
            "Bring it back with `zpool online` and let it resilver, or replace it."
        )
    return ok(f"Every member of {pool.name} serves, and nothing is being rebuilt.")


@guard
def every_member_that_went_is_back(facts: FleetFacts, params: Params) -> Verdict:
    """A member set OFFLINE with `zpool offline` is listed but not waited for."""
    pool = need(the_pool(facts, params))
    need(pool.tops, f"How {pool.name} stands is not known")
    scans = need(pool.scans, f"How {pool.name} stands is not known")
    gone = [leaf for _, leaf in away(pool)]
    if gone:
        return refuse(f"Members of {pool.name} that still do not serve: {_names(gone)}.")
    strange = [leaf for leaf in _leaves(pool) if leaf.state not in (*lookup.IN_SERVICE, *lookup.LOST_STATES)]
    if strange:
        return unknown(f"Whether {_names(strange)} of {pool.name} serves is not known: its state reads “{strange[0].state}”.")
    if any(s.function in REPAIRS and s.state in ("running", "paused") for s in scans):
        return refuse(f"{pool.name} is resilvering: its members catch up.")
    off = _switched_off(pool)
    but = f" Still OFFLINE, by `zpool offline`: {_names(off)}." if off else ""
    return ok(f"Every member of {pool.name} that went away serves again, and nothing is being rebuilt.{but}")


def _leaves(pool: PoolFacts) -> list[VdevFacts]:
    return [leaf for _, top in (pool.tops if known(pool.tops) else ()) for leaf in top.leaves()]


def _switched_off(pool: PoolFacts) -> list[VdevFacts]:
    return [leaf for leaf in _leaves(pool) if leaf.state == "OFFLINE"]


@guard
def no_vdev_is_beyond_rebuilding(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    margin = need(redundancy.pool_margin(pool))
    if margin < 0:
        return refuse(f"A vdev of {pool.name} has lost more disks than it can rebuild. Get help before anything is written to it.")
    return left(margin, pool.name)


@guard
def the_scrub_goes_well(facts: FleetFacts, params: Params) -> Verdict:
    """Asked for as long as it runs: disks that were lost together may miss writes of that moment, and only a scrub finds those."""
    pool = need(the_pool(facts, params))
    bad = [s for s in need(pool.scans) if s.function == "scrub" and ((s.errors or 0) > 0 or s.state == "canceled")]
    if bad and bad[0].state == "canceled":
        return refuse(f"The scrub of {pool.name} was canceled. Nothing is proven; begin it again.")
    if bad:
        return refuse(
            f"The scrub of {pool.name} found {bad[0].errors} errors. Read `zpool status -v`, restore what it names, and scrub again."
        )
    return ok(f"The scrub of {pool.name} found no error so far.")


@guard
def the_scrub_found_nothing(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    scrubs = [s for s in need(pool.scans) if s.function == "scrub"]
    if not scrubs:
        return refuse(f"{pool.name} shows no scrub.")
    if scrubs[0].state != "finished" or scrubs[0].errors is None:
        return refuse(f"The scrub of {pool.name} is {scrubs[0].state}.")
    return (
        refuse(f"The scrub of {pool.name} found {scrubs[0].errors} errors.")
        if scrubs[0].errors
        else ok(f"The scrub of {pool.name} found 0 errors.")
    )


@guard
def no_data_is_damaged(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    if not pool.errors:
        return unknown(f"Whether data of {pool.name} is damaged was not said.")
    if pool.errors != "No known data errors":
        return refuse(f"{pool.name}: {pool.errors}. Restore what `zpool status -v` names.")
    return ok(f"{pool.name} knows of no damaged data.")


def _names(leaves: list[VdevFacts]) -> str:
    names = [leaf.name.rsplit("/", 1)[-1].partition("-part")[0] for leaf in leaves]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
