"""What every runbook that puts a new disk into a pool shares: the choice of it, the node's plan, and how the resilver gets on."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from agents.domain.wwid import as_other_systems_name
from agents.operations import zpool_replace
from agents.operations._new_disk import MAP
from workflows.analysis import eta, redundancy
from workflows.engine import plan_losses
from workflows.engine.core import Guard, ManualStep, OperationParams, Option, Params, Progress, Verdict, ask, blockers, ok, refuse, unknown
from workflows.facts import REPAIRS, DiskFacts, FleetFacts, known, lookup, size, title
from workflows.guards import CANDIDATE_GUARDS, facts_are_fresh
from workflows.guards.answers import the_chosen_disk
from workflows.guards.candidate import the_bay_of_the_disk_is_not_known, the_disk_is_seen_and_running
from workflows.guards.member import the_member_serves_again
from workflows.guards.scanned import serial_of
from workflows.guards.several import about, numbers_chosen
from workflows.guards.subject import the_disk, the_pool, the_target

NO_DISK = (
    "{node} reports no SCSI, SATA or NVMe disk. A virtio disk (vda) is not among them, because the kernel gives it no identity: in the settings of the virtual machine "
    "attach it as a SCSI, SATA or NVMe disk with a serial number of its own, and have the node look again."
)
RESILVER_SECONDS_MAX = 7 * 24 * 3600  # a large, busy raidz takes days; after a week a person should look


def scan_chosen(slug: str = "scan", finds: str = "") -> ManualStep:
    """Passed over where the bay of the disk is known."""
    return ManualStep(
        slug=slug,
        title="Scan the new disk",
        why="No enclosure gives the bay of this disk, so a person makes sure which one it is before anything is written to it. Take nothing out.",
        guards=(facts_are_fresh, the_disk_is_seen_and_running),
        needed=the_bay_of_the_disk_is_not_known,
        asks="Scan or type the serial number on the new disk.",
        judges=the_chosen_disk,
        param="scanned_serial",
        reads=serial_of,
        finds=finds,
    )


def pool_disk_and_bay(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """What a run about a pool and new disks holds: two runs must not meet in any of them. () where one of the disks is not known."""
    disks = [(one["wwid"], the_disk(facts, one)) for one in (about(params, number) for number in numbers_chosen(params))]
    keys = [_disk_and_bay(wwid, disk) for wwid, disk in disks if known(disk)]
    return (f"pool:{params['pool_guid']}", *(key for two in keys for key in two)) if disks and len(keys) == len(disks) else ()


def _disk_and_bay(wwid: str, disk: DiskFacts) -> tuple[str, ...]:
    bays = (f"bay:{disk.bay.enclosure_id}/{disk.bay.slot}",) if known(disk.bay) else ()
    return (f"disk:{as_other_systems_name(wwid)}", *bays)


def every_disk(facts: FleetFacts, params: Params, guards: tuple[Guard, ...] = CANDIDATE_GUARDS) -> tuple[Option, ...]:
    """All disks the node sees, the fittest first: who looks for a disk that is not offered must find out why."""
    node = lookup.node(facts, params.get("node", ""))
    if not known(node) or not known(node.disks):
        return ()
    if not node.disks:
        return (
            Option("no-disk", "No disk that a command could name", "The node reports none.", (unknown(NO_DISK.format(node=node.node)),)),
        )
    options = [(disk, _option(disk, facts, params, guards)) for disk in node.disks]
    return tuple(option for _, option in sorted(options, key=lambda pair: (len(blockers(pair[1].verdicts)), _place(pair[0]))))


def _place(disk: DiskFacts) -> tuple[str, int, tuple[str, ...]]:
    return (disk.bay.enclosure_id, disk.bay.slot, disk.names) if known(disk.bay) else ("~", 0, disk.names)


def _option(disk: DiskFacts, facts: FleetFacts, params: Params, guards: tuple[Guard, ...]) -> Option:
    if not known(disk.wwid):
        nameless = unknown(f"{title(disk)} has no identity that can be trusted: {disk.wwid.reason}")
        return Option(f"no-wwid:{' '.join(disk.names)}", title(disk), _described(disk), (nameless,))
    verdicts = ask(guards, facts, {**params, "wwid": disk.wwid})
    return Option(disk.wwid, title(disk), _described(disk), verdicts)


def _described(disk: DiskFacts) -> str:
    serial = f"serial {disk.serial}" if known(disk.serial) else "serial not known"
    bay = f"bay {disk.bay.slot} of {disk.bay.enclosure_id}" if known(disk.bay) else "bay not known"
    return f"{bay}: {disk.vendor} {disk.model}, {size(disk.size_bytes)}, {serial}"


def replace_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return whole_disk(zpool_replace)(facts, params)


def whole_disk(operation: ModuleType) -> OperationParams:
    """The parameters of an operation that takes a disk whole: behind a multipath map it is named by the map."""

    def of_the_run(facts: FleetFacts, params: Params) -> Mapping[str, str]:
        return {**{name: params.get(name, "") for name in operation.PARAMS}, **its_map(facts, params)}

    return of_the_run


def its_map(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    disk = the_disk(facts, params)
    return {MAP: disk.map.uuid} if known(disk) and known(disk.map) and disk.map is not None else {}


def plan_is_for_what_was_chosen(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Whether the node means the same vdev, the same disk, the same bay and the same command as we do."""
    wanted = replace_params(facts, params)
    goes = _same("the vdev that goes", params.get("vdev_guid", ""), _part(plan, "outgoing").get("vdev_guid"))
    return (*_command(zpool_replace, wanted, plan), goes, *the_disk_that_comes(facts, params, plan))


def takes_in(operation: ModuleType) -> Callable[[FleetFacts, Params, Mapping[str, Any]], tuple[Verdict, ...]]:
    """The same of an operation that takes a disk into a pool for no other."""

    def the_node_means_the_same_disk(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
        return (*_command(operation, whole_disk(operation)(facts, params), plan), *the_disk_that_comes(facts, params, plan))

    return the_node_means_the_same_disk


def takes_in_each(
    operation: ModuleType, params_of: OperationParams
) -> Callable[[FleetFacts, Params, Mapping[str, Any]], tuple[Verdict, ...]]:
    """The same of one that takes several disks into a pool: the plan shows each under its number."""

    def the_node_means_the_same_disks(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
        each = ((about(params, number), f"disk {number}") for number in numbers_chosen(params))
        return (
            *_command(operation, params_of(facts, params), plan),
            *(v for one in each for v in the_disk_that_comes(facts, one[0], plan, one[1])),
        )

    return the_node_means_the_same_disks


def _command(operation: ModuleType, wanted: Mapping[str, str], plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
    if bad := operation.check(wanted):
        return (refuse(bad),)
    return (_same("the command", list(operation.argv(wanted)), plan.get("argv")),)


def the_disk_that_comes(facts: FleetFacts, params: Params, plan: Mapping[str, Any], part: str = "incoming") -> tuple[Verdict, ...]:
    incoming = _part(plan, part)
    return (_same("the disk that comes", params.get("wwid", ""), incoming.get("wwid")), *_same_as_seen(facts, params, incoming))


def _same_as_seen(facts: FleetFacts, params: Params, incoming: Mapping[str, Any]) -> tuple[Verdict, ...]:
    disk = the_disk(facts, params)
    if not known(disk):
        return (unknown(disk.reason),)
    verdicts = []
    if known(disk.serial):
        verdicts.append(_same("its serial", disk.serial, incoming.get("serial")))
    if known(disk.bay):
        verdicts.append(_same("its bay", f"{disk.bay.enclosure_id}/{disk.bay.slot}", incoming.get("bay")))
    return tuple(verdicts)


def _same(what: str, ours: Any, theirs: Any) -> Verdict:
    if ours == theirs:
        return ok(f"Node and portal agree on {what}.")
    planned = "nothing" if theirs is None else repr(theirs)
    return refuse(f"For {what} the node's plan has {planned} and the portal {ours!r}. Have the node look again, then ask for a new plan.")


def _part(plan: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = plan.get(name)
    return part if isinstance(part, dict) else {}


def what_is_left_meanwhile(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """How many more losses the vdev survives, now and while the new disk is filled: it counts only when it is full."""
    target = the_target(facts, params)
    if not known(target):
        return {"redundancy": plan_losses.not_known(target.reason, params)}
    margin = redundancy.top_margin(target.pool, target.top)
    if not known(margin):
        return {"redundancy": plan_losses.not_known(margin.reason, params)}
    more = "The new disk counts only when it is filled."
    return {"redundancy": plan_losses.redundancy_of(target.pool, target.top, target.leaf, target.node, margin, margin, more)}


def what_is_left_without_it(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """How many more losses the vdev survives, now and while the member is out of service."""
    target = the_target(facts, params)
    found = (target.pool, target.top, target.leaf) if known(target) else target
    return {"redundancy": plan_losses.taken_out(facts, params, found)}


def since_when_it_serves(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    return span(facts, params, at, "serving", the_member_serves_again(facts, params).outcome == "pass")


def span(facts: FleetFacts, params: Params, at: float, name: str, holds: bool) -> Mapping[str, str]:
    """From when to when something held, "first:last", as the run parameter `name`; "" when it does not hold.

    By the moments at which `zpool status` was asked, not those at which we looked.
    """
    node = lookup.node(facts, params.get("node", ""))
    if not known(node) or not known(node.ages) or "zpool_status" not in node.ages:
        return {}
    seen, since = int(at - node.ages["zpool_status"]), params.get(name, "").partition(":")[0]
    return {name: f"{since or seen}:{seen}" if holds else ""}


def how_far_the_resilver_is(facts: FleetFacts, params: Params) -> Progress:
    shown, pool = _how_far(facts, params, REPAIRS), the_pool(facts, params)
    left = eta.of(facts.nodes[params["node"]], pool) if known(pool) else pool
    return replace(shown, lines=left.lines) if known(left) else shown


def how_far_the_scrub_is(facts: FleetFacts, params: Params) -> Progress:
    return _how_far(facts, params, ("scrub",))


def _how_far(facts: FleetFacts, params: Params, functions: Collection[str]) -> Progress:
    """The first scan of one of these kinds that runs or is paused, with the percent and the time left that ZFS prints."""
    pool = the_pool(facts, params)
    if not known(pool):
        return Progress(pool.reason)
    if not known(pool.scans):
        return Progress(pool.scans.reason)
    running = [scan for scan in pool.scans if scan.function in functions and scan.state in ("running", "paused")]
    if not running:
        return Progress(pool.scans[0].text if pool.scans else f"{pool.name} shows no scan.")
    return Progress(running[0].text, _percent(running[0].percent), running[0].eta)


def _percent(text: str | None) -> float | None:
    try:
        return None if text is None else min(100.0, max(0.0, float(text)))
    except ValueError:
        return None
