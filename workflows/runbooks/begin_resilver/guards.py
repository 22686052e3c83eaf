"""What begin-resilver alone asks: whether a disk misses data, and whether one comes and goes."""

from collections.abc import Iterator

from agents.collectors.zpool_get import DEFERS
from agents.operations import _resilver
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import REPAIRS, FleetFacts, PoolFacts, VdevFacts, known, lookup, need, release_numbers
from workflows.guards.subject import the_pool

LATELY_SECONDS = 30 * 60
CHANGES_MAX = 2  # a disk that left and came back once
BEGINS_SECONDS = 120  # it begins with the next txg, at most some seconds after the command
NONE_BEGAN = "none_began"  # from when to when this was so, as a run parameter
DEAD_END = "finish-replacement takes it out."


def _vdevs(pool: PoolFacts) -> Iterator[VdevFacts]:
    if not known(pool.tops):
        return
    for _, top in pool.tops:
        yield from top.walk()


def _missing(pool: PoolFacts) -> list[str]:
    """What shows that data is missing on a disk, in words; a cancelled resilver alone does not say on which."""
    leaves = [vdev for vdev in _vdevs(pool) if not vdev.children and vdev.state in lookup.IN_SERVICE]
    marked = [
        f"{leaf.guid} (what is older than txg {leaf.rebuilding_since_txg}, by its label)"
        for leaf in leaves
        if leaf.rebuilding_since_txg is not None
    ]
    waits = [f"{leaf.guid} (awaiting resilver)" for leaf in leaves if leaf.awaiting_resilver and leaf.rebuilding_since_txg is None]
    left = [
        f"{vdev.name}, which nothing has ended"
        for vdev in _vdevs(pool)
        if vdev.kind == "replacing" and vdev.children[-1].state in lookup.IN_SERVICE
    ]
    return [*marked, *waits, *left]


@guard
def something_may_miss_data(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    if missing := _missing(pool):
        return ok(f"Data is missing in {pool.name}: {'; '.join(missing)}.")
    if any(scan.function in REPAIRS and scan.state == "canceled" for scan in scans):
        return ok(f"The last resilver of {pool.name} was cancelled, so a disk may miss data.")
    return refuse(f"Nothing shows that a disk of {pool.name} misses data. End this run; to read all that it holds, scrub it.")


@guard
def no_disk_comes_and_goes(facts: FleetFacts, params: Params) -> Verdict:
    """A resilver begins anew each time, and never ends."""
    pool = need(the_pool(facts, params))
    changes = need(facts.nodes[params["node"]].leaf_changes, f"Which disks of {params['node']} changed lately is not known")
    lately = [change.vdev_guid for change in changes if change.pool_guid == pool.guid and change.age_seconds <= LATELY_SECONDS]
    restless = sorted({str(guid) for guid in lately if lately.count(guid) > CHANGES_MAX})
    if restless:
        return refuse(
            f"{', '.join(restless)} came and went in the last 30 minutes. Mend its seat, its cable or its port first; a resilver would begin anew each time."
        )
    return ok(f"No disk of {pool.name} came and went in the last 30 minutes.")


@guard
def zfs_begins_one_when_asked(facts: FleetFacts, params: Params) -> Verdict:
    """The kernel refuses `zpool resilver` where the feature resilver_defer is not enabled (spa_scan, module/zfs/spa.c)."""
    pool = need(the_pool(facts, params))
    properties = need(pool.properties, f"Whether the feature resilver_defer of {pool.name} is enabled is not known")
    numbers = release_numbers(facts.nodes[params["node"]].zfs_module)
    found = properties.get(DEFERS)
    feature = found if found is not None else _resilver.before_it(numbers if known(numbers) else None)
    if feature is None:
        return unknown(f"Whether the feature resilver_defer of {pool.name} is enabled is not known. Have the node look again.")
    if feature not in _resilver.ON:
        state = f"is {feature}" if feature else "does not exist in this release"
        return refuse(
            f"The feature resilver_defer of {pool.name} {state}, and ZFS begins no resilver by command without it. A scrub fills what is missing: `zpool scrub {pool.name}`."
        )
    return ok(f"The feature resilver_defer of {pool.name} is {feature}.")


@guard
def the_resilver_goes_well(facts: FleetFacts, params: Params) -> Verdict:
    """Asked all the time while it is waited for."""
    pool = need(the_pool(facts, params))
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    for scan in (scan for scan in scans if scan.function in REPAIRS):
        if scan.errors:
            return refuse(
                f"The {scan.function} of {pool.name} counts {scan.errors} errors. Read `zpool status -v`, restore what it names, and scrub; detach nothing."
            )
    dead = [v for v in _vdevs(pool) if v.kind == "replacing" and v.children[-1].state in lookup.LOST_STATES]
    if dead:
        return refuse(
            f"The new disk of {dead[0].name} is {dead[0].children[-1].state}, so nothing fills it. Look at its seat and cable; if it is gone, {DEAD_END}"
        )
    return ok(f"No resilver of {pool.name} counts errors.")


def none_began(facts: FleetFacts, params: Params) -> bool:
    """Whether the cancelled resilver is still the last scan, after the command was given: ZFS begins none where nothing is missing (spa_scan)."""
    pool = the_pool(facts, params)
    if not known(pool) or not known(pool.scans) or _missing(pool):
        return False
    repairs = [scan for scan in pool.scans if scan.function in REPAIRS]
    return bool(repairs) and all(scan.state == "canceled" for scan in repairs) and not _resilver.not_over(pool.scans)


def _seconds(params: Params) -> int:
    first, _, last = params.get(NONE_BEGAN, "").partition(":")
    return int(last) - int(first) if first.isdecimal() and last.isdecimal() else 0


@guard
def nothing_misses_data(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    tops = need(pool.tops, f"The vdevs of {pool.name} are not known")
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    unread = [top.name for _, top in tops if not known(top.ashift)]
    if unread:
        return unknown(
            f"No label of {', '.join(unread)} could be read, so whether a disk misses data is not known. Have the node look again."
        )
    if missing := _missing(pool):
        return refuse(f"Data is still missing in {pool.name}: {'; '.join(missing)}.")
    if none_began(facts, params):
        if _seconds(params) < BEGINS_SECONDS:
            return refuse(f"The resilver of {pool.name} was cancelled. One begins within seconds where data is missing; wait a little.")
        return ok(f"ZFS was asked and began no resilver of {pool.name}: by its own record no disk in service misses data.")
    for scan in (scan for scan in scans if scan.function != "none"):
        if scan.state != "finished" or scan.errors is None or scan.errors:
            errors = f" with {scan.errors} errors" if scan.state == "finished" else ""
            return refuse(f"The {scan.function} of {pool.name} is {scan.state}{errors}.")
    return ok(f"No disk of {pool.name} misses data, by its labels and its last scan.")
