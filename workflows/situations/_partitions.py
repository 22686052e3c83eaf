"""Members that are one partition of several on a disk, or are known by a partition's own id: what comes before a replacement there.

A boot pool stands on the third partition of a Proxmox disk or the second to fourth of a FreeBSD one: the new disk needs the partition table
and the boot loader first, else it holds data and cannot boot. TrueNAS, and others, name members by the id of the partition (GPT), which no
tool prints beside a serial number unless it is asked to.
"""

import re
from collections.abc import Iterator

from workflows.engine.core import Cure
from workflows.facts import PoolFacts, VdevFacts
from workflows.situations import _pools
from workflows.situations._pools import NEW_DISK, cure

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_PARTUUID = re.compile(rf"(?:/dev/)?(?:disk/by-partuuid|gptid)/({_UUID})(?:\.eli)?|({_UUID})")
_PARTITION = re.compile(
    r"(.+?)(?:-part|(?<=[0-9])p|(?<=/dev/sd[a-z])|(?<=/dev/sd[a-z]{2})|(?<=\bsd[a-z])|(?<=\bsd[a-z]{2}))([0-9]{1,3})(?:\.eli)?"
)
_DEVID = re.compile(r"(.+)-part([0-9]{1,3})")
_BSD = re.compile(r"(?:/dev/)?(?:ada|da|nda|nvd|ad|vtbd|gptid/|gpt/|diskid/)")
OF_A_MEMBER = 1
WHOLE = (OF_A_MEMBER, 9)  # of a disk that ZFS partitioned itself: 1 is the pool's, 9 is 8 MiB at the end and never a member
LIST = ("lsblk", "-o", "NAME,SIZE,PARTUUID,SERIAL,WWN")


def partuuid(leaf: VdevFacts) -> str:
    """The id of the partition by which the member is known; "" when it is known by something else."""
    found = _PARTUUID.fullmatch(leaf.was or leaf.name)
    return (found.group(1) or found.group(2)).lower() if found else ""


def partition(leaf: VdevFacts) -> tuple[str, int] | None:
    """The disk and number of a partition that shares its disk with others; None for a whole disk, and where the name does not say."""
    found = _PARTITION.fullmatch(leaf.was or leaf.name)
    if found is None or int(found.group(2)) == OF_A_MEMBER:
        return None
    return found.group(1), int(found.group(2))


def by_devid(leaf: VdevFacts) -> tuple[str, int] | None:
    """The same by the device id that the labels have for it, "ata-MODEL_SERIAL-part3": it is as old as the last import that found the disk."""
    found = _DEVID.fullmatch(leaf.devid or "")
    if found is None or int(found.group(2)) == OF_A_MEMBER:
        return None
    return found.group(1), int(found.group(2))


def number(leaf: VdevFacts) -> int | None:
    """The number of its partition, also of one that ZFS made of a whole disk: by its name, else by its device id. None where neither has one."""
    found = _PARTITION.fullmatch(leaf.was or leaf.name) or _DEVID.fullmatch(leaf.devid or "")
    return int(found.group(2)) if found else None


def names_no_partition(leaf: VdevFacts) -> bool:
    """Whether nothing that is known of it has a partition's number: a partition's own id, or a bare guid, and no device id with one."""
    name = leaf.was or leaf.name
    return (bool(partuuid(leaf)) or name.isdigit()) and _DEVID.fullmatch(leaf.devid or "") is None


def sentence(leaf: VdevFacts) -> str:
    """What a reader must know of it before replacing anything; "" for a member that is a whole disk by a plain name."""
    parts = []
    if shared := partition(leaf):
        parts.append(
            f"It is partition {shared[1]} of its disk: the others hold what boots the system, or swap, or other pools, and are gone with the disk. A new disk gets "
            f"the partition table and the boot loader first, and then its partition {shared[1]} takes the member's place, not the whole disk."
        )
    if id := partuuid(leaf):
        parts.append(
            f"It is known by the id of its partition, {id}: `lsblk -o NAME,PARTUUID,SERIAL,WWN` shows which disk that is, if the disk is still there. If it is not, it is "
            "the one whose serial number no partition of the pool leads to."
        )
    return " ".join(parts)


def cures(pool: PoolFacts, leaf: VdevFacts) -> tuple[Cure, ...]:
    """What comes before a replacement, and the replacement by partition; () for a member that is a whole disk by a plain name."""
    return (*_finding(leaf), *_partitioning(pool, leaf))


def before_replacing(pool: PoolFacts, leaf: VdevFacts, others: tuple[Cure, ...] = ()) -> tuple[Cure, ...]:
    """`others` with what such a member needs first put in before its replacement; `others` as they are for a plain whole disk."""
    own = cures(pool, leaf)
    if not own:
        return others
    at = next((i for i, other in enumerate(others) if other.kind == "replace"), len(others))
    replaced = any(one.kind == "replace" for one in own)
    return (*others[:at], *own, *(other for other in others[at:] if not (replaced and other.kind == "replace")))


def _finding(leaf: VdevFacts) -> Iterator[Cure]:
    if not partuuid(leaf):
        return
    bsd = _BSD.match(leaf.was or leaf.name)
    look = (("glabel", "status"), ("camcontrol", "devlist", "-v")) if bsd else (LIST, ("readlink", "-f", leaf.was or leaf.name))
    yield cure(
        "look",
        "Find the disk behind the partition's id, with its serial number. On TrueNAS replace it in the web interface: it partitions the new disk and keeps its own records.",
        *look,
    )


def _partitioning(pool: PoolFacts, leaf: VdevFacts) -> Iterator[Cure]:
    shared = partition(leaf)
    if shared is None or _pools.stands_still(pool):
        return
    _, number = shared
    healthy = _healthy_sibling(pool, leaf) or "/dev/disk/by-id/HEALTHY_DISK"
    bsd = is_bsd(leaf)
    needs = "The new disk is at least as large, and carries nothing that is needed. Compare its serial number before: its partition table is overwritten."
    if bsd:
        yield cure(
            "other",
            "First give the new disk the partitions of a healthy one. Put in HEALTHY and NEW for the two disks, as `gpart show` and their serial numbers show.",
            ("gpart", "backup", "HEALTHY"),
            ("gpart", "restore", "-F", "NEW"),
            needs=needs,
        )
        return
    yield cure(
        "other",
        "First copy the partition table of a healthy disk of the same pool to the new one, and give the copy ids of its own.",
        ("sgdisk", healthy, "-R", NEW_DISK),
        ("sgdisk", "-G", NEW_DISK),
        needs=needs,
    )
    yield cure(
        "replace",
        f"Then let its partition {number} take the place of the member.",
        *_pools.of(pool, leaf, "replace", "POOL", "VDEV", f"{NEW_DISK}-part{number}"),
        needs=_pools.guid_needed(leaf),
    )
    yield cure(
        "other",
        "Then make the new disk boot: on Proxmox put the boot files on its EFI partition, elsewhere install the boot loader as on the others, and boot from it once. "
        "`proxmox-boot-tool status` says which way a system boots; where it says grub by legacy, it is `grub-install` on the disk.",
        ("proxmox-boot-tool", "format", f"{NEW_DISK}-part2"),
        ("proxmox-boot-tool", "init", f"{NEW_DISK}-part2"),
        needs="The pool is one that the system boots from, and its second partition is the EFI partition.",
    )


def is_bsd(leaf: VdevFacts) -> bool:
    return _BSD.match(leaf.was or leaf.name) is not None


def way_by_hand(pool: str, guid: str, healthy: str, new: str, number: int | None, bsd: bool, verb: str = "replace") -> str:
    """For a refusal: what a person gives in which order; `verb` is that of zpool, which a member that stays and gets a mirror has attached to it. `sgdisk DISK -R OTHER` reads DISK and overwrites OTHER (sgdisk(8), --replicate)."""
    part = number or "N"
    compare = "Compare the serial numbers of both disks before the first command: it overwrites the partition table of the new disk."
    truenas = f"On TrueNAS {'replace it' if verb == 'replace' else 'extend it'} in the web interface instead, which does all of it."
    if bsd:
        return (
            f"By hand, with HEALTHY and NEW as `gpart show` and `camcontrol devlist -v` show them: `gpart backup HEALTHY > table`, `gpart restore -F NEW < table`, "
            f"`gpart show NEW` must show the same; `zpool {verb} {pool} {guid} NEWp{part}`; then what boots: `gpart bootcode -b /boot/pmbr -p /boot/gptzfsboot -i 1 NEW` "
            f"with BIOS, or a copy of the files of the EFI partition of HEALTHY. {compare} {truenas}"
        )
    return (
        f"By hand, in this order: `sgdisk {healthy} -R {new}` copies the partition table of the healthy disk, which stands first and is only read; `sgdisk -G {new}` gives "
        f"the copy GUIDs of its own; `sgdisk -p` must print the same for both; `zpool {verb} {pool} {guid} {new}-part{part}`; then what boots: where "
        f"`proxmox-boot-tool status` lists EFI partitions, `proxmox-boot-tool format {new}-part2` and `proxmox-boot-tool init {new}-part2`, elsewhere `grub-install {new}`; "
        f"boot from it once. {compare} {truenas}"
    )


def _healthy_sibling(pool: PoolFacts, leaf: VdevFacts) -> str:
    """The disk of another member with the same partition number that serves, by a name that does not move; "" when there is none."""
    wanted = partition(leaf)
    for _, top in pool.tops_read:
        for other in top.leaves():
            found = partition(other)
            if found and wanted and other.state == "ONLINE" and found[1] == wanted[1] and found[0].startswith("/dev/disk/by-id/"):
                return found[0]
    return ""
