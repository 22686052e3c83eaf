"""Has the new disk the protection information its siblings have? A disk formatted otherwise answers, and fails in use."""

from workflows.analysis.disk_reuse import PLAIN_BLOCKS
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, known, need
from workflows.guards.subject import name_of, the_disk, the_target


@guard
def the_disk_has_the_protection_of_its_siblings(facts: FleetFacts, params: Params) -> Verdict:
    disk, target = need(the_disk(facts, params)), need(the_target(facts, params))
    logical_block_bytes = need(disk.logical_block_bytes, f"The block size of {name_of(disk)} is not known")
    if logical_block_bytes not in PLAIN_BLOCKS:
        return refuse(f"{name_of(disk)} has blocks of {logical_block_bytes} bytes, made for a RAID controller. Take another disk.")
    wwids = {leaf.wwid for leaf in target.top.leaves() if known(leaf.wwid) and leaf.wwid != params.get("wwid", "")}
    siblings = [d for d in (target.node.disks if known(target.node.disks) else ()) if known(d.wwid) and d.wwid in wwids]
    # The kernel gives a namespace whose metadata it cannot use the size 0, so one formatted in such a way is refused as too small.
    if siblings and all(one.is_nvme for one in (disk, *siblings)):
        return ok(f"{name_of(disk)} and the other disks of {target.top.name} are NVMe disks, which have no SCSI protection type.")
    protection_type = need(disk.protection_type, f"The protection type of {name_of(disk)} is not known")
    types = {d.protection_type for d in siblings if known(d.protection_type)}
    if not types:
        return unknown(f"The protection type of no other disk of {target.top.name} is known.")
    if types != {protection_type}:
        return refuse(_differs(disk, types))
    return ok(f"{name_of(disk)} has the protection type {protection_type}, as the other disks of {target.top.name}.")


def _differs(disk: DiskFacts, types: set[int]) -> str:
    return f"{name_of(disk)} has the protection type {disk.protection_type}, and its siblings have {sorted(types)[0]}. Take a disk formatted alike."
