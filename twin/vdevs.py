"""What follows from the leaves of a pool: the states above them, the names of vdevs, how much a leaf must hold."""

from dataclasses import dataclass

from twin.model import SECTOR, Pool, Vdev

DOWN = ("FAULTED", "UNAVAIL", "OFFLINE", "REMOVED")
LABELS_BYTES = 4608 * 1024  # four labels of 256 KiB and the boot block: what a leaf loses of its partition
DRAID_RESERVE_BYTES = 32 << 20  # what each disk of a draid keeps free
ALIGN_SECTORS = 2048  # partitions begin and end on 1 MiB
RESERVED_SECTORS = 16384  # partition 9 of a whole disk
GPT_SECTORS = 34
REMOVAL_IS_NOTED, OFFLINE_IS_PASSED_OVER = (2, 1, 10), (2, 3)


def notes_removal(release: tuple[int, ...]) -> bool:
    """Whether a member whose disk goes becomes REMOVED by that alone. ZED asks for it (zfs_retire_recv in cmd/zed/agents/zfs_retire.c), and the module sees
    it when I/O fails (vdev_disk_io_done in module/os/linux/zfs/vdev_disk.c). Before, at 2.0.3 to 2.1.9, it is ONLINE until it is written to or opened anew."""
    return release >= REMOVAL_IS_NOTED


def notes_removal_of_offline(release: tuple[int, ...]) -> bool:
    """Whether ZED has one called REMOVED, too, that is OFFLINE when its disk goes: `zpool online` shows it (zfs_retire_recv, 2.1.10, 2.2.9 and 2.3.0)."""
    return notes_removal(release) and release < OFFLINE_IS_PASSED_OVER


def state_of(vdev: Vdev) -> str:
    """ONLINE, DEGRADED or UNAVAIL of an interior vdev by the kernel's rule; a leaf has its own state."""
    if not vdev.children:
        return vdev.state
    states = [state_of(child) for child in vdev.children]
    down = sum(state in DOWN for state in states)
    tolerated = vdev.nparity if vdev.type in ("raidz", "draid") else len(states) - 1
    if down > tolerated:
        return "UNAVAIL"
    return "DEGRADED" if down or "DEGRADED" in states else "ONLINE"


def pool_state(pool: Pool) -> str:
    """A log that is lost makes the pool DEGRADED and no more (vdev_propagate_state in module/zfs/vdev.c)."""
    states = ["DEGRADED" if top.cls == "log" and state_of(top) in DOWN else state_of(top) for top in pool.tops]
    if any(state in DOWN for state in states):
        return "UNAVAIL"
    return "DEGRADED" if "DEGRADED" in states else "ONLINE"


def has_replicas(pool: Pool, without: Vdev) -> bool:
    """Whether every top-level vdev keeps its data when `without` goes. A leaf that is being filled holds none yet."""
    gone = [without] + [leaf for leaf in pool.leaves() if leaf.resilver_txg or leaf.deferred]
    before = [leaf.state for leaf in gone]
    for leaf in gone:
        leaf.state = "OFFLINE"
    kept = pool_state(pool) != "UNAVAIL"
    for leaf, state in zip(gone, before, strict=False):
        leaf.state = state
    return kept


@dataclass(frozen=True)
class Place:
    """Where a vdev stands: its top-level vdev, its parent (None for a top-level vdev) and its number there."""

    top: Vdev
    parent: Vdev | None
    index: int


def find(pool: Pool, guid: int) -> tuple[Vdev, Place] | None:
    for index, top in enumerate(pool.tops):
        if top.guid == guid:
            return top, Place(top, None, index)
        for vdev in top.walk():
            for i, child in enumerate(vdev.children):
                if child.guid == guid:
                    return child, Place(top, vdev, i)
    return None


def put(pool: Pool, place: Place, vdev: Vdev) -> None:
    """Let `vdev` stand at `place`. A top-level vdev hands on what makes it one."""
    if place.parent is not None:
        place.parent.children[place.index] = vdev
        return
    old = pool.tops[place.index]
    for name in ("cls", "metaslab_array", "metaslab_shift", "ashift", "asize"):
        setattr(vdev, name, getattr(old, name))
    pool.tops[place.index] = vdev


def kind_name(vdev: Vdev, index: int) -> str:
    """The name of an interior vdev: "raidz2-0", "draid2:4d:8c:1s-0", "mirror-1", "replacing-3"."""
    if vdev.type == "draid":
        return f"draid{vdev.nparity}:{vdev.ndata}d:{len(vdev.children)}c:{vdev.nspares}s-{index}"
    return f"{vdev.type}{vdev.nparity}-{index}" if vdev.type == "raidz" else f"{vdev.type}-{index}"


def base_path(path: str) -> str:
    """The device a member's path belongs to, without the partition: "/dev/sda1" -> "/dev/sda"."""
    base, mark, number = path.rpartition("-part")
    if mark and number.isdigit():
        return base
    return path.rstrip("0123456789") if path.startswith("/dev/sd") else path


def part_path(path: str, number: int) -> str:
    """The path of a partition of the disk at `path`: "/dev/sda" -> "/dev/sda1", by-id links -> "…-part1"."""
    return f"{path}-part{number}" if path.startswith("/dev/disk/") else f"{path}{number}"


def member(pool: Pool, word: str) -> tuple[Vdev, Place] | None:
    """A member by its guid or by the path it was given. A name that only leads to it today does not count."""
    for leaf in pool.leaves():
        if word == str(leaf.guid) or word in (leaf.path, base_path(leaf.path), base_path(leaf.path).rpartition("/")[2]):
            return find(pool, leaf.guid)
    return None


def zfs_partitions(size_bytes: int) -> list[tuple[int, int, int]]:
    """The (number, start, sectors) that ZFS gives a whole disk: data in partition 1, 8 MiB reserved in partition 9."""
    last = size_bytes // SECTOR - GPT_SECTORS
    reserved = (last - RESERVED_SECTORS + 1) // ALIGN_SECTORS * ALIGN_SECTORS
    return [(1, ALIGN_SECTORS, reserved - ALIGN_SECTORS), (9, reserved, RESERVED_SECTORS)]


def leaf_asize(partition_bytes: int) -> int:
    """What a leaf on a partition can hold, whole labels' worth aside."""
    return partition_bytes // (256 * 1024) * (256 * 1024) - LABELS_BYTES


def min_asize(pool: Pool, guid: int) -> int:
    """What a new device must hold at least to take the place of `guid`: the kernel's vdev_get_min_asize."""
    found = find(pool, guid)
    if found is None:
        return 0
    top = found[1].top
    usable = top.asize >> top.metaslab_shift << top.metaslab_shift
    if top.type == "draid":
        return DRAID_RESERVE_BYTES - (-top.asize // (len(top.children) - top.nspares))
    return -(-usable // len(top.children)) if top.type == "raidz" else usable
