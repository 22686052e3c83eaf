"""What the operations that take a blank disk into a pool share: the disk by its WWID, the pool, and what forbids to write to that disk.

The disk is named by its WWID and never by a kernel name. Never with `-f`: what `zpool` itself refuses stays refused. Behind a multipath map it is
named by the map: the parameter `map` is then its UUID, and the order of a disk that is behind none has no such parameter. ZFS takes a map as it is,
without partitions (lib/libefi/rdwr_efi.c: a device mapper device is DKC_VBD, and zfs_dev_is_whole_disk says no of that; zfs-0.8.6 to 2.4.4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agents.collectors import block, node
from agents.collectors.base import Capture
from agents.domain.disk_uses import ways_on
from agents.domain.multipath_maps import path_of, states, uuid_of
from agents.domain.wwid import DISKID, DSK
from agents.host.host import Host
from agents.operations import _candidate, _history, _member, _released, _tree
from agents.operations._candidate import Candidate
from agents.operations._member import Question
from agents.operations._tree import Status
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, check_wwid, concluded, known

MAP = "map"
MEMBER = "zfs_member"  # as blkid calls what carries a label
FACTS = (
    *("disk.wwid", "disk.by_id", "disk.paths", "disk.serial", "disk.vendor", "disk.model", "disk.size_bytes"),
    *("disk.logical_block_bytes", "disk.state", "disk.read_only", "disk.bay", "disk.holders", "disk.mounts"),
    *("disk.labels", "disk.contents", "disk.member", "zfs.prepares", *_released.FACTS),
)


@dataclass(frozen=True)
class Scene(_member.Scene):
    """What was read at one moment, the new disk with it. In place of what could not be read stands why."""

    candidate: Candidate | Unread

    def disk(self) -> Candidate:
        if isinstance(self.candidate, Unread):
            raise self.candidate
        return self.candidate


def check(params: Mapping[str, str], names: Sequence[str]) -> str:
    """Of parameters that are a pool's name, guids and a WWID."""
    return _member.check(params, names) or check_wwid(params["wwid"])


def check_whole(params: Mapping[str, str], names: Sequence[str]) -> str:
    """The same where the disk is taken whole: then it may be behind a map."""
    return check({name: value for name, value in params.items() if name != MAP}, names) or check_map(params)


def check_map(params: Mapping[str, str]) -> str:
    """The map that is named must be that of the disk: its UUID follows from the WWID."""
    if MAP not in params or params[MAP] == uuid_of(params["wwid"]):
        return ""
    return f"{params[MAP]!r} is not the multipath map of {params['wwid']}, which is {uuid_of(params['wwid']) or 'known by no UUID here'}."


def path(params: Mapping[str, str]) -> str:
    """What the command names the disk by."""
    return str(path_of(params["wwid"], params.get(MAP, "")))


def data_path(params: Mapping[str, str], number: str = "1") -> str:
    """Where its data will be: partition 1, or the map itself, or FreeBSD's disk, or slice 0 of illumos."""
    if path(params).startswith(DSK):
        return f"{path(params)}s0"
    return path(params) if MAP in params or path(params).startswith(DISKID) else f"{path(params)}-part{number}"


def survey(host: Host, params: Mapping[str, str]) -> Scene:
    return seen(host, params, _member.survey(host, params).status)


def seen(host: Host, params: Mapping[str, str], status: Status | Unread) -> Scene:
    """With a status that was read already: several disks are looked at beside one tree."""
    candidate: Candidate | Unread
    try:
        candidate = _candidate.find(host, params["wwid"], params.get(MAP, ""))
    except Unread as unread:
        candidate = unread
    return Scene(host, params, status, candidate)


def facts(scene: Scene, found: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """`found` with what is so of the disk; of `names`, what neither has is not known."""
    more = {**of_zfs(scene.host), **found}
    return {**{name: f"{UNKNOWN}{_why_no_disk(scene)}" for name in names if name not in more}, **more, **_disk_facts(scene)}


def of_zfs(host: Host) -> dict[str, str]:
    """The versions; and the script that ZFS runs on a new disk, bound into the plan: who approves it approves the script."""
    return {"zfs.prepares": next(iter(node.prepares(host)), NONE), **_member.versions(host)}


def of_the_disk(scene: Scene) -> dict[str, str]:
    """What is so of the disk alone."""
    names = [name for name in FACTS if name.startswith("disk.")]
    return {**{name: f"{UNKNOWN}{_why_no_disk(scene)}" for name in names}, **_disk_facts(scene)}


def of_the_map(params: Mapping[str, str]) -> tuple[Question, ...]:
    """Asked where the order names a map: it must be the map that was approved."""
    return (("disk.map", (params[MAP],), f"The map of the disk is {{}} and {params[MAP]} was approved."),) if MAP in params else ()


def questions(params: Mapping[str, str]) -> tuple[Question, ...]:
    """(fact, values that pass, what to say otherwise) of the disk."""
    wwid, link = params["wwid"], path(params)
    return (
        ("disk.wwid", (wwid,), f"The disk is {{}} and {wwid} was approved."),
        *of_the_map(params),
        ("disk.state", block.RUNNING, f"The kernel calls the disk {wwid} {{}}. Choose another disk."),
        ("disk.read_only", ("no", _candidate.AT_OPENING), f"The disk {wwid} can only be read. Choose another disk."),
        *in_use(wwid, "Choose another disk, or end that.", link),
        ("disk.labels", (NONE,), f"The disk {wwid} carries a ZFS label: {{}}. Choose another disk."),
        ("disk.contents", (NONE,), ended(f"The disk {wwid} holds {{}}. Choose another disk, or end that.", link)),
        ("disk.member", (NONE,), f"The disk {wwid} is already a member: {{}}. Choose another disk."),
    )


def in_use(wwid: str, otherwise: str, link: str = "") -> tuple[Question, ...]:
    """What holds the disk or has it mounted, and how each of those is ended."""
    link = link or str(path_of(wwid))
    return (
        ("disk.holders", (NONE,), ended(f"The disk {wwid} is held by {{}}. {otherwise}", link, "held by ")),
        ("disk.mounts", (NONE,), ended(f"The disk {wwid} is in use: {{}}. {otherwise}", link)),
    )


def ended(reason: str, link: str, how: str = "") -> Callable[[str], str]:
    """`reason` with what was found, and how each of it is ended; `how` it is used goes before each. What ZFS itself wrote is not ended so."""

    def words(value: str) -> str:
        uses = [f"{how}{use}" for use in value.split(", ") if use != MEMBER]
        return f"{reason.format(value)} {ways_on(uses, link)}".rstrip()

    return words


def incoming(scene: Scene) -> dict[str, str]:
    """The disk as a plan shows it."""
    fields = ("serial", "vendor", "model", "size_bytes")
    if isinstance(scene.candidate, Unread):
        blank = dict.fromkeys((*fields, "kernel_name", "bay"), "")
        return {"wwid": scene.params["wwid"], "by_id": path(scene.params), **blank}
    disk = scene.candidate
    return {
        "wwid": disk.wwid,
        "by_id": disk.by_id,
        **{name: _candidate.same(disk, name) for name in fields},
        "kernel_name": ", ".join(path.name for path in disk.paths),
        "bay": known(lambda: _bay(scene.host, disk)),
        **({"map": disk.map.dm, "paths": states(disk.map)} if disk.map else {}),
    }


def probed(scene: Scene, argv: Sequence[str], question: Callable[[Scene], tuple[str, str]]) -> Probe:
    """Whether the command took place, as `question` concludes from the pool's tree and the disk's label; and what the pool's history has of it."""
    history, remembered = _history.of(scene.host, scene.params["pool"], argv)
    evidence = (*scene.captures(), *labels_now(scene.host, scene.params), history)
    result, reason = concluded(lambda: question(scene))
    return Probe(result, evidence, f"{reason} {remembered}")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    """What the node says of the pool and the disk right after the command."""
    return (*_tree.captures(host), *labels_now(host, params))


def labels_now(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _candidate.aftermath(host, params["wwid"], params.get(MAP, ""))


def _disk_facts(scene: Scene) -> dict[str, str]:
    if isinstance(scene.candidate, Unread) or isinstance(scene.status, Unread):
        return {}
    return {**_candidate.facts(scene.host, scene.candidate, scene.status.pools), "disk.bay": known(lambda: _bay(scene.host, scene.disk()))}


def _bay(host: Host, disk: Candidate) -> str:
    """NONE of a disk that no enclosure can report: an NVMe disk, one on an ATA port, any on a node without SES. A person has then scanned it."""
    on_no_shelf = all(path.name.startswith("nvme") or "/ata" in (path.folder or "") for path in disk.paths)
    beside = on_no_shelf or not host.list("/sys/class/enclosure/*")
    return NONE if beside and not any(path.slot_link for path in disk.paths) else _candidate.bay(host, disk)


def _why_no_disk(scene: Scene) -> str:
    return str(next(part for part in (scene.candidate, scene.status, "") if isinstance(part, (Unread, str))))
