"""What rename-members alone asks before it does something."""

from agents.domain.wwid import by_id_path
from workflows.analysis import starting
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, Known, NodeFacts, PoolFacts, Unknown, VdevFacts, derived, known, lookup, need
from workflows.guards.importing import the_pool_is_not_imported_here
from workflows.guards.subject import the_pool
from workflows.situations import kernel_names

BY_ID = "/dev/disk/by-id/"
NAMED = 4
ROOTS = ("/", "/boot", "/usr", "/var")
BY_HAND = "Export it and import it by hand, with `-d` of the directory whose names are wanted."


@guard
def some_members_have_names_that_move(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    need(pool.tops)
    leaves = kernel_names.moving(pool)
    if not leaves:
        return refuse(f"No member of {pool.name} stands under a kernel name, so there is nothing to end. End this run.")
    return ok(f"{len(leaves)} members of {pool.name} stand under kernel names.")


@guard
def every_member_is_online(facts: FleetFacts, params: Params) -> Verdict:
    """A pool that lacks a member comes in without it, and out of date once it was written to."""
    pool = need(the_pool(facts, params))
    need(pool.tops)
    down = [f"{leaf.short} ({leaf.state})" for _, leaf in lookup.pool_leaves(pool) if leaf.state not in kernel_names.SERVES]
    if down or pool.state != "ONLINE":
        what = f"; not in service: {_some(down)}" if down else ""
        return refuse(f"{pool.name} is {pool.state}{what}. Its situations say how the members are brought back; begin this again then.")
    return ok(f"{pool.name} and every member of it are ONLINE.")


@guard
def every_disk_has_its_link(facts: FleetFacts, params: Params) -> Verdict:
    """The import looks in /dev/disk/by-id alone: what has no link there would not be found."""
    pool, node = need(the_pool(facts, params)), need(lookup.node(facts, params.get("node", "")))
    need(pool.tops)
    for _, leaf in lookup.pool_leaves(pool):
        if not leaf.name.startswith(BY_ID) and leaf not in kernel_names.moving(pool):
            return refuse(f"{leaf.name} of {pool.name} is a name that a person chose, and an import from {BY_ID} changes it too. {BY_HAND}")
        disk = need(_disk_of(node, leaf))
        if why := _no_link(disk, need(leaf.wwid)):
            return refuse(f"{leaf.short} of {pool.name}: {why}")
        if held := need(_held(disk)):
            return refuse(f"{leaf.short} of {pool.name} has {held} on top of it, as multipath and LUKS do. {BY_HAND}")
    return ok(f"The disk of every member of {pool.name} has its own link in {BY_ID}.")


@derived
def _disk_of(node: NodeFacts, leaf: VdevFacts) -> DiskFacts | Unknown:
    wwid, disks = need(leaf.wwid), need(node.disks)
    return next((disk for disk in disks if known(disk.wwid) and disk.wwid == wwid), Unknown(f"{node.node} does not see the disk {wwid}."))


def _no_link(disk: DiskFacts, wwid: str) -> str:
    link = by_id_path(wwid)
    if disk.doubt:
        return disk.doubt
    if link is None:
        return f"Its disk {wwid} has no identity that a link could have. {BY_HAND}"
    if not any(link in path.by_id for path in disk.paths):
        return f"There is no {link}. Find out why udev does not make it (`udevadm trigger`, `udevadm info`), and have the node look again."
    return ""


@derived
def _held(disk: DiskFacts) -> Known[str]:
    return ", ".join(holder for path in disk.paths for holder in need(path.holders))


@guard
def its_cache_file_is_that_of_this_run(facts: FleetFacts, params: Params) -> Verdict:
    """After the export the property is gone; the import sets it again from the run."""
    pool = need(the_pool(facts, params))
    properties = need(pool.properties)
    cachefile, altroot = properties.get("cachefile"), properties.get("altroot")
    if cachefile is None or altroot is None:
        return unknown(f"The properties cachefile and altroot of {pool.name} were not both read. Have the node look again.")
    if altroot != kernel_names.NO_VALUE:
        return refuse(f"{pool.name} is imported under {altroot}, for the time being. Import it where it belongs first.")
    if kernel_names.cachefile_of(pool) != params.get("cachefile"):
        return refuse(
            f"The property cachefile of {pool.name} is {cachefile}, and this run would import it with {params.get('cachefile')}. Begin again from "
            f"its situation; a file that a person chose is given by hand. {BY_HAND}"
        )
    return ok(f"{pool.name} is imported with the cache file {params['cachefile']} again.")


@guard
def the_system_does_not_run_from_it(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    roots = [point for name, point in need(_mounted(pool)) if point in ROOTS]
    if roots:
        return refuse(
            f"{pool.name} is mounted on {_some(roots)}: the system runs from it, so it cannot be exported. Its names change when its initramfs imports it "
            "with `-d /dev/disk/by-id`; build that anew and reboot."
        )
    return ok(f"The system does not run from {pool.name}, as far as its datasets say; the node asks its mounts too.")


@guard
def nothing_of_it_is_mounted(facts: FleetFacts, params: Params) -> Verdict:
    """By its datasets. Lustre targets are in the mounts of the node, which it asks itself before it exports."""
    pool = need(the_pool(facts, params))
    mounted = [f"{name} on {point}" for name, point in need(_mounted(pool))]
    if mounted:
        return refuse(f"Mounted are still: {_some(mounted)}. Stop what uses them, then `zfs unmount` each.")
    return ok(f"No dataset of {pool.name} is mounted.")


@derived
def _mounted(pool: PoolFacts) -> Known[tuple[tuple[str, str], ...]]:
    datasets = need(pool.datasets)
    if datasets.left_out:
        return Unknown(
            f"{datasets.left_out} rows of `zfs get` of {pool.name} were left out, so what is mounted is not known in full. {BY_HAND}"
        )
    return tuple((name, of.get("mountpoint", "")) for name, of in datasets.values.items() if of.get("mounted") == "yes")


@guard
def every_member_has_its_stable_name(facts: FleetFacts, params: Params) -> Verdict:
    pool, node = need(the_pool(facts, params)), need(lookup.node(facts, params.get("node", "")))
    need(pool.tops)
    other = []
    for _, leaf in lookup.pool_leaves(pool):
        if not leaf.name.startswith(BY_ID):
            other.append(leaf.name)
        elif not lookup.is_called(node, leaf.name, need(leaf.wwid)):
            return unknown(f"Whether {leaf.name} leads to the disk with the label of {leaf.guid} is not known. Have the node look again.")
    if other:
        return refuse(
            f"Not under {BY_ID} after the import: {_some(other)}. The pool serves all the same. End this run: its way back lists what is to be started. "
            f"Then look for the link of that disk (`ls -l {BY_ID}`)."
        )
    return ok(f"Every member of {pool.name} stands under {BY_ID}, and each name leads to the disk with its label.")


@guard
def it_is_imported_and_mounted_again(facts: FleetFacts, params: Params) -> Verdict:
    """What is left unmounted on purpose a person has to say."""
    here = the_pool_is_not_imported_here(facts, params)
    if here.outcome != "refuse":
        return refuse(here.reason) if here.outcome == "pass" else here
    pool = need(the_pool(facts, params))
    waiting = starting.not_mounted(need(pool.datasets))
    if waiting:
        return unknown(f"{pool.name} is imported, and not mounted are {_some(list(waiting))}.")
    return ok(f"{pool.name} is imported, and every dataset that mounts by itself is mounted.")


def what_stops_meanwhile(facts: FleetFacts, params: Params) -> str:
    """A line for each kind of what uses the pool. What ZFS does not tell is a line too."""
    pool = the_pool(facts, params)
    if not known(pool):
        return f"Not known: what uses the pool. {pool.reason}"
    return "\n".join((*starting.in_use(pool), UNSEEN))


UNSEEN = (
    "Not seen from here: who has files open, iSCSI sessions, swap on volumes, a running send or receive, a cluster manager that would start the pool "
    "again. ZFS refuses to export a pool that is busy (spa_export_common in module/zfs/spa.c), and nothing is forced."
)


def _some(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
