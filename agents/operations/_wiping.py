"""What the operations that wipe a disk share: what the disk must not be, how it is written and read back, and how the outcome is found.

The agent writes zeros over the four labels and both copies of the partition table, and nothing else;
docs/decisions/the-agent-wipes-a-disk-itself.md has why no tool does. The disk is opened by its by-id link, for itself alone (O_EXCL: the
kernel refuses it while a pool, a mount, swap, md or LVM has any part of it), and through that very descriptor asked once more which
disk it is and whose label it carries. Only then are the areas of the plan overwritten, synced and read back past the cache.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import _disks, block
from agents.collectors.base import Capture
from agents.domain.wwid import by_id_path
from agents.host.host import Host, Ran
from agents.operations import _areas, _candidate, _new_disk, _released, _tree
from agents.operations._member import Question
from agents.operations._new_disk import Scene
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, known

PARAMS = ("pool", "pool_guid", "vdev_guid", "wwid")
TIMEOUT_SECONDS = 120.0
FACTS = (
    *("disk.wwid", "disk.by_id", "disk.paths", "disk.serial", "disk.vendor", "disk.model", "disk.size_bytes", "disk.logical_block_bytes"),
    *("disk.state", "disk.read_only", "disk.holders", "disk.mounts", "disk.labels", "disk.contents", "disk.member"),
    *("disk.partitions", "disk.areas", *_released.FACTS),
)
UNTOUCHED = "Nothing was written"


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """No tool is called by these words; they say what `perform` does."""
    return ("wipe", "labels-and-partition-table-of", str(by_id_path(params["wwid"])))


def facts(scene: Scene, found: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """`found` with what is so of the disk, in the order of `names`."""
    of_the_disk = {
        "disk.partitions": known(lambda: _areas.kept_partitions(scene.host, scene.disk())),
        "disk.areas": known(lambda: _areas.read(scene.host, scene.disk())),
    }
    everything = _new_disk.facts(scene, {**found, **of_the_disk}, names)
    return {name: everything[name] for name in names}


def describe(scene: Scene, pre: Mapping[str, str]) -> dict[str, object]:
    leaving = {
        name: pre[f"disk.{name}"] for name in ("wwid", "serial", "model", "size_bytes", "logical_block_bytes", "partitions", "areas")
    }
    return {
        "leaving": {
            **leaving,
            "physical_block_bytes": known(lambda: _candidate.same(scene.disk(), "physical_block_bytes")),
            "protection_type": known(lambda: _protection(scene)),
            "partition_table": known(lambda: _areas.table(scene.host, scene.disk())),
        },
        "labels": [line for capture in _candidate.aftermath(scene.host, scene.params["wwid"]) for line in capture.text.splitlines()],
        "preconditions": dict(pre),
    }


def _protection(scene: Scene) -> str:
    """T10 protection information (DIF) the disk is formatted with; an ATA or NVMe disk shows none in sysfs."""
    types = {path.protection_type for path in scene.disk().paths}
    return NONE if types <= {0, None} else f"type {', '.join(str(kind) for kind in types)}"


def questions(params: Mapping[str, str]) -> tuple[Question, ...]:
    """(fact, values that pass, what to say otherwise) of the disk."""
    wwid, own = params["wwid"], f"pool {params['pool']} ({params['pool_guid']}), vdev {params['vdev_guid']}"
    return (
        ("disk.wwid", (wwid,), f"The disk is {{}} and {wwid} was approved."),
        ("disk.paths", ("1",), f"{{}} paths lead to {wwid}, and only one can be held. Take the others away, or choose another disk."),
        ("disk.state", block.RUNNING, f"The kernel calls the disk {wwid} {{}}. Choose another disk."),
        ("disk.read_only", ("no",), f"The disk {wwid} can only be read. Choose another disk."),
        *_new_disk.in_use(wwid, "It stays as long as that is so."),
        ("disk.member", (NONE,), f"The disk {wwid} serves an imported pool: {{}}. It stays."),
        ("disk.labels", (own,), f"The disk {wwid} carries: {{}}. Only a disk whose one label is {own} is wiped here."),
        (
            "disk.contents",
            (NONE, _new_disk.MEMBER),
            _new_disk.ended(f"The disk {wwid} also holds {{}}. Find out whose that is; until then it stays.", str(by_id_path(wwid))),
        ),
    )


def layout(pre: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
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


def perform(host: Host, params: Mapping[str, str], destroyed: bool = False) -> Ran:
    """With `destroyed` every label on it must say that its pool was destroyed."""
    begun, link = host.now(), str(by_id_path(params["wwid"]))
    try:
        disk = _candidate.find(host, params["wwid"])
        regions = _areas.areas(host, disk)

        def agrees(name: str, held: bytes) -> None:
            found = _disks.wwid_of(host, name)
            if found != params["wwid"]:
                raise Unread(f"{link} opened {name}, which is {found or 'no disk that is known'}. {UNTOUCHED}")
            if why := _areas.strangers(regions, held, params["pool_guid"], params["vdev_guid"], destroyed):
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
    """Pools, disks and labels after it: no partition and no label may be left."""
    return (*_tree.captures(host), *block.collect(host), *_candidate.aftermath(host, params["wwid"]))
