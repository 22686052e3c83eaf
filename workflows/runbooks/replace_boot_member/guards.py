"""What replace-boot-member alone asks: the member's partition, the serving disk whose table is copied, and what boots the node."""

from agents.collectors.boot_tool import BootTool
from agents.domain.wwid import by_id_path, strip_partition
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, Known, Unknown, VdevFacts, derived, known, lookup, need
from workflows.guards.replaced import the_new_line
from workflows.guards.subject import Target, name_of, number, the_disk, the_target
from workflows.guards.target import the_lost_member_has_not_come_back
from workflows.situations import _partitions

OTHER = "other"  # what boots the node is installed by a person


@derived
def the_partition(facts: FleetFacts, params: Params) -> Known[int]:
    """The number of the partition that the member is or was: by its name, by the device id in the labels, else by the partition with its label."""
    target = need(the_target(facts, params))
    named = _partitions.number(target.leaf)
    if named is not None:
        return named
    disks = need(target.node.disks, f"The disks of {target.node.node} are not known")
    for disk in disks:
        for label in disk.labels if known(disk.labels) else ():
            found = strip_partition(label.partition)[1]
            if (label.pool_guid, label.guid) == (target.pool.guid, target.leaf.guid) and found is not None:
                return found
    return Unknown(f"Which partition of its disk {target.leaf.guid} is or was is not known: neither its name nor a label says it.")


@guard
def the_member_is_a_partition_beside_others(facts: FleetFacts, params: Params) -> Verdict:
    target = need(the_target(facts, params))
    if _partitions.is_bsd(target.leaf):
        way = _partitions.way_by_hand(target.pool.name, str(target.leaf.guid), "HEALTHY", "NEW", None, True)
        return refuse(f"{target.leaf.guid} has a name of FreeBSD, and its partitions are made with gpart. {way}")
    part = need(the_partition(facts, params))
    if part == _partitions.OF_A_MEMBER:
        return refuse(
            f"{target.leaf.guid} is partition {part} of its disk, as of a whole disk. Where it has its disk alone, take blink-and-replace or replace-in-place. "
            "Where other partitions stand beside it, those two refuse it and show how it is replaced by hand."
        )
    return ok(f"{target.leaf.guid} is partition {part} of its disk, with others beside it.")


@derived
def the_source(facts: FleetFacts, params: Params) -> Known[tuple[VdevFacts, DiskFacts]]:
    """The first ONLINE member of the same vdev that is the same partition of a disk which a write can name; the chosen one where one was chosen."""
    target, part = need(the_target(facts, params)), need(the_partition(facts, params))
    disks = need(target.node.disks, f"The disks of {target.node.node} are not known")
    for leaf in target.top.leaves():
        named = _partitions.partition(leaf)
        if leaf.guid == target.leaf.guid or leaf.state != "ONLINE" or leaf.resilvering or leaf.awaiting_resilver:
            continue
        if named is None or named[1] != part or not known(leaf.wwid) or params.get("from_wwid") not in (None, "", leaf.wwid):
            continue
        disk = next((one for one in disks if one.wwid == leaf.wwid), None)
        if disk is not None and known(disk.serial) and not disk.doubt and by_id_path(leaf.wwid):
            return leaf, disk
    if known_by_id := next((leaf.name for leaf in target.top.leaves() if leaf.state == "ONLINE" and _partitions.partuuid(leaf)), ""):
        return Unknown(
            f"{known_by_id} is known by the id of its partition, and which disk of the vdev has partition {part} is in no name. {_by_hand(target, part, params)}"
        )
    return Unknown(
        f"No ONLINE member of {target.top.name} is known to be partition {part} of a disk whose identity and serial number are known, so there is no partition "
        "table to copy. See `lsblk -o NAME,SIZE,PARTTYPENAME,SERIAL,WWN`, have the node look again, or partition the new disk by hand. On TrueNAS replace it in the web interface, which does that and keeps its own records."
    )


def _by_hand(target: Target, part: int, params: Params) -> str:
    """TrueNAS names members so, and keeps records of its own."""
    serving = (
        by_id_path(leaf.wwid)
        for leaf in target.top.leaves()
        if leaf.state == "ONLINE" and known(leaf.wwid) and leaf.guid != target.leaf.guid
    )
    healthy = next((link for link in serving if link), "/dev/disk/by-id/HEALTHY_DISK")
    new = by_id_path(params.get("wwid", "")) or "/dev/disk/by-id/NEW_DISK"
    return _partitions.way_by_hand(target.pool.name, str(target.leaf.guid), healthy, new, part, False)


@guard
def a_serving_disk_has_the_partitions(facts: FleetFacts, params: Params) -> Verdict:
    leaf, disk = need(the_source(facts, params))
    return ok(f"{name_of(disk)} serves as {leaf.name}, and its partition table is copied.")


@guard
def a_lost_member_is_not_back(facts: FleetFacts, params: Params) -> Verdict:
    """Asked of a lost one alone: the label of one that serves is where it should be."""
    target = need(the_target(facts, params))
    if target.leaf.state not in lookup.LOST_STATES:
        return ok(f"{target.leaf.guid} is {target.leaf.state} and serves until the new partition is filled.")
    return the_lost_member_has_not_come_back(facts, params)


# --- after the copy


@guard
def the_new_disk_has_the_partitions_copied(facts: FleetFacts, params: Params) -> Verdict:
    """By their numbers, as the kernel shows them. Places, types and GUIDs the node compares itself, right after the copy and before the replacement."""
    new, (_, source) = need(the_disk(facts, params)), need(the_source(facts, params))
    ours, theirs = _numbers(new), _numbers(source)
    if not theirs:
        return unknown(f"The kernel shows no partitions of {name_of(source)}. Have the node look again.")
    if ours != theirs:
        shown = ", ".join(map(str, sorted(ours))) or "no"
        return refuse(
            f"The kernel shows {shown} partitions of {name_of(new)}, and {', '.join(map(str, sorted(theirs)))} of {name_of(source)}. Have the node look "
            "again; where that stays so, see what `sfdisk -l` prints of both."
        )
    return ok(f"{name_of(new)} has the partitions {', '.join(map(str, sorted(ours)))}, as {name_of(source)} has.")


def _numbers(disk: DiskFacts) -> frozenset[int]:
    found = (strip_partition(name)[1] for path in disk.paths for name in path.partitions)
    return frozenset(one for one in found if one is not None)


@guard
def the_new_partition_is_in_the_pool(facts: FleetFacts, params: Params) -> Verdict:
    line, part = need(the_new_line(facts, params)), need(number(params, "partition"))
    found = _partitions.partition(line[-1])
    if found is None or found[1] != part:
        return refuse(f"{line[-1].name} is in {line[0].name}, and partition {part} was planned. Look at the pool before anything else.")
    return ok(f"{line[-1].name} is in {line[0].name}.")


@guard
def the_copy_is_in_use_or_gone(facts: FleetFacts, params: Params) -> Verdict:
    """Whether nothing is left of a copy that serves nothing."""
    if known(the_new_line(facts, params)):
        return ok(f"{params.get('wwid', '')} is in {params.get('pool', '')}.")
    disk = need(the_disk(facts, params))
    if _numbers(disk):
        return refuse(f"{name_of(disk)} has the partitions of another disk and is in no pool.")
    return ok(f"{name_of(disk)} has no partitions.")


@guard
def the_new_disk_serves_nothing(facts: FleetFacts, params: Params) -> Verdict:
    """Whether it may be made blank again: in no pool, in no use, with no label."""
    disk = need(the_disk(facts, params))
    if known(the_new_line(facts, params)):
        return refuse(f"{name_of(disk)} is in {params.get('pool', '')}, so it stays as it is.")
    labels = need(disk.labels, f"The labels of {name_of(disk)} are not known")
    in_use = need(disk.in_use, f"The use of {name_of(disk)} is not known")
    if labels or in_use:
        found = ", ".join([*in_use, *(f"a label of {one.pool_name or 'some pool'}" for one in labels)])
        return refuse(f"{name_of(disk)} has {found}, so it stays as it is. Look at the pool: the replacement may have begun.")
    return ok(f"{name_of(disk)} is in no pool and in no use.")


@guard
def there_is_a_copy_to_clear(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    if not _numbers(disk):
        return refuse(f"{name_of(disk)} has no partitions, so there is nothing to take away.")
    return the_new_disk_serves_nothing(facts, params)


# --- what boots the node


@derived
def _boot(facts: FleetFacts, params: Params) -> Known[BootTool]:
    node = need(lookup.node(facts, params.get("node", "")))
    return need(node.boot, f"What boots {node.node} is not known")


@derived
def the_boot_partition(facts: FleetFacts, params: Params) -> Known[int]:
    """The number of the EFI partition on the serving disk that proxmox-boot-tool keeps filled; 0 where it keeps none there."""
    _, source = need(the_source(facts, params))
    boot = need(_boot(facts, params))
    kept = {boot.device(uuid) for uuid in boot.listed}
    names = (name for path in source.paths for name in path.partitions)
    return next((strip_partition(name)[1] or 0 for name in names if name in kept), 0)


@guard
def proxmox_boot_tool_keeps_the_serving_disk(facts: FleetFacts, params: Params) -> Verdict:
    part = need(the_boot_partition(facts, params))
    if not part:
        return refuse(
            "proxmox-boot-tool keeps no partition of the serving disk filled, so the new one would not be either. See `proxmox-boot-tool status` and "
            "`efibootmgr -v`; another boot loader is installed by hand."
        )
    return ok(f"proxmox-boot-tool keeps partition {part} of the serving disk filled.")


@guard
def the_node_was_booted_by_uefi(facts: FleetFacts, params: Params) -> Verdict:
    """Without UEFI the tool installs grub, whatever is asked."""
    boot = need(_boot(facts, params))
    if not boot.efi:
        return refuse("The node was not booted by UEFI, so systemd-boot is not what boots it. Choose grub.")
    return ok("The node was booted by UEFI.")


@guard
def no_boot_tool_keeps_the_serving_disk(facts: FleetFacts, params: Params) -> Verdict:
    """A person installs the boot loader only where the tool of Proxmox does not: else the disk would boot old kernels after the next update."""
    node = need(lookup.node(facts, params.get("node", "")))
    if not known(node.boot):
        if "boot_tool" in node.absent:
            return ok(f"There is no proxmox-boot-tool on {node.node}.")
        return unknown(f"Whether proxmox-boot-tool boots {node.node} is not known: {node.boot.reason}")
    part = need(the_boot_partition(facts, params))
    if part:
        return refuse(f"proxmox-boot-tool keeps partition {part} of the serving disk filled. Choose that tool.")
    return ok("proxmox-boot-tool keeps no partition of the serving disk filled.")


@guard
def the_boot_partition_is_by_the_tool(facts: FleetFacts, params: Params) -> Verdict:
    """Whether there is something to order."""
    need(the_disk(facts, params))
    boot = params.get("boot", "")
    if not boot:
        return unknown("It is not chosen yet what boots the node.")
    return refuse("A person installs the boot loader.") if boot == OTHER else ok("proxmox-boot-tool makes the new disk bootable.")


@guard
def the_boot_loader_is_by_hand(facts: FleetFacts, params: Params) -> Verdict:
    need(the_disk(facts, params))
    boot = params.get("boot", "")
    if not boot:
        return unknown("It is not chosen yet what boots the node.")
    return ok("A person installs the boot loader.") if boot == OTHER else refuse("proxmox-boot-tool makes the new disk bootable.")


@guard
def the_new_disk_can_boot(facts: FleetFacts, params: Params) -> Verdict:
    """By the list of proxmox-boot-tool. Of another boot loader no source says it: a person has said what was done, and boots from it once."""
    disk = need(the_disk(facts, params))
    if params.get("boot") == OTHER:
        other = no_boot_tool_keeps_the_serving_disk(facts, params)
        return (
            ok("A person installs the boot loader. Boot from the new disk once, when the node may be restarted.")
            if other.outcome == "pass"
            else other
        )
    boot = need(_boot(facts, params))
    part = need(number(params, "esp"))
    names = {name for path in disk.paths for name in path.partitions if strip_partition(name)[1] == part}
    if not any(boot.device(uuid) in names for uuid in boot.listed):
        return refuse(
            f"proxmox-boot-tool does not keep partition {part} of {name_of(disk)} filled, so the node may not boot from it. See `proxmox-boot-tool status`."
        )
    return ok(f"proxmox-boot-tool keeps partition {part} of {name_of(disk)} filled.")


# --- the disk that goes


def what_the_old_disk_still_serves(facts: FleetFacts, params: Params) -> str:
    """A warning for who pulls it. Whether its EFI partition is still listed ends with `proxmox-boot-tool clean` after the pull."""
    node = lookup.node(facts, params.get("node", ""))
    if not known(node) or not known(node.disks):
        return "What the old disk still serves is not known. Look at `lsblk` before it is pulled."
    guid = params.get("vdev_guid", "")
    old = next((disk for disk in node.disks if known(disk.labels) and any(str(one.guid) == guid for one in disk.labels)), None)
    if old is None:
        return "The old disk is not seen by its label any more. Before a disk is pulled, compare its serial number."
    if not known(old.in_use):
        return f"What {name_of(old)} still serves is not known: {old.in_use.reason}"
    uses = [f"{name_of(old)} is still in use: {', '.join(old.in_use)}. End that before it is pulled."] if old.in_use else []
    kept = [] if not known(node.boot) else [uuid for uuid in node.boot.listed if node.boot.device(uuid) in _names(old)]
    if kept:
        uses.append(
            f"proxmox-boot-tool still keeps {', '.join(kept)} on {name_of(old)} filled. When it is pulled, `proxmox-boot-tool clean` forgets it."
        )
    return " ".join(uses)


def _names(disk: DiskFacts) -> frozenset[str]:
    return frozenset(name for path in disk.paths for name in path.partitions)
