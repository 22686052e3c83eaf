"""Questions about a pool that multihost suspended: which disk began it, who else may have the pool, what lives on the node, is it steady?"""

from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, Known, NodeFacts, PoolFacts, derived, known, lookup, need
from workflows.facts.read.past import disks_in_trouble, last_suspension
from workflows.guards.fresh import OF_OTHERS, ONE_MOMENT, stale, stale_elsewhere
from workflows.guards.margin import left
from workflows.guards.subject import name_of, nameless, sharing_nodes, the_pool
from workflows.situations import pool_suspended

SOURCES = ("kstat_pools", "kernel_log", "node")
MULTIHOST = ("zfs_multihost_interval", "zfs_multihost_import_intervals", "zfs_multihost_fail_intervals")
STEADY_SECONDS = 600
NO_DISK = "none"


@guard
def what_a_suspension_reads_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    """Only kernel statistics are read: `zpool` may hang."""
    node = need(lookup.node(facts, params.get("node", "")))
    if why := stale(node, SOURCES):
        return unknown(why)
    return ok(f"{node.node} reported {node.age_seconds:.0f} s ago, and the kernel was asked when it should be.")


@guard
def multihost_suspended_it(facts: FleetFacts, params: Params) -> Verdict:
    """A suspension whose cause is not known counts as multihost, because clearing that one may let two hosts write."""
    pool = need(the_pool(facts, params))
    if not known(pool.suspended) or not pool.suspended:
        return refuse(f"{pool.name} is not suspended.") if known(pool.suspended) else unknown(pool.suspended.reason)
    kind = pool_suspended.kind_of(facts.nodes[params["node"]], pool)
    if kind == pool_suspended.IO:
        return refuse(f"{pool.name} was suspended by I/O errors, not by multihost.")
    return ok(
        f"{pool.name} was suspended by multihost." if kind else f"What suspended {pool.name} is not known; it is taken for multihost."
    )


@derived
def suspects(facts: FleetFacts, params: Params) -> Known[dict[str, tuple[DiskFacts, list[str]]]]:
    """WWID -> the disk and what is held against it: by the kernel's log, by the HBA's driver, by the multihost history."""
    pool = need(the_pool(facts, params))
    node = facts.nodes[params["node"]]
    disks = need(node.disks, f"The disks of {node.node} are not known")
    found: dict[str, tuple[DiskFacts, list[str]]] = {}
    for disk in disks:
        sentences = [*_by_log(node, pool, disk), *_by_history(node, pool, disk)]
        if sentences and known(disk.wwid):
            found[disk.wwid] = (disk, sentences)
    return dict(sorted(found.items(), key=lambda item: -len(item[1][1])))


def _by_log(node: NodeFacts, pool: PoolFacts, disk: DiskFacts) -> list[str]:
    log = last_suspension(node.kernel_log, pool.name)
    if not log or not known(node.kernel_log):
        return []
    begin, end = log[0].at_us - pool_suspended.BEFORE_US, log[0].at_us + pool_suspended.AFTER_US
    names = {path.hctl for path in disk.paths} | set(disk.names)
    texts = [
        f"{len(lines)} lines of the kernel's log" for name, lines in disks_in_trouble(node.kernel_log, begin, end).items() if name in names
    ]
    targets = [e for e in node.kernel_log.events if e.kind == "target" and begin <= e.at_us <= end]
    addresses = {path.sas_address for path in disk.paths}
    return texts + ["the HBA aborted its commands"] * any(e.field("sas_address") in addresses for e in targets)


def _by_history(node: NodeFacts, pool: PoolFacts, disk: DiskFacts) -> list[str]:
    writes = node.kstats.troubled(pool.name) if known(node.kstats) else ()
    leaves = {leaf.guid for _, leaf in lookup.pool_leaves(pool) if known(leaf.guid) and known(leaf.wwid) and leaf.wwid == disk.wwid}
    slow = [w for w in writes if w.vdev_guid in leaves]
    return [f"{len(slow)} multihost writes to it failed or took a whole interval"] if slow else []


@guard
def the_pool_can_do_without_the_sick_disk(facts: FleetFacts, params: Params) -> Verdict:
    pool, sick = need(the_pool(facts, params)), params.get("sick", "")
    if sick == NO_DISK:
        return ok("No disk was named, so none has to be taken out.")
    tops = need(pool.tops, f"The vdevs of {pool.name} are not known")
    for _, top in tops:
        leaf = next((v for v in top.leaves() if known(v.wwid) and v.wwid == sick), None)
        margin = redundancy.top_margin(pool, top)
        if leaf is not None:
            if not known(margin):
                return unknown(margin.reason)
            after = margin - (1 if redundancy.leaf_counts(leaf) else 0)
            return (
                left(after, f"Without it {top.name}")
                if after >= 0
                else refuse(f"{top.name} cannot do without the sick disk. Get help: it must be copied before it goes.")
            )
    return ok(f"{sick} is no member of {pool.name}.")


@guard
def the_sick_disk_is_out(facts: FleetFacts, params: Params) -> Verdict:
    """Pulled, or gone by itself: while a disk that stalls is present, the pool is suspended again at once."""
    sick = params.get("sick", "")
    if not sick:
        return unknown("Which disk is sick was not said yet.")
    need(lookup.node(facts, params.get("node", "")))
    if sick == NO_DISK:
        return ok("No disk was named.")
    disk = need(lookup.disk(facts, params.get("node", ""), sick))
    if disk is None and (other := nameless(facts, params)):
        return unknown(f"{params['node']} sees {name_of(other)}, and it may be {sick}. Find out which disk that is.")
    if disk is None:
        return ok(f"{params['node']} does not see {sick} any more.")
    return refuse(f"{name_of(disk)} is still there. Pull it: blink its bay first, and compare the serial number.")


def a_disk_was_named(facts: FleetFacts, params: Params) -> Verdict:
    """Whether there is a disk to pull."""
    sick = params.get("sick", "")
    return refuse("No disk was named.") if sick == NO_DISK else ok(f"{sick} was named.") if sick else unknown("No choice was made yet.")


def no_disk_was_named(facts: FleetFacts, params: Params) -> Verdict:
    """Whether it is what the disks hang on that has to be mended."""
    named = a_disk_was_named(facts, params)
    return {"pass": refuse, "refuse": ok, "unknown": unknown}[named.outcome](named.reason)


@guard
def no_other_node_has_the_pool(facts: FleetFacts, params: Params) -> Verdict:
    """Every node that sees its disks must report so itself, and in a fresh report."""
    pool = the_pool(facts, params)
    wwids = frozenset(leaf.wwid for _, leaf in lookup.pool_leaves(pool) if known(leaf.wwid)) if known(pool) else frozenset()
    for node in facts.nodes.values():  # asked first, for the pool may be there and no longer here
        if node.node != params.get("node") and known(node.pools) and any(_is_it(p, params) for p in node.pools):
            return refuse(f"{node.node} has {params.get('pool')} imported. Do nothing here: fence this node, and look at the pool there.")
    if not known(pool):
        return unknown(pool.reason)
    if not wwids:
        return unknown(f"Which disks {pool.name} sits on is not known, so it is not known either which nodes see them.")
    sharing = need(sharing_nodes(facts, params["node"], wwids))
    for node in sharing:
        if why := stale_elsewhere(node, OF_OTHERS):
            return unknown(f"{node.node} sees disks of {pool.name}. {why}")
        if not known(node.pools) or not all(known(p.guid) for p in node.pools):
            return unknown(f"{node.node} sees disks of {pool.name}, and which pools it has imported is not known.")
    seen = " and ".join(node.node for node in sharing)
    return ok(f"{seen} sees its disks and has not imported it." if seen else "No other node that reports sees its disks.")


def _is_it(pool: PoolFacts, params: Params) -> bool:
    """By guid; by name where the guid is not known, which errs on the side of caution."""
    return str(pool.guid) == params.get("pool_guid") if known(pool.guid) else pool.name == params.get("pool")


def partners(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    return tuple(name for name in params.get("partners", "").split(" ") if name and name != NO_DISK)


def the_partners_are_named(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
    """A person answers for hosts that have no agent; hosts that have one must have been thought of."""
    named = [] if answer == NO_DISK else answer.split()
    pool = the_pool(facts, params)
    wwids = frozenset(leaf.wwid for _, leaf in lookup.pool_leaves(pool) if known(leaf.wwid)) if known(pool) else frozenset()
    sharing = sharing_nodes(facts, params["node"], wwids)
    if not known(sharing):
        return (unknown(sharing.reason),)
    if missing := [node.node for node in sharing if node.node not in named]:
        return (refuse(f"{' and '.join(missing)} sees the same disks and was not named. Look there, too."),)
    if params["node"] in named:
        return (refuse(f"{params['node']} is the node itself. Name the others that can reach these disks."),)
    have = [name for name in named if (n := facts.nodes.get(name)) and known(n.pools) and any(_is_it(p, params) for p in n.pools)]
    if have:
        return (refuse(f"{have[0]} has {params['pool']} imported. Do nothing here: fence this node."),)
    by_word = [name for name in named if name not in facts.nodes]
    return (ok(f"{'By their word only: ' + ', '.join(by_word) + '.' if by_word else 'All of them report.'}"),)


@derived
def other_pools(facts: FleetFacts, params: Params) -> Known[tuple[PoolFacts, ...]]:
    node = need(lookup.node(facts, params.get("node", "")))
    pools = need(node.pools, f"What else lives on {node.node} is not known")
    return tuple(pool for pool in pools if pool.name != params.get("pool"))


def the_other_pools_are_named(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
    """Whoever takes a node down says by name what goes down with it."""
    others = other_pools(facts, params)
    if not known(others):
        return (unknown(others.reason),)
    wanted = {pool.name for pool in others} or {NO_DISK}
    if set(answer.split()) != wanted:
        return (
            refuse(f"What else lives on {params['node']} is: {', '.join(sorted(wanted))}. Inform their owners, then type these names."),
        )
    return (ok(f"Their owners were informed: {', '.join(sorted(wanted))}."),)


@guard
def the_node_has_rebooted(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    boot_id = need(node.boot_id)
    if not params.get("boot_id"):
        return unknown("In which boot the pool was suspended was not written down, so whether this is a new boot is not known.")
    if boot_id == params.get("boot_id"):
        return refuse(f"{node.node} still runs the boot in which {params.get('pool')} was suspended.")
    return ok(f"{node.node} has booted anew.")


@guard
def the_pool_is_imported_and_runs(facts: FleetFacts, params: Params) -> Verdict:
    pool = the_pool(facts, params)
    if not known(pool) and not params.get("pool_guid"):
        return unknown(pool.reason)
    if not known(pool):
        how = f"`zpool import -N -o cachefile=none -d /dev/disk/by-id {params['pool_guid']}`"
        return refuse(f"{pool.reason} Import it without its sick disk: {how}.")
    if need(pool.suspended):
        return refuse(f"{pool.name} is suspended.")
    return ok(f"{pool.name} is {pool.state} and takes writes.")


@guard
def it_is_not_suspended_again(facts: FleetFacts, params: Params) -> Verdict:
    """A second suspension means that the disk that stalls is still present. Clearing it again does not help."""
    pool = need(the_pool(facts, params))
    if need(pool.suspended):
        return refuse(f"{pool.name} is suspended again. Stop here: find what stalls before anything is tried once more.")
    return ok(f"{pool.name} is not suspended.")


def its_signs_of_life_get_through(facts: FleetFacts, params: Params) -> Verdict:
    """By the multihost history where it is kept, and by the time since the last missed write."""
    since, _, until = params.get("steady", "").partition(":")
    runs = the_pool_is_imported_and_runs(facts, params)
    if runs.outcome != "pass":
        return runs
    node = facts.nodes[params["node"]]
    late = node.kstats.troubled(params["pool"]) if known(node.kstats) else ()
    if late:
        return refuse(f"{len(late)} multihost writes of {params['pool']} failed or took a whole interval. Something still stalls.")
    seconds = int(until) - int(since) if since.isdigit() and until.isdigit() else 0
    if seconds < STEADY_SECONDS:
        return refuse(f"{params['pool']} is steady for {seconds} s; {STEADY_SECONDS} s are needed.")
    return ok(f"{params['pool']} is steady for {seconds // 60} minutes.")


@guard
def both_nodes_are_set_alike(facts: FleetFacts, params: Params) -> Verdict:
    """An importing node uses the intervals of the last host, which may be either of them."""
    here = need(lookup.node(facts, params.get("node", "")))
    if not known(here.tunables):
        return unknown(here.tunables.reason)
    for name in partners(facts, params):
        other = facts.nodes.get(name)
        if other is None:
            continue  # a person answers for it
        if other.brought:
            return unknown(ONE_MOMENT.format(node=name, seconds=other.age_seconds))
        tunables = need(other.tunables, f"How {name} is set is not known")
        for tunable in MULTIHOST:
            mine, theirs = here.tunables.get(tunable), tunables.get(tunable)
            if (mine.value if mine else None) != (theirs.value if theirs else None):
                return refuse(
                    f"{tunable} is {mine.value if mine else 'not there'} on {here.node} and {theirs.value if theirs else 'not there'} on {name}. "
                    "Set it alike on both: an importer goes by what the last host had, and a host that lacks it (before 0.7) does not protect the pool at all."
                )
    return ok("All hosts that report have the same multihost settings.")
