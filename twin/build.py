"""Parts to put nodes together from: disks, their labels, leaves, top-level vdevs and pools that fit one another."""

import random
from collections.abc import Sequence

from twin import disk_names
from twin.model import SECTOR, Disk, Label, Node, Partition, Pool, Vdev
from twin.vdevs import DRAID_RESERVE_BYTES, leaf_asize, zfs_partitions

MS_SHIFT_DEFAULT, MS_SHIFT_MAX = 29, 34
MS_COUNT_MIN, MS_COUNT_DEFAULT = 16, 200


def guid_of(*words: object) -> int:
    """A guid that looks like any other and is the same whenever the same words are said."""
    return random.Random(" ".join(map(str, words))).getrandbits(64) | 1 << 60


def sd_name(index: int) -> str:
    """The kernel name of the disk that took this number: 0 is "sda", 26 is "sdaa", 167 is "sdfl"."""
    letters = ""
    while index >= 0:
        letters = chr(ord("a") + index % 26) + letters
        index = index // 26 - 1
    return f"sd{letters}"


def partition(disk: Disk) -> list[Partition]:
    """Partition a disk as ZFS does a whole one; a multipath map it takes as it is."""
    whole = [(0, 0, disk.size_bytes // SECTOR)]
    disk.partitions[:] = [
        Partition(number, start, sectors) for number, start, sectors in (whole if disk.map else zfs_partitions(disk.size_bytes))
    ]
    return disk.partitions


def by_id(disk: Disk) -> str:
    return disk_names.member(disk)


def member(node: Node, disk: Disk, guid: int, path: str = "") -> Vdev:
    """The leaf that `disk` is under `guid`; its label is written when the pool is put together."""
    found = node.bay_of(disk.wwid)
    return Vdev(
        type="disk",
        guid=guid,
        path=path or by_id(disk),
        devid=disk_names.devid(disk, sg3_rules=node.sg3_rules),
        phys_path=disk_names.phys_path(disk),
        enc_path=f"/sys/class/enclosure/{found[0].name}/{found[1].name}" if found else "",
        whole_disk=0 if disk.map else 1,
    )


def top(kind: str, guid: int, children: Sequence[Vdev], disk_bytes: int, parity: int = 0, cls: str = "data", spares: int = 0) -> Vdev:
    """A top-level vdev of `children` on disks of `disk_bytes`; kind "disk" makes the only child itself the top."""
    leaf = leaf_asize(zfs_partitions(disk_bytes)[0][2] * SECTOR)
    vdev = children[0] if kind == "disk" else Vdev(type=kind, guid=guid, children=list(children), nparity=parity)
    vdev.cls = cls
    vdev.asize = leaf * (len(children) if kind == "raidz" else 1)
    if kind == "draid":
        vdev.asize = (leaf - DRAID_RESERVE_BYTES) * (len(children) - spares)
    vdev.metaslab_shift = metaslab_shift(vdev.asize)
    vdev.ashift = 12
    vdev.metaslab_array = 64 + guid % 100
    return vdev


def metaslab_shift(asize: int) -> int:
    """The kernel's choice: about 200 metaslabs, none under 512 MiB or above 16 GiB; small vdevs get 16."""
    count = asize >> MS_SHIFT_DEFAULT
    if count < MS_COUNT_MIN:
        return (asize // MS_COUNT_MIN).bit_length()
    if count > MS_COUNT_DEFAULT:
        return min(MS_SHIFT_MAX, max(MS_SHIFT_DEFAULT, (asize // MS_COUNT_DEFAULT).bit_length()))
    return MS_SHIFT_DEFAULT


def add_pool(node: Node, pool: Pool, disks: Sequence[Disk], leaves: Sequence[Vdev | None]) -> Pool:
    """Put `pool` on the node and write the label of each leaf onto the disk that stands at the same place."""
    node.pools.append(pool)
    for disk, leaf in zip(disks, leaves, strict=False):
        if leaf is not None:
            partition(disk)[0].label = Label(pool.name, leaf.guid, pool.txg)
    return pool
