"""Sentences and evidence that several situations need."""

from workflows.analysis import pool_fate
from workflows.engine.core import Answer, Evidence
from workflows.facts import DiskFacts, Known, NodeFacts, PoolFacts, VdevFacts, known, lookup, title


def evidence(node: NodeFacts, source: str, line: str) -> Evidence:
    return Evidence(node.node, source, node.digests.get(source, ""), line)


def where(disk: DiskFacts) -> str:
    """A disk with all that names it, and the bay to walk to: "sde (naa:5000…), serial number ZA21ABCD, bay 4 of enclosure 0x5006…"."""
    serial = f", serial number {disk.serial}" if known(disk.serial) else ""
    return f"{title(disk)}{serial}{bay(disk)}"


def short_where(disk: DiskFacts) -> str:
    """The same for a title, without the serial number."""
    return f"{title(disk)}{bay(disk)}"


def named(disk: DiskFacts) -> str:
    """For a title: the kernel's name and the WWID, which stays the disk's own when the kernel's name is given to another one."""
    return title(disk) if known(disk.wwid) else disk.names[0]


def bay(disk: DiskFacts) -> str:
    """The end of a sentence: ", bay 4 of enclosure 0x5006…"; "" where it is not known."""
    return f", bay {disk.bay.slot} of enclosure {disk.bay.enclosure_id}" if known(disk.bay) else ""


def disk_of(node: NodeFacts, leaf: VdevFacts) -> DiskFacts | None:
    """The disk that carries the leaf's label."""
    if not known(leaf.wwid) or not known(node.disks):
        return None
    return next((disk for disk in node.disks if disk.wwid == leaf.wwid), None)


def disk_behind(node: NodeFacts, leaf: VdevFacts) -> DiskFacts | None:
    """The disk of a leaf in service: by its label, else by the stable name ZFS has it open under."""
    disk = disk_of(node, leaf)
    if disk is None and leaf.state in lookup.IN_SERVICE and leaf.name.startswith("/dev/disk/by-id/"):
        found = lookup.at_path(node, leaf.name)
        return found if known(found) else None
    return disk


def margin_sentence(pool: PoolFacts, top: VdevFacts) -> str:
    """How many more losses a top-level vdev survives, as ZFS counts; of a log that no data is on it."""
    pool = pool.shown
    margin = pool_fate.losses(pool, top)
    if pool_fate.role_of(pool, top) == "log":
        return _of_a_log(pool, top, margin)
    if not known(margin):
        return f"How many more losses {top.name} survives is not known: {margin.reason}"
    if margin < 0:
        return f"{top.name} lacks more disks than it can do without, so its data is out of reach until some of them are back."
    if margin == 0:
        return f"One more loss in {top.name} loses the pool."
    return f"{top.name} survives {margin} more {'loss' if margin == 1 else 'losses'}."


def _of_a_log(pool: PoolFacts, top: VdevFacts, margin: Known[int]) -> str:
    if known(margin) and margin >= 0 and top.children:
        return f"It is a part of the log {top.name}, whose other half serves: the data of {pool.name} is not on it."
    return (
        f"It is a log device: the data of {pool.name} is not on it, and the pool is whole without it. Until it is back or removed, the synchronous "
        "writes of the last seconds before a crash are not protected; if the node crashes now, the next import needs `zpool import -m`."
    )


def subject(node: NodeFacts, pool: PoolFacts, top: VdevFacts | None = None, leaf: VdevFacts | None = None) -> dict[str, str]:
    fields = {"node": node.node, "pool": pool.name} | ({"top": top.name} if top else {})
    fields |= {"pool_guid": str(pool.guid)} if known(pool.guid) else {}
    if leaf is not None:
        fields |= {"vdev_guid": str(leaf.guid) if known(leaf.guid) else leaf.name}
        fields |= {"wwid": leaf.wwid} if known(leaf.wwid) else {}
    return fields


def pool_answers(node: NodeFacts, pool: PoolFacts, runbook: str, why: str, **more: str) -> tuple[Answer, ...]:
    """A runbook about a pool; none where the pool's guid is not known, because a run names it."""
    if not known(pool.guid):
        return ()
    return (Answer(runbook, {"node": node.node, "pool": pool.name, "pool_guid": str(pool.guid), **more}, why),)


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
