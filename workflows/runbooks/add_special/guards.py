"""What add-special alone asks: whether a mirror of these disks fits beside the data, and whether it is in its class afterwards."""

from agents.operations.zpool_add_class import ROLES
from workflows.analysis.disk_reuse import PLAIN_BLOCKS
from workflows.engine.core import Guard, Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, Known, PoolFacts, Unknown, derived, known, need
from workflows.guards.replaced import the_new_line
from workflows.guards.several import NUMBERS, about, chosen, numbers_chosen
from workflows.guards.subject import name_of, the_disk, the_pool
from workflows.situations._redundancy import data_tops, mirror_width

PARITY = ("raidz", "draid")
FUZZ_BYTES = 16 * 1024 * 1024  # ZPOOL_FUZZ in cmd/zpool/zpool_vdev.c: zpool refuses a mirror of disks that differ by more


@guard
def it_is_a_class_that_holds_data(facts: FleetFacts, params: Params) -> Verdict:
    need(the_pool(facts, params))
    role = params.get("role", "")
    if role not in ROLES:
        return refuse(
            f"A mirror is added as {' or '.join(ROLES)}, and not as {role or 'nothing'}. End this run; add-auxiliary adds the others."
        )
    return ok(f"The disks are to be a {role} vdev of {params.get('pool', '')}.")


@derived
def disks_wanted(facts: FleetFacts, params: Params) -> Known[int]:
    return mirror_width(need(the_pool(facts, params)))


@guard
def a_mirror_fits_beside_the_data(facts: FleetFacts, params: Params) -> Verdict:
    pool, wanted = need(the_pool(facts, params)), need(disks_wanted(facts, params))
    role = params.get("role", "")
    if wanted < 2:
        return refuse(
            f"The data of {pool.name} is on single disks, and beside those zpool refuses a mirror. Give each of them a second disk first: add-redundancy does "
            "that."
        )
    if wanted > NUMBERS[-1]:
        return refuse(
            f"The data of {pool.name} survives {wanted - 1} losses, so the mirror takes {wanted} disks, and this runbook adds {NUMBERS[-1]} at the most. By hand: "
            f"`zpool add -n -o ashift=ASHIFT {pool.name} {role} mirror` with the paths of all disks in /dev/disk/by-id prints the tree; give it without `-n` only "
            f"where nothing but that mirror is new there, below {role}. Never add `-f`."
        )
    return ok(f"The data of {pool.name} survives the loss of {wanted - 1}; a mirror of {wanted} disks survives as many.")


def more_than(number: int) -> Guard:
    """Whether the mirror has a disk after this one."""

    @guard
    def one_more_disk_is_needed(facts: FleetFacts, params: Params) -> Verdict:
        wanted = need(disks_wanted(facts, params))
        if wanted <= number:
            return refuse(f"A mirror of {wanted} disks is enough for {params.get('pool', '')}.")
        return ok(f"The mirror takes {wanted} disks.")

    one_more_disk_is_needed.__name__ = f"disk_{number + 1}_is_needed"
    return one_more_disk_is_needed


@guard
def enough_disks_are_chosen(facts: FleetFacts, params: Params) -> Verdict:
    wanted, count = need(disks_wanted(facts, params)), len(chosen(params))
    if count != wanted:
        return refuse(
            f"{count} disks are chosen, and the mirror takes {wanted}: the data of {params.get('pool', '')} has changed. Begin again."
        )
    return ok(f"{count} disks are chosen, as many as the mirror takes.")


@derived
def _disks(facts: FleetFacts, params: Params) -> Known[tuple[DiskFacts, ...]]:
    found = tuple(need(the_disk(facts, about(params, number))) for number in numbers_chosen(params))
    return found or Unknown("No disk is chosen yet.")


@guard
def the_disks_are_apart(facts: FleetFacts, params: Params) -> Verdict:
    """No disk twice, and no two of them where the node shows one bay: then one of the two is somewhere else. Of one without a bay a person reads the serial number."""
    disks, wwids = need(_disks(facts, params)), chosen(params)
    if twice := next((wwid for wwid in wwids if wwids.count(wwid) > 1), ""):
        return refuse(f"{twice} is chosen already. Choose another disk.")
    bays = [(disk.bay.enclosure_id, disk.bay.slot) for disk in disks if known(disk.bay)]
    if shared := next((bay for bay in bays if bays.count(bay) > 1), None):
        return refuse(f"Two of the disks are shown in bay {shared[1]} of enclosure {shared[0]}. Light it and look which is there.")
    return ok("Each disk is another one, in a bay of its own where bays are known.")


@guard
def the_disks_are_alike(facts: FleetFacts, params: Params) -> Verdict:
    """A mirror is as large as its smallest disk and writes blocks as large as the largest of its disks asks."""
    pool, disks = need(the_pool(facts, params)), need(_disks(facts, params))
    shift = need(ashift_of(pool))
    blocks = {need(disk.logical_block_bytes, f"The block size of {name_of(disk)} is not known") for disk in disks}
    sizes = [need(disk.size_bytes, f"The size of {name_of(disk)} is not known") for disk in disks]
    if odd := sorted(blocks - set(PLAIN_BLOCKS)):
        return refuse(f"A disk has blocks of {odd[0]} bytes, made for a RAID controller. Choose another one.")
    if len(blocks) > 1:
        return refuse(
            f"The disks have blocks of different sizes: {', '.join(map(str, sorted(blocks)))} bytes. Choose disks that are alike."
        )
    if (largest := max(blocks)) > 1 << shift:
        return refuse(f"The disks have blocks of {largest} bytes; {pool.name} writes {1 << shift}. Choose disks with smaller blocks.")
    if max(sizes) - min(sizes) > FUZZ_BYTES:
        return refuse(
            f"The smallest disk has {min(sizes)} bytes and the largest {max(sizes)}; zpool refuses more than 16 MiB between them. Choose disks that are alike."
        )
    return ok(f"The disks have blocks of {largest} bytes, no larger than {pool.name} writes, and one size.")


@derived
def ashift_of(pool: PoolFacts) -> Known[int]:
    """The largest of the data vdevs; whether there is only one is asked apart."""
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    shifts = [need(top.ashift, f"The ashift of {top.name} is not known") for top in data_tops(pool)]
    return max(shifts) if shifts else Unknown(f"{pool.name} shows no vdev that holds data.")


@guard
def the_data_has_one_ashift(facts: FleetFacts, params: Params) -> Verdict:
    """The new vdev gets the ashift of the data: since 2.2.4 ZFS refuses another one, and with another one it is never removed again."""
    pool = need(the_pool(facts, params))
    shift = need(ashift_of(pool))
    other = next((top for top in data_tops(pool) if top.ashift != shift), None)
    if other is not None:
        return refuse(
            f"The data of {pool.name} is written with different ashifts: {other.name} has {other.ashift}, others have {shift}. Which one the new vdev is to have "
            f"a person decides, and gives the command by hand: first `zpool add -n -o ashift=ASHIFT {pool.name} {params.get('role', '')} mirror` with the paths "
            "of the disks in /dev/disk/by-id. Never add `-f`."
        )
    return ok(f"All data of {pool.name} is written with the ashift {shift}, and the new vdev gets the same.")


@guard
def the_pool_has_no_checkpoint(facts: FleetFacts, params: Params) -> Verdict:
    """Going back to it would take the vdev out again with all that was written since; and nothing is removed while it stands."""
    pool = need(the_pool(facts, params))
    checkpoint = need(pool.checkpoint, f"Whether {pool.name} has a checkpoint is not known")
    if checkpoint:
        return refuse(
            f"{pool.name} has a checkpoint, and removes nothing while it is kept. Whoever made it decides: `zpool checkpoint -d {pool.name}` gives it up."
        )
    return ok(f"{pool.name} has no checkpoint.")


def what_it_means(facts: FleetFacts, params: Params) -> str:
    """What the pool takes on with it, in words that whoever gives the order and whoever approves it accept."""
    pool, role = the_pool(facts, params), params.get("role", "")
    if not known(pool) or not known(pool.tops):
        return f"Whether a {role} vdev can ever be removed again from {params.get('pool', 'the pool')} is not known."
    needs = f"From now on {pool.name} needs its {role} vdev: when all disks of its mirror are lost, the whole pool is lost."
    parity = next((top for _, top in pool.tops if top.kind in PARITY), None)
    if parity is not None:
        return f"{needs} No release of OpenZFS removes it again, as {parity.name} is in the pool."
    return f"{needs} remove-vdev takes it out again only while {pool.name} has no raidz or dRAID and no checkpoint."


# --- afterwards


@guard
def the_mirror_is_in_its_class(facts: FleetFacts, params: Params) -> Verdict:
    """One vdev of exactly these disks, in the class that was meant and nowhere else."""
    pool, role = need(the_pool(facts, params)), params.get("role", "")
    lines = [need(the_new_line(facts, about(params, number))) for number in numbers_chosen(params)]
    if not lines:
        return unknown("No disk is chosen yet.")
    top = lines[0][0]
    found = next((one for one, other in need(pool.tops) if other is top), "")
    if found != role:
        return refuse(f"{top.name} of {pool.name} is among the {found or 'vdevs'}, not {role}. Write nothing more by hand, and get help.")
    if top.kind != "mirror" or any(line[0] is not top for line in lines) or len(top.leaves()) != len(lines):
        return refuse(f"The disks are not one mirror of {pool.name}. Have the node look again, and see what the command answered.")
    if ill := next((leaf for leaf in top.leaves() if leaf.state != "ONLINE"), None):
        return refuse(
            f"{ill.guid} of {top.name} in {pool.name} is {ill.state}. Look at its bay and its cable; its situation says what helps."
        )
    return ok(f"{top.name} is a {role} vdev of {pool.name}, and its {len(lines)} disks are ONLINE.")
