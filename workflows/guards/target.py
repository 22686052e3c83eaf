"""Questions about the lost member, its vdev and its pool: may anything be attached there now?"""

from agents.collectors.zpool_get import DEFERS
from agents.operations import _resilver
from workflows.analysis import redundancy
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, PoolFacts, known, lookup, need, release_numbers, title
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.fresh import OF_OTHERS, facts_are_fresh, stale, stale_elsewhere
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.margin import left
from workflows.guards.partitioned import the_member_has_its_disk_alone
from workflows.guards.subject import Target, number, sharing_nodes, the_pool, the_target
from workflows.situations import many_disks_offline

MASS_EVENT_SECONDS = 30 * 60
WRONG_SIBLINGS_MAX = 1  # one disk may be sick by itself
WRONG_NAMED = 4
MASS_EVENT_LEAVES_MIN = 1  # one lost disk is what we are here for


@guard
def the_pool_is_imported_here_and_nowhere_else(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    if _wwids(pool) == frozenset():
        return unknown(
            f"Which disks {pool.name} sits on is not known, so other nodes cannot be asked about them. Have the node look again. Of virtio disks and of files it is "
            "never known: make sure that no other host has the pool, and give the command by its guids outside of Slotlight."
        )
    for node in facts.nodes.values():
        if node.node != params["node"] and known(node.pools) and any(p.guid == pool.guid for p in node.pools):
            return refuse(f"{pool.name} is imported on {params['node']} and on {node.node}. Fence one of them before anything else.")
    sharing = need(sharing_nodes(facts, params["node"], _wwids(pool)))
    for node in sharing:
        if why := stale_elsewhere(node, OF_OTHERS):
            return unknown(f"{node.node} sees disks of {pool.name} too. {why}")
        if not known(node.pools) or not all(known(p.guid) for p in node.pools):
            return unknown(f"{node.node} sees disks of {pool.name}, and which pools it has imported is not known.")
    return ok(f"{pool.name} is imported on {params['node']} only.")


@guard
def the_pool_is_not_suspended(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    if need(pool.suspended, f"Whether {pool.name} is suspended is not known"):
        return refuse(f"{pool.name} is suspended; a command to it would hang. Find out why its I/O stopped first.")
    return ok(f"{pool.name} is not suspended.")


@guard
def the_lost_member_is_one_known_vdev(facts: FleetFacts, params: Params) -> Verdict:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    line = need(lookup.pool_lineage(pool, guid))
    if line is None:
        return refuse(f"{pool.name} has no vdev {guid} any more. Look at the pool again; it may be replaced already.")
    if line[-1].children:
        return refuse(f"{guid} is {line[-1].name}, not a disk. Name the lost disk itself.")
    return ok(f"{guid} is one disk of {line[0].name} in {pool.name}.")


@guard
def the_lost_member_is_out_of_service(facts: FleetFacts, params: Params) -> Verdict:
    target = need(the_target(facts, params))
    if target.leaf.state in lookup.LOST_STATES:
        return ok(f"{params['vdev_guid']} is {target.leaf.state} and serves nothing.")
    return refuse(
        f"{params['vdev_guid']} is {target.leaf.state} and still serves {target.pool.name}. This runbook replaces lost disks only."
    )


@guard
def the_lost_member_is_not_being_replaced(facts: FleetFacts, params: Params) -> Verdict:
    target = need(the_target(facts, params))
    parent = target.parent
    if parent is not None and parent.kind == "replacing":
        return refuse(f"{params['vdev_guid']} is in {parent.name}: a replacement is under way already. Wait until it ends.")
    if parent is not None and parent.kind == "spare" and parent.children[-1] == target.leaf:
        return refuse(f"{params['vdev_guid']} is the hot spare of {parent.name}, not the disk it stands in for. Replace that one.")
    return ok(f"Nothing stands in the place of {params['vdev_guid']} yet.")


@guard
def the_lost_member_has_not_come_back(facts: FleetFacts, params: Params) -> Verdict:
    """A member that is back under a new name needs `zpool online`, and replacing it would be refused."""
    target = need(the_target(facts, params))
    if target.leaf.state == "FAULTED" and target.leaf.was is None:
        return ok(f"{target.leaf.guid} is still there and FAULTED: a sick disk in its place, not one that came back.")
    disks = target.node.disks
    disks = need(disks, f"The disks of {target.node.node} are not known")
    for disk in disks:
        if known(disk.labels) and any((label.pool_guid, label.guid) == (target.pool.guid, target.leaf.guid) for label in disk.labels):
            return refuse(
                f"{title(disk)} carries the label of {target.leaf.guid}: the member is back. Bring it back with `zpool online` instead."
            )
    for disk in disks:
        if not known(disk.labels) and not (known(disk.in_use) and disk.in_use):
            return unknown(
                f"{title(disk)} may be the lost member: its labels are not known. Mend or pull it, and look again. {disk.labels.reason}"
            )
    return ok(f"No disk on {target.node.node} carries the label of {target.leaf.guid}.")


@guard
def the_vdev_can_still_rebuild(facts: FleetFacts, params: Params) -> Verdict:
    """The lost disk serves nothing, so replacing it needs a margin of 0: every block can still be read from the others."""
    target = need(the_target(facts, params))
    margin = need(redundancy.top_margin(target.pool, target.top))
    if margin < 0:
        if _is_log(target):
            return refuse(
                f"No device of the log {target.top.name} is left to fill a new one from. The data of {target.pool.name} is not on it: remove it with "
                f"`zpool remove {target.pool.name}` and its guid, and add another with `zpool add {target.pool.name} log` and a name that does not move."
            )
        return refuse(f"{target.top.name} has lost more disks than it can rebuild. Do not write to it; get help before anything else.")
    return left(margin, f"{target.top.name} can rebuild the disk. It")


@guard
def no_mass_event_is_under_way(facts: FleetFacts, params: Params) -> Verdict:
    """Several disks lost together point at a cable, an expander or an HBA, and replacing disks then makes it worse."""
    target = need(the_target(facts, params))
    together = many_disks_offline.detect(FleetFacts({target.node.node: target.node}))
    if together:
        return refuse(f"{together[0].title}. Mend that first; replacing disks now makes it worse.")
    changes = need(target.node.leaf_changes, f"Which disks of {target.node.node} changed lately is not known")
    lost = {(c.pool_guid, c.vdev_guid) for c in changes if c.after != "ONLINE" and c.age_seconds <= MASS_EVENT_SECONDS}
    allowed = max(MASS_EVENT_LEAVES_MIN, target.top.parity - 1)
    if len(lost) > allowed:
        return refuse(
            f"{len(lost)} disks of {target.node.node} left service in the last 30 minutes. Check cables, expanders and the HBA first."
        )
    return ok(f"{len(lost)} of the disks of {target.node.node} left service in the last 30 minutes.")


@guard
def no_resilver_touches_the_vdev(facts: FleetFacts, params: Params) -> Verdict:
    """Nor one of another vdev that would restart: where the pool defers resilvers, the new disk is resilvered afterwards. While a sequential rebuild runs
    ZFS attaches nothing. The rule is the node's own, and stands with it: `agents/operations/_resilver.py`."""
    target = need(the_target(facts, params))
    pool, top = target.pool, target.top
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    here, elsewhere = redundancy.being_rebuilt(top, scans), _elsewhere(target)
    outcome, reason = _resilver.in_the_way(pool.name, top.name, _resilver.not_over(scans), here, elsewhere, lambda: _defers(target))
    if outcome == "refuse" and target.parent is not None and target.parent.kind == "spare":
        # Before 2.3.0 the pull of a disk that is OFFLINE may start one.
        reason = (
            f"{reason} A hot spare stands in for {target.leaf.guid}: when it is filled, this goes on, and the spare goes back at the end."
        )
    return Verdict(outcome, reason)


def the_running_resilver_begins_anew(facts: FleetFacts, params: Params) -> str:
    """A warning for who brings a member back: that is never refused, as it gains a copy, but it may cost the time of the resilver that runs."""
    target = the_target(facts, params)
    uncertain = "Whether a resilver runs that begins anew when the member is back is not known"
    if not known(target):
        return f"{uncertain}: {target.reason}"
    scans = target.pool.scans
    if not known(scans):
        return f"{uncertain}: {scans.reason}"
    if "resilver" not in _resilver.not_over(scans):
        return ""
    why = _defers(target).why_not(target.pool.name)
    if why is None:
        return f"{target.pool.name} is resilvering. Whether that begins anew when the member is back is not known."
    return f"{target.pool.name} is resilvering, and that begins anew when the member is back: {why}." if why else ""


@guard
def nothing_blocks_attaching(facts: FleetFacts, params: Params) -> Verdict:
    """ZFS refuses to attach a disk while a removal or a checkpoint stands. An expansion of a raidz waits for a lost member instead, so its
    replacement is what ends the wait (spa_vdev_attach, module/zfs/spa.c)."""
    removal, pool = no_removal_is_under_way(facts, params), the_pool(facts, params)
    if removal.outcome != "pass" or not known(pool):
        return removal
    if need(pool.checkpoint, f"Whether {pool.name} has a checkpoint is not known"):
        return refuse(
            f"{pool.name} has a checkpoint, and ZFS attaches no disk while it stands. Whoever made it decides: `zpool checkpoint -d {pool.name}` gives it up."
        )
    return ok(f"{pool.name} has no removal or checkpoint.")


@guard
def no_removal_is_under_way(facts: FleetFacts, params: Params) -> Verdict:
    """ZFS copies one vdev onto the others: meanwhile no member of those is taken out and none is added."""
    pool = need(the_pool(facts, params))
    if need(pool.removing, f"Whether {pool.name} has a device removal is not known"):
        return refuse(f"{pool.name} has a device removal under way. Wait until it ends; `zpool remove -s {pool.name}` calls it off.")
    return ok(f"No vdev is being removed from {pool.name}.")


@guard
def no_expansion_is_under_way(facts: FleetFacts, params: Params) -> Verdict:
    """An expansion pauses while a member is out of service, so none is taken out. A lost member may be replaced."""
    pool = need(the_pool(facts, params))
    if need(pool.expanding, f"Whether a raidz of {pool.name} is being expanded is not known"):
        return refuse(f"A raidz of {pool.name} is being expanded, and stands still while a member is out. Wait until it ends.")
    return ok(f"No raidz of {pool.name} is being expanded.")


def no_expansion_needs_the_member(facts: FleetFacts, params: Params) -> Verdict:
    """A member that serves nothing already pauses the expansion; replacing it lets the expansion go on."""
    verdict, target = no_expansion_is_under_way(facts, params), the_target(facts, params)
    if verdict.outcome == "pass" or not known(target) or target.leaf.state not in lookup.LOST_STATES:
        return verdict
    return ok(f"{target.leaf.guid} is {target.leaf.state}: an expansion waits for it, and goes on when it is replaced.")


@guard
def the_pool_asks_for_no_larger_blocks(facts: FleetFacts, params: Params) -> Verdict:
    """Without `-o ashift` a replace takes the pool's property. One that is larger than the vdev's is refused, after the new disk was partitioned."""
    target = need(the_target(facts, params))
    pool, ashift = target.pool, target.top.ashift
    if why := stale(target.node, ("zpool_get",)):
        return unknown(why)
    if not known(pool.properties) or not pool.properties.get("ashift", "").isdecimal():
        why = "" if known(pool.properties) else f" {pool.properties.reason}"
        return unknown(f"Which ashift {pool.name} gives to new disks is not known.{why}")
    ashift = need(ashift, f"The ashift of {target.top.name} is not known")
    asked = int(pool.properties["ashift"])
    if asked > ashift:
        return refuse(
            f"The property ashift of {pool.name} is {asked} and {target.top.name} has {ashift}, so ZFS would refuse any disk. Run "
            f"`zpool set ashift={ashift} {pool.name}` first."
        )
    return ok(f"{pool.name} asks for no larger blocks than {target.top.name} has.")


@guard
def its_siblings_read_true(facts: FleetFacts, params: Params) -> Verdict:
    """Checksum errors on several disks at once come from what they share (cable, HBA, memory), and a resilver would read from those disks."""
    target = need(the_target(facts, params))
    others = [leaf for leaf in target.top.leaves() if leaf.guid != target.leaf.guid and leaf.state in lookup.IN_SERVICE]
    for leaf in others:
        need(leaf.errors, f"How many wrong checksums {leaf.name} counts is not known")
    wrong = [leaf for leaf in others if known(leaf.errors) and leaf.errors[2]]
    if len(wrong) > WRONG_SIBLINGS_MAX:
        names = ", ".join(leaf.name.rsplit("/", 1)[-1] for leaf in wrong[:WRONG_NAMED])
        if len(wrong) > WRONG_NAMED:
            names += f" and {len(wrong) - WRONG_NAMED} more"
        return refuse(
            f"{len(wrong)} other disks of {target.top.name} count wrong checksums ({names}). That is an HBA, a cable or memory. Find it, scrub, and "
            "have a person decide before anything is replaced."
        )
    return ok(f"{len(wrong)} other disks of {target.top.name} count wrong checksums.")


TARGET_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_lost_member_is_one_known_vdev,
    the_member_has_its_disk_alone,
    the_pool_is_not_encrypted_below,
    the_lost_member_is_out_of_service,
    the_lost_member_is_not_being_replaced,
    the_lost_member_has_not_come_back,
    the_vdev_can_still_rebuild,
    no_mass_event_is_under_way,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    the_pool_asks_for_no_larger_blocks,
    nothing_of_the_pool_comes_first,
)


def _wwids(pool: PoolFacts) -> frozenset[str]:
    return frozenset(leaf.wwid for _, leaf in lookup.pool_leaves(pool) if known(leaf.wwid))


def _is_log(target: Target) -> bool:
    """What a log held is lost with its last device, and none of the pool's data."""
    return known(target.pool.tops) and any(role == "log" and top == target.top for role, top in target.pool.tops)


def _elsewhere(target: Target) -> bool:
    """Whether the running resilver names its disk, and it is under another top-level vdev."""
    tops, scans = target.pool.tops, target.pool.scans
    return known(tops) and known(scans) and any(redundancy.being_rebuilt(top, scans) for _, top in tops)


def _defers(target: Target) -> _resilver.Defers:
    """Both are read every few minutes and change by hand only; the node reads them again before it acts."""
    properties, tunables = target.pool.properties, target.node.tunables
    found = properties.get(DEFERS) if known(properties) else None
    numbers = release_numbers(target.node.zfs_module)
    disabled = tunables.get(_resilver.DISABLED) if known(tunables) else None
    feature = found if found is not None else _resilver.before_it(numbers if known(numbers) else None)
    return _resilver.Defers(feature, disabled.value if disabled else None)
