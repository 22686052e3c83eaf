"""Questions about a mode of one disk: may it be switched, does the disk serve nothing meanwhile, is it what and where we think?"""

from agents.domain.wwid import by_id_path
from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import REPAIRS, DiskFacts, FleetFacts, Known, PoolFacts, Unknown, VdevFacts, derived, known, lookup, need
from workflows.facts.fleet.mode_drift import MODES, Deviation, deviation
from workflows.guards.candidate import asked_past_a_map
from workflows.guards.fresh import stale
from workflows.guards.margin import left
from workflows.guards.subject import name_of, number, the_pool
from workflows.situations import many_disks_offline

SOURCES = ("zpool_status", "zpool_status_guid", "zdb_label", "block", "disk_links", "drive_modes", "node")
SERVING, RESTING = ("ONLINE", "DEGRADED"), ("OFFLINE", "AVAIL")


@guard
def what_the_audit_reads_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    if why := stale(node, SOURCES):
        return unknown(why)
    return ok(f"{node.node} reported {node.age_seconds:.0f} s ago, and no source is older than it may be.")


@derived
def the_leaf(facts: FleetFacts, params: Params) -> Known[tuple[PoolFacts, str, VdevFacts]]:
    """The member or hot spare the run is about, with the class it has in its pool."""
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    found = [(role, leaf) for role, leaf in lookup.pool_leaves(pool) if leaf.guid == guid]
    if len(found) != 1:
        return Unknown(f"{pool.name} shows {guid} {len(found)} times. Look at the pool again.")
    return (pool, *found[0])


def the_disk_meant(facts: FleetFacts, params: Params) -> Known[DiskFacts]:
    node, wwid = params.get("node", ""), params.get("old_wwid", "")
    found = lookup.disk(facts, node, wwid) if wwid else Unknown("The run names no disk.")
    return Unknown(f"{node} does not see {wwid}. Check that it is seated, and look again.") if found is None else found


@guard
def the_disk_is_the_one_meant(facts: FleetFacts, params: Params) -> Verdict:
    """By its label and by the serial number that the disk itself reports."""
    found, disk = need(the_leaf(facts, params)), need(the_disk_meant(facts, params))
    leaf = found[2]
    for value in (leaf.wwid, disk.serial):
        need(value, f"Whether {leaf.guid} sits on {name_of(disk)} is not known")
    if leaf.wwid != params["old_wwid"]:
        return refuse(f"{leaf.guid} sits on {leaf.wwid}, not on {params['old_wwid']}. Begin again from the situation.")
    if disk.serial != params["old_serial"]:
        return refuse(f"{name_of(disk)} has the serial number {disk.serial}, not {params['old_serial']}. Begin again from the situation.")
    return ok(f"{leaf.guid} sits on {name_of(disk)}, serial number {disk.serial}.")


@guard
def a_mode_reaches_the_disk(facts: FleetFacts, params: Params) -> Verdict:
    """Asked before the disk is taken out of service for it."""
    disk = need(the_disk_meant(facts, params))
    if disk.doubt:
        return refuse(f"A command could reach another disk than {name_of(disk)}: {disk.doubt}.")
    if against := asked_past_a_map(disk, "sdparm --save --set=MODE=VALUE"):
        return against
    inside = [
        label.partition for label in need(disk.labels) if str(label.guid) == params.get("vdev_guid") and label.partition.startswith("dm-")
    ]
    if inside:
        return refuse(
            f"The member is in a container on {name_of(disk)} ({inside[0]}), so the node could not see at the switch that this is its disk. By hand, once its serial "
            f"number was compared and the member was taken out of service: `sdparm --save --set=MODE=VALUE {by_id_path(params['old_wwid'])}`, then "
            f"`zpool online` with the pool and {params.get('vdev_guid', '')}."
        )
    return ok(f"Neither a multipath map nor a container stands between {name_of(disk)} and its member.")


@guard
def the_disk_is_in_service(facts: FleetFacts, params: Params) -> Verdict:
    """Whether it has to be taken out of service first."""
    found = need(the_leaf(facts, params))
    if found[2].state in SERVING:
        return ok(f"{found[2].guid} is {found[2].state} and serves {found[0].name}.")
    return refuse(f"{found[2].guid} is {found[2].state} and serves nothing, so it need not be taken out of service.")


@guard
def the_disk_rests(facts: FleetFacts, params: Params) -> Verdict:
    """OFFLINE, or a spare that is not in use: no data depends on what it acknowledges meanwhile."""
    found = need(the_leaf(facts, params))
    if found[2].state in RESTING:
        return ok(f"{found[2].guid} is {found[2].state} and serves nothing.")
    return refuse(f"{found[2].guid} is {found[2].state}. A mode is switched only while the disk serves nothing: take it offline first.")


@guard
def the_vdev_can_spare_it(facts: FleetFacts, params: Params) -> Verdict:
    """One disk at a time, and only where the vdev survives one more loss."""
    found = need(the_leaf(facts, params))
    pool, role, leaf = found
    if role == "spare":
        return ok(f"{leaf.guid} is a hot spare; no vdev has to do without it.")
    if role == "log":
        return refuse(f"{leaf.guid} is a log device. It is not taken out of service for a mode.")
    line = lookup.pool_lineage(pool, leaf.guid) if known(leaf.guid) else leaf.guid
    if not known(line) or line is None:
        return unknown(f"Where {leaf.guid} stands in {pool.name} is not known.")
    if any(vdev.kind in ("replacing", "spare") for vdev in line[:-1]):
        return refuse(f"{leaf.guid} is in a replacement. Let that finish first.")
    margin = need(redundancy.top_margin(pool, line[0]))
    needed = 1 if redundancy.leaf_counts(leaf) else 0
    if margin < needed:
        return refuse(f"{line[0].name} {redundancy.survival(margin)}. It cannot do without another disk for a mode.")
    return left(margin - needed, f"Without this disk {line[0].name}")


@guard
def nothing_is_lost_together(facts: FleetFacts, params: Params) -> Verdict:
    """While a cable or a shelf has a fault, no healthy disk is taken out of service."""
    node = need(lookup.node(facts, params.get("node", "")))
    if not known(node.pools) or not lookup.trees_known(node):
        return unknown(f"What {node.node} has lost is not known: {lookup.why_trees_unknown(node)}")
    together = many_disks_offline.detect(FleetFacts({node.node: node}))
    if together:
        return refuse(f"{together[0].title}. Mend that first.")
    return ok("No disks of this node are lost together.")


@guard
def no_scan_runs_on_the_pool(facts: FleetFacts, params: Params) -> Verdict:
    """Taking a disk out and back begins a resilver, and would restart one that runs."""
    pool = need(the_pool(facts, params))
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    running = [s for s in scans if s.state in ("running", "paused")]
    return (
        refuse(f"A {running[0].function} of {pool.name} is {running[0].state}. Wait until it ends.")
        if running
        else ok(f"No scan runs on {pool.name}.")
    )


def the_deviation(facts: FleetFacts, params: Params, mode: str) -> Known[Deviation]:
    disk = the_disk_meant(facts, params)
    return deviation(facts.nodes[params["node"]], disk, mode) if known(disk) else disk


def the_switch_is_towards_its_like(facts: FleetFacts, params: Params) -> Verdict:
    """A mode is set per model. A run brings one disk in line with the others of its model; it does not change what they have."""
    change = the_change(params)
    return judged(facts, params, *change) if known(change) else unknown(change.reason)


def the_change(params: Params) -> Known[tuple[str, bool]]:
    mode, _, value = params.get("change", "").partition(" ")
    return (mode, value == "1") if mode in MODES and value in ("0", "1") else Unknown("No mode is chosen yet.")


def judged(facts: FleetFacts, params: Params, mode: str, on: bool) -> Verdict:
    found, what = the_deviation(facts, params, mode), MODES[mode]
    if not known(found):
        return unknown(found.reason)
    if mode == "WCE" and on:
        return refuse(
            "A write cache is not switched on from here: sdparm goes past the kernel, which then never flushes it. Whether the disk keeps its "
            "cache over a power cut is the vendor's word; a person sets it by the kernel's cache_type, for all disks of the model."
        )
    if found.switch.on == on and not found.unsaved:
        return refuse(f"The {what} of {name_of(found.disk)} is {_on(on)} already, now and after a power cut.")
    if mode == "WCE" and known(found.disk.modes) and found.disk.modes.is_never_flushed:
        return ok(f"{name_of(found.disk)} caches writes that the kernel never flushes.")
    if found.usual.value is None:
        count = found.usual.on + found.usual.off
        return refuse(
            f"Of {count} disks of its model and firmware no value has the majority, so which one is meant is not known. Decide the policy first."
        )
    if found.usual.value != on:
        return refuse(f"{found.usual.words}. A policy is changed for the whole model, outside a run.")
    return ok(f"{found.usual.words}.")


@guard
def the_mode_is_as_wanted(facts: FleetFacts, params: Params) -> Verdict:
    """The current and the saved value: one that is not saved is lost at a power cut."""
    change = need(the_change(params))
    mode, on = change
    found = need(the_deviation(facts, params, mode))
    if found.switch.on != on or found.unsaved:
        return refuse(f"The {MODES[mode]} of {name_of(found.disk)} is {found.switch.words}. It was to be {_on(on)} and saved.")
    return ok(f"The {MODES[mode]} of {name_of(found.disk)} is {found.switch.words}.")


@guard
def the_member_has_caught_up(facts: FleetFacts, params: Params) -> Verdict:
    found = need(the_leaf(facts, params))
    pool, _, leaf = found
    if leaf.state not in SERVING:
        return refuse(f"{leaf.guid} is {leaf.state}. Check its disk, and bring it back with `zpool online`.")
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    if not redundancy.leaf_counts(leaf) or any(s.function in REPAIRS and s.state in ("running", "paused") for s in scans):
        return refuse(f"{leaf.guid} is {leaf.state} and still catches up.")
    return ok(f"{leaf.guid} is {leaf.state} in {pool.name} and holds its share.")


@guard
def the_kernel_flushes_what_the_disk_caches(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk_meant(facts, params))
    modes = need(disk.modes, f"The modes of {name_of(disk)} are not known")
    kernel_believes = need(modes.kernel_believes)
    need(modes.write_cache, f"Whether {name_of(disk)} caches writes is not known")
    if modes.is_never_flushed:
        return refuse(
            f"{name_of(disk)} caches writes and the kernel assumes it does not. Switch the cache off before the disk serves again."
        )
    return ok(f"The kernel assumes: {kernel_believes}. Nothing that {name_of(disk)} caches stays without a flush.")


def _on(value: bool) -> str:
    return "on" if value else "off"


AUDIT_GUARDS = (
    what_the_audit_reads_is_fresh,
    the_disk_is_the_one_meant,
    a_mode_reaches_the_disk,
    nothing_is_lost_together,
    no_scan_runs_on_the_pool,
)
