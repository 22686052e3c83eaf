"""Cures of a member that several situations share, in the order in which to try them: the cheap and harmless ones first.

A command names its member by guid; where the guid is not known the cure has no command, and says how to learn it.
"""

from collections.abc import Mapping

from workflows.analysis import pool_fate
from workflows.engine.core import Cure, CureKind
from workflows.facts import PoolFacts, VdevFacts, known, lookup

BY_GUID = "wwid-mismatch-replace"  # the runbook that replaces a lost member by its guid
IN_ITS_BAY = "blink-and-replace"  # the runbook that replaces a disk which still sits in its bay
BESIDE_IT = "replace-in-place"  # the runbook that fills another disk of the node while the old one serves
OF_A_PARTITION = "replace-boot-member"  # the runbook for a member that is one partition of a disk with others
REPLACING = frozenset((BY_GUID, IN_ITS_BAY, BESIDE_IT, OF_A_PARTITION))  # runbooks whose end is another disk in the place of a member
FINISH = "finish-replacement"  # the runbook that takes one disk out of a replacement that does not end
RESILVER = "begin-resilver"  # the runbook that begins a resilver where none comes
REMOVE = "remove-auxiliary"  # the runbook that takes a log, a cache device or a spare out of its pool
ADD = "add-auxiliary"  # the runbook that gives a pool a spare, a log or a cache device
MIRROR = "add-redundancy"  # the runbook that gives a disk which stands alone a mirror
CLASS = "add-special"  # the runbook that adds a special or dedup vdev, a mirror of several disks
TAKE_OUT = "remove-vdev"  # the runbook that takes a data vdev out of its pool
IMPORT = "import-pool"  # the runbook that imports a pool which no host has, by stable names
THEN_IMPORT = f"Give the export by hand; where the node has an agent, {IMPORT} begins at its page then, and proves first that no other host has the pool."
OTHERS: Mapping[str, CureKind] = {
    "spare-return": "detach",
    FINISH: "detach",
    RESILVER: "resilver",
    REMOVE: "remove",
    ADD: "add",
    MIRROR: "attach",
    CLASS: "add",
    TAKE_OUT: "remove",
}
DOES: Mapping[str, CureKind] = {**dict.fromkeys(REPLACING, "replace"), **OTHERS}  # runbook -> the cure that it carries out
COUNTERS = "`zpool clear` sets the error counters to 0: write down what `zpool status -P -p` prints now."


def guid(vdev: VdevFacts) -> str:
    """Its guid, or its name where the guid is not known."""
    return str(vdev.guid) if known(vdev.guid) else vdev.name


def command(pool: PoolFacts, vdev: VdevFacts, verb: str) -> tuple[tuple[str, ...], ...]:
    """`zpool VERB POOL GUID`; none where the guid is not known."""
    return (("zpool", verb, pool.name, str(vdev.guid)),) if known(vdev.guid) else ()


def ask_guid(pool: PoolFacts, vdev: VdevFacts) -> str:
    """For `needs`: how its guid is learnt; "" where it is known."""
    return (
        "" if known(vdev.guid) else f"Its guid: `zpool status -g {pool.name}` prints it in the same row. Its name can lead to another disk."
    )


def look(text: str, *argv: tuple[str, ...]) -> Cure:
    return Cure("look", text, argv)


def wait(text: str) -> Cure:
    return Cure("wait", text)


def after_resilver(pool: PoolFacts, what: str, cures: tuple[Cure, ...]) -> tuple[Cure, ...]:
    """What is done to a disk that still serves: not before a resilver has ended that may be reading from it."""
    if not any(scan.function in ("resilver", "rebuild") and scan.state == "running" for scan in pool.scans_read):
        return cures
    text = f"Leave {what} as it is, in its place and with its cable, until the resilver has ended: that may be reading from it. Then look at the counts again."
    return (wait(text), *cures)


def after_the_others(pool: PoolFacts, top: VdevFacts, leaf: VdevFacts, what: str, cures: tuple[Cure, ...]) -> tuple[Cure, ...]:
    """What is done to a disk that still serves: not while another of its vdev is away and the vdev survives no further loss."""
    empty = (place for place in top.children if all(map(lookup.serves_nothing, place.leaves())))  # one that is being filled is waited for
    lost = tuple(one for place in empty for one in place.leaves() if one is not leaf)
    left = pool_fate.losses(pool.shown, top) if lost else 1
    if not known(left) or left != 0:
        return cures
    text = (
        f"First bring {', '.join(one.short for one in lost[:3])} back, or replace what is gone for good, and wait until that is filled. {what} holds now what no other disk of "
        f"{top.name} holds: leave it in its place, with its cable. Then look at the counts again."
    )
    return (wait(text), *(one for one in cures if one.kind not in ("reseat", "replace")))


def reseat(what: str, *leaves: VdevFacts) -> Cure:
    """Before any disk is suspected. A member that is a file has no way of its own: what is below it is looked at."""
    if leaves and all(map(lookup.is_file, leaves)):
        files = tuple(map(lookup.path_of_file, leaves[:3]))
        return look(
            f"See that {', '.join(files)} {'is' if len(leaves) == 1 else 'are'} there and whole, and how the file system is that holds "
            f"{'it' if len(leaves) == 1 else 'them'}: whether it is mounted, full, or has errors. A member that is a file is as good as the disk below it.",
            ("ls", "-l", *files),
            ("df", "-h"),
            ("dmesg",),
        )
    return Cure(
        "reseat",
        f"Look at the way to {what} first: the seat in the bay, the cable, the port, the shelf's module, the power; change one thing at a time. The kernel's "
        "log and the counters of the SAS link say whether that way is bad.",
    )


def online(pool: PoolFacts, leaf: VdevFacts) -> Cure:
    return Cure(
        "online",
        f"When its own disk is there again, bring {guid(leaf)} back: ZFS writes to it what it missed, and nothing else.",
        command(pool, leaf, "online"),
        needs=" ".join(filter(None, ("The disk answers and carries the label of this member.", ask_guid(pool, leaf)))),
    )


def clear(pool: PoolFacts, leaf: VdevFacts) -> Cure:
    return Cure(
        "clear",
        f"When the way to the disk is mended, clear its errors: ZFS takes {guid(leaf)} back and counts from 0. Then scrub {pool.name}; counts that grow again are the disk's.",
        command(pool, leaf, "clear"),
        needs=" ".join(filter(None, (f"{pool.name} is not suspended.", ask_guid(pool, leaf)))),
        save_first=COUNTERS,
    )


def scrub(pool: PoolFacts, text: str) -> Cure:
    return Cure("scrub", text, (("zpool", "scrub", pool.name),), needs=f"No resilver of {pool.name} is running.")


def replace(pool: PoolFacts, leaf: VdevFacts, runbook: str = BY_GUID, text: str = "") -> Cure:
    """The last of all; left out while anything gates the pool."""
    return Cure(
        "replace",
        text
        or f"If the disk itself is broken or gone for good, replace {guid(leaf)} by its guid, with a disk that carries no label. Never with -f.",
        needs=" ".join(
            filter(None, (f"{pool.name} serves, and nothing else in it is wrong that could explain this.", ask_guid(pool, leaf)))
        ),
        runbook=runbook,
    )


def sit_out(pool: PoolFacts, leaf: VdevFacts) -> Cure:
    """A property of the leaves of raidz and dRAID (module/zfs/vdev.c:vdev_prop_set, zfs-2.4.4), for `vdev_read_sit_out_secs`, 600 by default."""
    named = (str(leaf.guid),) if known(leaf.guid) else ()
    return Cure(
        "other",
        "Meanwhile, so that the pool need not wait for it: no reads are sent to the disk for ten minutes, and its data is made from parity. "
        "Writes go on, and reads come back by themselves.",
        tuple(("zpool", "set", "sit_out=on", pool.name, name) for name in named),
        releases="2.4 and newer",
        needs=" ".join(filter(None, ("Its vdev still has parity to spare.", ask_guid(pool, leaf)))),
    )


def detach(pool: PoolFacts, leaf: VdevFacts, text: str, needs: str) -> Cure:
    return Cure(
        "detach",
        text,
        command(pool, leaf, "detach"),
        needs=" ".join(filter(None, (needs, ask_guid(pool, leaf)))),
        save_first=f"`zpool detach` wipes the label of {guid(leaf)} where that disk can be reached: it comes back only as a new disk.",
    )


def export_import(pool: PoolFacts, text: str) -> Cure:
    named = str(pool.guid) if known(pool.guid) else pool.name
    return Cure(
        "export-import",
        f"{text} {THEN_IMPORT}",
        (
            ("zpool", "export", pool.name),
            ("zpool", "import", "-d", "/dev/disk/by-id"),
            ("zpool", "import", "-N", "-d", "/dev/disk/by-id", named),
        ),
        needs="No other host has the pool, and the second command, which only looks, lists all of its members ONLINE.",
        save_first="Nothing is lost by it; keep the output of `zpool status -P -p` and `zpool status -g -p`.",
        runbook=IMPORT,
    )
