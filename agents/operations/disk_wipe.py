"""Wipe a disk that a replacement took out of a pool: zeros over its four labels and both copies of its partition table, and nothing else.

The agent writes them itself; docs/decisions/the-agent-wipes-a-disk-itself.md has why no tool does. The disk is opened by its by-id link,
for itself alone (O_EXCL: the kernel refuses it while a pool, a mount, swap, md or LVM has any part of it), and through that very
descriptor asked once more which disk it is and whose label it carries. Only then are the areas of the plan overwritten, synced and
read back past the cache.

There is no way back. Only a member that its pool does not list any more is wiped, of a pool that is ONLINE here and fills no disk, so nothing
needs what is on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import _disks, block, zdb_label
from agents.collectors.base import Capture, Unparsed
from agents.domain.wwid import by_id_path
from agents.host.host import Host, Ran
from agents.operations import _areas, _candidate, _member, _new_disk, _released, _resilver, _tree
from agents.operations._candidate import NONE, known
from agents.operations._new_disk import Scene
from agents.operations._tree import PoolTree, Unread
from agents.operations.base import UNKNOWN, Probe

NAME = "disk_wipe"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "vdev_guid", "wwid")
TIMEOUT_SECONDS = 120.0
FACTS = (
    *("pool.guid", "pool.state", "pool.filling", "pool.removal", "pool.expansion", "pool.checkpoint", "pool.vdev"),
    *("disk.wwid", "disk.by_id", "disk.paths", "disk.serial", "disk.vendor", "disk.model", "disk.size_bytes", "disk.logical_block_bytes"),
    *("disk.state", "disk.read_only", "disk.holders", "disk.mounts", "disk.labels", "disk.contents", "disk.member"),
    *("disk.label_age", "disk.partitions", "disk.areas", *_released.FACTS),
)
OLDER = "older"
UNTOUCHED = "Nothing was written"


def check(params: Mapping[str, str]) -> str:
    return _new_disk.check(params, PARAMS)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """No tool is called by these words; they say what `perform` does."""
    return ("wipe", "labels-and-partition-table-of", str(by_id_path(params["wwid"])))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return facts(_new_disk.survey(host, params))


def facts(scene: Scene) -> dict[str, str]:
    host = scene.host
    found = {
        "pool.guid": known(lambda: _tree.pool_guid(host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.filling": known(lambda: filling(scene.pool())),
        "pool.removal": known(lambda: _member.progress(scene.pool().remove)),
        "pool.expansion": known(lambda: _member.progress(scene.pool().expand)),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "pool.vdev": known(lambda: ", ".join(m.state for m in scene.pool().find(scene.params["vdev_guid"])[-1:]) or NONE),
        "disk.label_age": known(lambda: label_age(scene)),
        "disk.partitions": known(lambda: _areas.kept_partitions(host, scene.disk())),
        "disk.areas": known(lambda: _areas.read(host, scene.disk())),
    }
    everything = _new_disk.facts(scene, found, FACTS)
    return {name: everything[name] for name in FACTS}


def label_age(scene: Scene) -> str:
    """Whether the disk's label is older than those of the vdev it was in, which ZFS writes anew when a member comes or goes (module/zfs/spa.c:
    spa_vdev_attach, spa_vdev_detach, zfs-2.4.4). Of a disk that was let go of while it served the txg is 0. Raises Unread."""
    capture = zdb_label.collect_one(scene.host, scene.disk().paths[0].name)
    found = zdb_label.parse(capture.text) if capture.outcome == "data" else Unparsed(capture.reason)
    labels = () if isinstance(found, Unparsed) else found.labels
    txg = labels[0].txg if len(labels) == 1 else None
    if txg is None:
        raise Unread("the disk does not carry one label with one txg")
    label, pool = labels[0], scene.pool()
    top = next((top for top in pool.tops if top.guid == str(label.top_guid)), None)
    if top is None:
        raise Unread(f"the label is of the top-level vdev {label.top_guid}, which {pool.name} does not have")
    online = [leaf for leaf in top.leaves() if leaf.state == "ONLINE"][: _tree.LABELS_TRIED_MAX]
    read = (_tree.label_on(scene.host, pool, leaf) for leaf in online)
    newest = max((one.txg for one in read if one is not None and one.txg is not None), default=None)
    if newest is None:
        raise Unread(f"no label of an ONLINE member of {top.name} could be read")
    return OLDER if txg < newest else f"of txg {txg}, and the newest of {top.name} is of {newest}"


def filling(pool: PoolTree) -> str:
    """What is under way that may still need an older copy: a disk being filled, a replacement that is not over, a resilver that names no disk."""
    members = [member.name for top in pool.tops for member in top.walk() if member.filling or member.kind in ("replacing", "spare")]
    return ", ".join([*members, *(run for run in _resilver.not_over(pool.scans) if run in _resilver.REPAIRS)]) or NONE


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _new_disk.survey(host, params)
    pre = facts(scene)
    leaving = {
        name: pre[f"disk.{name}"] for name in ("wwid", "serial", "model", "size_bytes", "logical_block_bytes", "partitions", "areas")
    }
    return {
        "leaving": {
            **leaving,
            "physical_block_bytes": known(lambda: _candidate.same(scene.disk(), "physical_block_bytes")),
            "protection_type": known(lambda: _protection(scene)),
            "partition_table": known(lambda: _areas.table(host, scene.disk())),
        },
        "labels": [line for capture in _candidate.aftermath(host, params["wwid"]) for line in capture.text.splitlines()],
        "preconditions": pre,
    }


def _protection(scene: Scene) -> str:
    """T10 protection information (DIF) the disk is formatted with; an ATA or NVMe disk shows none in sysfs."""
    types = {path.protection_type for path in scene.disk().paths}
    return NONE if types <= {0, None} else f"type {', '.join(str(kind) for kind in types)}"


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = _member.judge(_questions(params), pre, FACTS)
    return (*verdicts, *_layout(pre), *_released.verdicts(NAME, pre))


def _questions(params: Mapping[str, str]) -> tuple[_member.Question, ...]:
    """(fact, values that pass, what to say otherwise)."""
    pool, guid, wwid = params["pool"], params["vdev_guid"], params["wwid"]
    own = f"pool {pool} ({params['pool_guid']}), vdev {guid}"
    again = "Wait until that is over, then plan again."
    return (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.state", ("ONLINE",), f"{pool} is {{}}. While it is not whole, an old disk may be its last good copy: mend the pool first."),
        ("pool.filling", (NONE,), f"{pool} fills a disk or has one being replaced: {{}}. {again}"),
        ("pool.removal", (NONE,), f"A vdev is being removed from {pool}. {again}"),
        ("pool.expansion", (NONE,), f"{pool} is being expanded. {again}"),
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint, and going back to it may need this disk. Discard the checkpoint first."),
        ("pool.vdev", (NONE,), f"{guid} is a vdev of {pool} and is {{}}. A member is never wiped; replace it first."),
        ("disk.wwid", (wwid,), f"The disk is {{}} and {wwid} was approved."),
        ("disk.paths", ("1",), f"{{}} paths lead to {wwid}, and only one can be held. Take the others away, or choose another disk."),
        ("disk.state", block.RUNNING, f"The kernel calls the disk {wwid} {{}}. Choose another disk."),
        ("disk.read_only", ("no",), f"The disk {wwid} can only be read. Choose another disk."),
        ("disk.holders", (NONE,), f"The disk {wwid} is held by {{}} (LVM, md, LUKS or multipath). Find out what that is; it stays."),
        ("disk.mounts", (NONE,), f"The disk {wwid} is in use: {{}}. It stays."),
        ("disk.member", (NONE,), f"The disk {wwid} serves an imported pool: {{}}. It stays."),
        ("disk.labels", (own,), f"The disk {wwid} carries: {{}}. Only a disk whose one label is {own} is wiped here."),
        ("disk.label_age", (OLDER,), f"The label of {wwid} is {{}}: it is not older than its pool. Find out why before anything is wiped."),
        ("disk.contents", (NONE, "zfs_member"), f"The disk {wwid} also holds {{}}. Find out whose that is; it stays."),
    )


def _layout(pre: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Only partitions that ZFS makes itself: any other may hold what no tool recognises."""
    value = pre.get("disk.partitions", UNKNOWN)
    if value.startswith(UNKNOWN):
        return ()
    numbers = [] if value == NONE else [int(part.partition(" ")[0]) for part in value.split(", ")]
    foreign = [number for number in numbers if number not in _areas.OF_ZFS]
    if foreign:
        return (
            ("refuse", f"The disk has partition {', '.join(map(str, foreign))}, which ZFS did not make. Find out whose it is; it stays."),
        )
    return (("pass", f"disk.partitions is {value}."),)


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    begun, link = host.now(), str(by_id_path(params["wwid"]))
    try:
        disk = _candidate.find(host, params["wwid"])
        regions = _areas.areas(host, disk)

        def agrees(name: str, held: bytes) -> None:
            found = _disks.wwid_of(host, name)
            if found != params["wwid"]:
                raise Unread(f"{link} opened {name}, which is {found or 'no disk that is known'}. {UNTOUCHED}")
            if why := _areas.strangers(regions, held, params["pool_guid"], params["vdev_guid"]):
                raise Unread(f"{name}: {why}. {UNTOUCHED}")

        left = host.erase(disk.by_id, regions, agrees)
    except (Unread, OSError) as error:
        return Ran(argv(params), 1, b"", f"{error}.\n".encode(), host.now() - begun)
    lines = "".join(f"{offset}+{length}: zeros written\n" for offset, length in regions).encode()
    if any(left) or len(left) != sum(length for _, length in regions):
        return Ran(argv(params), 1, lines, b"Read back, the areas are not all zeros.\n", host.now() - begun)
    return Ran(argv(params), 0, lines, b"", host.now() - begun)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """Whether it took place, by the bytes of the planned areas: all zeros, all as before, or what is left."""
    evidence = aftermath(host, params)
    before = _areas.planned(pre.get("disk.areas", ""))
    try:
        if not before:
            raise Unread("the plan does not say which areas it meant")
        disk = _candidate.find(host, params["wwid"])
        now = _areas.digests(host, disk.by_id, [region for region, _ in before])
    except Unread as unread:
        return Probe("cannot_tell", evidence, f"Whether it took place is not known: {unread}.")
    full = [(region, digest == was) for (region, was), digest in zip(before, now) if digest != _areas.empty(region)]
    if not full:
        return Probe("did", evidence, f"All areas of {params['wwid']} that the plan named are zeros.")
    if len(full) == len(before) and all(same for _, same in full):
        return Probe("did_not", evidence, f"Every area of {params['wwid']} is as it was planned.")
    where = ", ".join(f"{offset}+{length}" for (offset, length), _ in full)
    return Probe(
        "cannot_tell", evidence, f"Only a part of {params['wwid']} was wiped; not zeros: {where}. Plan it again while a label is left."
    )


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    """Pool, disks and labels after it: no partition and no label may be left."""
    return (*_tree.captures(host), *block.collect(host), *_candidate.aftermath(host, params["wwid"]))
