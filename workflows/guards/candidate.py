"""Questions about the disk that was chosen: is it free, fit, healthy, and where we think it is?"""

from agents.collectors.block import RUNNING
from agents.domain.disk_uses import way_on, ways_on
from agents.domain.multipath_maps import path_of
from agents.domain.wwid import DISKID
from workflows.engine.core import Guard, Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import (
    DiskFacts,
    FleetFacts,
    Known,
    MapFacts,
    NodeFacts,
    Unknown,
    candidate_case,
    derived,
    identify,
    known,
    lookup,
    need,
)
from workflows.guards.fresh import OF_OTHERS, stale_elsewhere
from workflows.guards.healthy import the_disk_is_healthy, the_disk_link_is_as_fast_as_others
from workflows.guards.scanned import names
from workflows.guards.subject import Target, name_of, number, sharing_nodes, the_disk, the_target

BY_PATH = "/dev/disk/by-path/"
BAY_EVIDENCE_MAX = 4  # domain: beyond it the bay is an old inventory or an elimination, a suggestion only


@guard
def the_disk_is_seen_and_running(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    above = need(disk.map)
    if above is not None:
        return _a_path_works(disk, above)
    for path in disk.paths:
        state = need(path.state, f"The state of {path.name} is not known")
        if state not in RUNNING:
            return refuse(f"The kernel calls {path.name} {state}. Check the disk and its cable, or choose another one.")
    return ok(f"{name_of(disk)} is running.") if disk.paths else unknown(f"{name_of(disk)} has no device.")


def _a_path_works(disk: DiskFacts, above: MapFacts) -> Verdict:
    """Of several paths one is enough: multipath uses what works. A warning says which does not."""
    if above.up:
        return ok(f"{name_of(disk)} is reached by {', '.join(above.up)}, through its map {above.dm}.")
    if len(above.down) == len(disk.paths):
        return refuse(
            f"No path to {name_of(disk)} takes I/O: {', '.join(above.down)}. Check the disk and its cables, or choose another one."
        )
    return unknown(
        f"Whether a path to {name_of(disk)} takes I/O is not known: neither multipathd nor the kernel (`dmsetup status`) reports one that is active."
    )


def a_path_is_down(facts: FleetFacts, params: Params) -> str:
    """What to know before: with one path fewer the disk serves, and one more cable or HBA that fails takes it away. "" where none is down."""
    disk = the_disk(facts, params)
    if not known(disk):
        return f"Whether a path to the disk is down is not known: {disk.reason}"
    above = disk.map
    if not known(above):
        return f"Whether a path to {name_of(disk)} is down is not known: {above.reason}"
    if above is None or not above.down:
        return ""
    return (
        f"Down among the paths to {name_of(disk)}: {', '.join(above.down)}. Up: {', '.join(above.up) or 'none that is known'}. One path is enough, and one more "
        "that fails takes the disk away. `multipath -ll` shows which HBA the lost one leads over: look at that cable and at the module of the shelf."
    )


def behind_a_map(disk: DiskFacts) -> Verdict | None:
    """Why nothing is done to its paths one by one, and the commands by hand; None of a disk that no map is above."""
    above = disk.map
    if above is None:
        return None
    if not known(above):
        return unknown(f"{name_of(disk)}: {above.reason}")
    use = f"held by {above.dm} (multipath {above.name})"
    return refuse(f"{name_of(disk)} is behind the multipath map {above.name} ({above.dm}). {way_on(use, str(path_of('', above.uuid)))}")


def asked_past_a_map(disk: DiskFacts, command: str) -> Verdict | None:
    """Why no order sets or asks something of the disk itself: its link leads to the map. `command` is what a person gives; None where no map is above."""
    above = disk.map
    if above is None:
        return None
    if not known(above):
        return unknown(f"{name_of(disk)}: {above.reason}")
    up = above.up or disk.names
    links = (link for path in disk.paths if path.name in up for link in path.other_names if link.startswith(BY_PATH))
    link = next(links, f"{BY_PATH}LINK")
    serial = f"the serial number {disk.serial}" if known(disk.serial) else "the serial number of this disk"
    how = (
        f" LINK is the one that leads to a path of {above.name}: `ls -l {BY_PATH}` beside `multipath -ll`." if link.endswith("LINK") else ""
    )
    return refuse(
        f"{name_of(disk)} is behind the multipath map {above.name} ({above.dm}), and no order reaches past it. It is one disk by whichever path it is asked, so a "
        f"person gives `{command} {link}` by one path that works, once `smartctl -i {link}` shows {serial}.{how}"
    )


@guard
def the_disk_answers_to_its_wwid(facts: FleetFacts, params: Params) -> Verdict:
    """The command names the disk by this link in /dev/disk/by-id, or in /dev/diskid, so the link must exist and lead to this disk."""
    disk = need(the_disk(facts, params))
    above = need(disk.map)
    link = path_of(params["wwid"], above.uuid if above else "")
    if link is None:
        return refuse(f"No link names {name_of(disk)} for certain. Choose a disk with a WWN, an EUI or an ATA serial number.")
    if disk.doubt:
        return refuse(f"A command could reach another disk than {name_of(disk)}: {disk.doubt}.")
    if any(link in path.by_id for path in disk.paths):
        return ok(f"{link} leads to {name_of(disk)}.")
    if link.startswith(DISKID):
        return refuse(f"{link} is not there, so a command cannot name {name_of(disk)} safely. {NO_DISKID} {_OTHERWISE_ON_FREEBSD}")
    return refuse(
        f"{link} is not there, so a command cannot name {name_of(disk)} safely. Run `udevadm trigger` on {params['node']} and look again."
    )


NO_DISKID = "FreeBSD makes it of a disk that nothing has open, where kern.geom.label.disk_ident.enable is 1; its installer writes 0 into /boot/loader.conf."
_OTHERWISE_ON_FREEBSD = "Set it to 1 there and with `sysctl`, take the disk out and put it in again, and collect anew."


@guard
def nothing_contradicts_who_the_disk_is(facts: FleetFacts, params: Params) -> Verdict:
    """Every source that names the disk must name the same one: a command follows a link, and a link may be stale."""
    disk = need(the_disk(facts, params))
    silent = _silent_witness(facts, params, disk)
    if silent:
        return unknown(silent)
    found = need(identify(facts, params["node"], disk), f"Whether all sources mean {name_of(disk)} is not known")
    if found.verdict == "agreed":
        return ok(f"All sources mean {name_of(disk)}: {found.reason}")
    if found.verdict == "unknown":
        return unknown(f"The identity of {name_of(disk)} is not known: {found.reason}")
    return refuse(f"The sources disagree about which disk {name_of(disk)} is. {found.reason}")


def _silent_witness(facts: FleetFacts, params: Params, disk: DiskFacts) -> str:
    """Why a source that should name the disk has no value; empty when all have one."""
    here, sharing = facts.nodes[params["node"]], sharing_nodes(facts, params["node"], frozenset({params["wwid"]}))
    if not lookup.trees_known(here):
        why = lookup.why_trees_unknown(here)
        return f"The pools of {here.node} are not known, so what they have open on {name_of(disk)} is not either: {why}"
    if not known(sharing):
        return sharing.reason
    for node in sharing:
        seen = lookup.disk(facts, node.node, params["wwid"])
        if not known(seen) or seen is None:
            return f"{node.node} sees a disk that may be {name_of(disk)} and gives it no identity."
        if not known(seen.serial):
            return f"{node.node} sees {name_of(disk)} too, and the serial number it reads there is not known: {seen.serial.reason}"
    return ""


@guard
def the_disk_carries_no_label(facts: FleetFacts, params: Params) -> Verdict:
    pool_guid, vdev_guid = need(number(params, "pool_guid")), need(number(params, "vdev_guid"))
    need(the_disk(facts, params))
    case = need(candidate_case(facts, params["node"], pool_guid, vdev_guid, params["wwid"]))
    return ok(case.sentence) if case.code == "A0" else refuse(case.sentence)


@guard
def no_other_node_uses_the_disk(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    sharing = need(sharing_nodes(facts, params["node"], frozenset({params["wwid"]})))
    for node in sharing:
        verdict = _use_on(facts, node, params["wwid"])
        if verdict.outcome != "pass":
            return verdict
    seen = " and ".join(node.node for node in sharing)
    return ok(f"{seen} sees {name_of(disk)} too and does not use it." if seen else f"No other node sees {name_of(disk)}.")


@guard
def nothing_else_uses_the_disk(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    in_use = need(disk.in_use, f"Whether something uses {name_of(disk)} is not known")
    if in_use:
        link = (
            path_of(params["wwid"], disk.map.uuid if known(disk.map) and disk.map else "") or "/dev/disk/by-id/ITS_LINK"
        )  # never its kernel name, which the commands would then write to
        return refuse(f"{name_of(disk)} is in use: {', '.join(in_use)}. Choose another disk, or end that. {ways_on(in_use, link)}")
    return ok(f"{name_of(disk)} is not mounted, not swap, and no other driver holds it.")


@guard
def the_disk_has_no_partitions(facts: FleetFacts, params: Params) -> Verdict:
    """Partitions without a ZFS label may hold other data."""
    disk = need(the_disk(facts, params))
    above = need(disk.map)
    partitions = sorted({name for path in disk.paths for name in path.partitions} | set(above.partitions if above else ()))
    if partitions and known(disk.labels) and disk.labels:
        return refuse(f"{name_of(disk)} has the partitions {', '.join(partitions)}, which go with its label. Choose a blank disk.")
    if partitions:
        return refuse(f"{name_of(disk)} has the partitions {', '.join(partitions)}. Find out whose they are, or choose a blank disk.")
    return ok(f"{name_of(disk)} has no partitions.")


@guard
def the_disk_is_large_enough(facts: FleetFacts, params: Params) -> Verdict:
    """Compared with the smallest sibling in the vdev, which is stricter than ZFS. One sector less is too small."""
    disk, target = need(the_disk(facts, params)), need(the_target(facts, params))
    size_bytes = need(disk.size_bytes, f"The size of {name_of(disk)} is not known")
    needed = need(_smallest_sibling(target))
    if size_bytes < needed:
        return refuse(f"{name_of(disk)} has {size_bytes} bytes; the smallest disk of {target.top.name} has {needed}. Choose a larger disk.")
    return ok(f"{name_of(disk)} has {size_bytes} bytes; {needed} are needed.")


@guard
def the_disk_block_size_fits(facts: FleetFacts, params: Params) -> Verdict:
    disk, target = need(the_disk(facts, params)), need(the_target(facts, params))
    logical_block_bytes = need(disk.logical_block_bytes, f"The block size of {name_of(disk)} is not known")
    ashift = need(target.top.ashift, f"The ashift of {target.top.name} is not known")
    block = 1 << ashift
    if logical_block_bytes > block:
        return refuse(
            f"{name_of(disk)} has blocks of {logical_block_bytes} bytes; {target.top.name} writes {block}. Choose a disk with smaller blocks."
        )
    return ok(f"{name_of(disk)} has blocks of {logical_block_bytes} bytes; {target.top.name} writes {block}.")


@guard
def the_disk_sits_in_a_known_bay(facts: FleetFacts, params: Params) -> Verdict:
    """Where no source gives the bay, a person has scanned the disk at the rack: a node without SES costs one more scan, not the repair."""
    disk = need(the_disk(facts, params))
    if not known(disk.bay) and params.get("scanned_serial") and names(params["scanned_serial"], disk):
        return ok(f"No source gives the bay of {name_of(disk)}; its serial number was scanned at the rack.")
    bay = need(disk.bay, f"The bay of {name_of(disk)} is not known")
    if bay.conflict:
        return unknown(f"The bay of {name_of(disk)} is in dispute: {bay.conflict}. Light bay {bay.slot} and look at it first.")
    if bay.evidence > BAY_EVIDENCE_MAX:
        return unknown(f"The bay of {name_of(disk)} is only guessed. Light the bay and look at it first.")
    return ok(f"{name_of(disk)} sits in bay {bay.slot} of enclosure {bay.enclosure_id}.")


@guard
def the_disk_can_be_found_at_the_rack(facts: FleetFacts, params: Params) -> Verdict:
    """While disks are chosen: by its bay, or by a serial number that is scanned in the next step."""
    disk = need(the_disk(facts, params))
    if known(disk.bay):
        return the_disk_sits_in_a_known_bay(facts, params)
    serial = need(disk.serial, f"Neither the bay of {name_of(disk)} nor its serial number is known")
    return ok(f"No source gives the bay of {name_of(disk)}. Its serial number {serial} is scanned at the rack next.")


@guard
def the_bay_of_the_disk_is_not_known(facts: FleetFacts, params: Params) -> Verdict:
    """Whether a person has to scan it."""
    disk = need(the_disk(facts, params))
    if known(disk.bay):
        return refuse(f"{name_of(disk)} sits in bay {disk.bay.slot} of enclosure {disk.bay.enclosure_id}, so it need not be scanned.")
    return ok(f"The bay of {name_of(disk)} is not known: {disk.bay.reason}")


CANDIDATE_GUARDS = (
    the_disk_is_seen_and_running,
    the_disk_answers_to_its_wwid,
    nothing_contradicts_who_the_disk_is,
    the_disk_carries_no_label,
    no_other_node_uses_the_disk,
    nothing_else_uses_the_disk,
    the_disk_has_no_partitions,
    the_disk_is_large_enough,
    the_disk_block_size_fits,
    the_disk_is_healthy,
    the_disk_link_is_as_fast_as_others,
    the_disk_sits_in_a_known_bay,
)


def to_choose(guards: tuple[Guard, ...]) -> tuple[Guard, ...]:
    """The same guards before the disk could be scanned."""
    return tuple(the_disk_can_be_found_at_the_rack if each is the_disk_sits_in_a_known_bay else each for each in guards)


CHOICE_GUARDS = to_choose(CANDIDATE_GUARDS)


def _use_on(facts: FleetFacts, node: NodeFacts, wwid: str) -> Verdict:
    """What another node that sees the disk reports of it."""
    disk = lookup.disk(facts, node.node, wwid)
    if why := stale_elsewhere(node, OF_OTHERS):
        return unknown(f"{node.node} sees {wwid} too. {why}")
    if not known(disk) or disk is None or not known(disk.in_use) or not lookup.trees_known(node):
        return unknown(f"{node.node} sees {wwid} too, and whether it uses the disk is not known.")
    if disk.in_use:
        return refuse(f"{node.node} uses {name_of(disk)}: {', '.join(disk.in_use)}. Choose another disk.")
    if not known(disk.labels):
        return unknown(f"{node.node} sees {wwid} too, and the labels it reads there are not known: {disk.labels.reason}")
    if disk.labels:
        return refuse(
            f"{node.node} reads a label of {disk.labels[0].pool_name or 'some pool'} on {name_of(disk)}. Choose a disk without a label."
        )
    return ok(f"{node.node} does not use it.")


@derived
def _smallest_sibling(target: Target) -> Known[int]:
    sizes = []
    disks = need(target.node.disks, f"The disks of {target.node.node} are not known")
    alone = len(target.top.leaves()) == 1  # then the old disk itself is what the new one must hold
    for leaf in target.top.leaves():
        if (alone or leaf.guid != target.leaf.guid) and known(leaf.wwid):
            sizes += [d.size_bytes for d in disks if d.wwid == leaf.wwid and known(d.size_bytes)]
    return min(sizes, default=Unknown(f"The size of no other disk of {target.top.name} is known."))
