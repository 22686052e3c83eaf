"""Make the new disk of a boot pool bootable: `proxmox-boot-tool format NEW-partN`, then `proxmox-boot-tool init NEW-partN [grub]`.

The tool formats the EFI partition, fills it with kernels and adds it to the list of those that it keeps filled; it refuses one that holds a file system,
as no `--force` is given. Only where the partition of the serving disk with the same number is on that list, and the tables are equal. With
`grub` where `proxmox-boot-tool status` shows grub for the serving disk; a node that was not booted by UEFI has no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agents.collectors import boot_tool
from agents.collectors.base import Unparsed, ask
from agents.domain.wwid import by_id_path
from agents.host.host import Host, Ran
from agents.operations import _boot_member, _candidate, _member, _new_disk, _partitions, _released, _tree
from agents.operations._boot_member import Scene
from agents.operations._tree import value_of
from agents.operations.base import NONE, Probe, Unread, check_wwid, known

NAME = "proxmox_boot_init"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "wwid", "from_wwid", "esp", "mode")
MODES = ("uefi", "grub")
TIMEOUT_SECONDS = 600.0  # it copies kernels and initrds
LISTED = "listed"
ESP_BYTES_MIN = 256 << 20  # _get_partition_info of proxmox-boot-tool refuses less
FACTS = (
    *("pool.guid", "disk.wwid", "disk.serial", "disk.member", "disk.mounts", "disk.table"),
    *("source.wwid", "source.serial", "source.esp", "esp.kind", "esp.room", "esp.contents", "boot.mode", *_released.FACTS),
)
_FS_UUID = re.compile(r'\bUUID="([^"]*)"')

aftermath = _new_disk.aftermath


def check(params: Mapping[str, str]) -> str:
    bad = _new_disk.check(params, PARAMS) or check_wwid(params["from_wwid"]) or _boot_member.check_partition(params["esp"])
    if bad:
        return bad
    if params["mode"] not in MODES:
        return f"The mode is {params['mode']!r}; it must be one of {', '.join(MODES)}."
    return f"{params['wwid']} is named as the new disk and as the one beside it." if params["wwid"] == params["from_wwid"] else ""


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """To be read and compared: `perform` runs both commands. No tool is called so, so a paste of it does nothing."""
    return ("bootpartition", f"{by_id_path(params['wwid'])}-part{params['esp']}", params["mode"])


def commands(params: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    partition = f"{by_id_path(params['wwid'])}-part{params['esp']}"
    grub = ("grub",) if params["mode"] == "grub" else ()
    return (("proxmox-boot-tool", "format", partition), ("proxmox-boot-tool", "init", partition, *grub))


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    """Both commands, each once, and whether the partition is on the tool's list then. The first that fails ends it."""
    begun, output = host.now(), b""
    for command in commands(params):
        ran = host.run(command, TIMEOUT_SECONDS / 2)
        output += ran.stdout
        if ran.exit_code != 0:
            return Ran(argv(params), ran.exit_code, output, ran.stderr, host.now() - begun, ran.why)
    try:
        result = _esp(host, str(by_id_path(params["wwid"])), params["esp"])
    except Unread as unread:
        result = str(unread)
    why = b"" if result == LISTED else f"afterwards the EFI partition is: {result}\n".encode()
    return Ran(argv(params), 0 if result == LISTED else 1, output, why, host.now() - begun)


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _survey(host, params)
    facts = _facts(scene)
    return {
        "outgoing": {},
        "incoming": _new_disk.incoming(scene),
        "commands": dict(zip(("command 1", "command 2"), (" ".join(command) for command in commands(params)))),
        "topology_before": [],
        "topology_after": [],
        "preconditions": facts,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool, wwid, source, esp = params["pool"], params["wwid"], params["from_wwid"], params["esp"]
    other = "What boots this node is something else: see `efibootmgr -v` and `ls /etc/kernel`, and install that boot loader by hand."
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("disk.wwid", (wwid,), f"The disk is {{}} and {wwid} was approved."),
        ("disk.mounts", (NONE,), f"Something of {wwid} is in use: {{}}. End that first."),
        ("disk.table", (_partitions.SAME,), f"The partition table of {wwid} is {{}}. Copy the partition table first."),
        ("source.wwid", (source,), f"The disk beside it is {{}} and {source} was approved."),
        ("source.esp", (LISTED,), f"Partition {esp} of {source} is {{}}, so proxmox-boot-tool does not boot from it. {other}"),
        (
            "esp.kind",
            (_partitions.ESP,),
            f"Partition {esp} of {wwid} has the type {{}}, which is no EFI partition. Choose its number again.",
        ),
        ("esp.room", (_partitions.YES,), f"Partition {esp} of {wwid} has {{}}, and proxmox-boot-tool takes none below 256 MiB."),
        ("esp.contents", (NONE,), f"Partition {esp} of {wwid} holds {{}}. See `proxmox-boot-tool status`; it may be done already."),
        ("boot.mode", _modes(params["mode"]), "The node was booted by {}, and without UEFI the mode is grub. Choose grub."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def _modes(mode: str) -> tuple[str, ...]:
    return ("uefi", "bios") if mode == "grub" else ("uefi",)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene = _survey(host, params)
    evidence = (*scene.captures(), *boot_tool.collect(host))
    try:
        found = _esp(host, scene.disk().by_id, params["esp"])
        if found == LISTED:
            return Probe("did", evidence, f"Partition {params['esp']} of {params['wwid']} is on the list of proxmox-boot-tool.")
        if found == NONE:
            return Probe("did_not", evidence, f"Partition {params['esp']} of {params['wwid']} holds no file system, as before.")
        return Probe("cannot_tell", evidence, f"Partition {params['esp']} of {params['wwid']} is {found}. See `proxmox-boot-tool status`.")
    except Unread as unread:
        return Probe("cannot_tell", evidence, f"Whether it took place is not known: {unread}.")


def _survey(host: Host, params: Mapping[str, str]) -> Scene:
    return _boot_member.survey(host, params)


def _facts(scene: Scene) -> dict[str, str]:
    host, esp = scene.host, scene.params["esp"]
    return {
        "pool.guid": known(lambda: _tree.pool_guid(host, scene.pool())),
        "disk.wwid": known(lambda: scene.disk().wwid),
        "disk.serial": known(lambda: _candidate.same(scene.disk(), "serial")),
        "disk.member": known(lambda: _candidate.membership(host, scene.disk(), (scene.pool(),))),
        "disk.mounts": known(lambda: _candidate.used(host, scene.disk())),
        "disk.table": known(lambda: _partitions.compared(host, scene.source(), scene.disk())),
        "source.wwid": known(lambda: scene.source().wwid),
        "source.serial": known(lambda: _candidate.same(scene.source(), "serial")),
        "source.esp": known(lambda: _esp(host, scene.source().by_id, esp)),
        "esp.kind": known(lambda: _row(scene).kind),
        "esp.room": known(lambda: _room(scene)),
        "esp.contents": known(lambda: _partitions.contents(host, f"{scene.disk().by_id}-part{esp}")),
        "boot.mode": known(lambda: "uefi" if _list(host).efi else "bios"),
        **_member.versions(host),
    }


def _row(scene: Scene) -> _partitions.Row:
    row = _partitions.needed(scene.host, scene.disk().by_id).row(int(scene.params["esp"]))
    if row is None:
        raise Unread(f"{scene.disk().wwid} has no partition {scene.params['esp']}")
    return row


def _room(scene: Scene) -> str:
    sector = _candidate.same(scene.disk(), "logical_block_bytes")
    if not sector.isdigit():
        raise Unread(f"the sectors of {scene.disk().wwid} are {sector}")
    size_bytes = _row(scene).sectors * int(sector)
    return _partitions.YES if size_bytes >= ESP_BYTES_MIN else f"{size_bytes} bytes"


def _list(host: Host) -> boot_tool.BootTool:
    capture = boot_tool.collect(host)[0]
    if capture.outcome == "nothing":
        raise Unread(
            "proxmox-boot-tool keeps no list here, so it is not what boots this node: see `efibootmgr -v`, and install the boot loader by hand"
        )
    parsed = value_of(capture, boot_tool.parse)
    if isinstance(parsed, Unparsed):
        raise Unread(f"{boot_tool.UUIDS} is not understood: {parsed.reason}: {parsed.line!r}")
    found: boot_tool.BootTool = parsed
    return found


def _esp(host: Host, by_id: str, number: str) -> str:
    """LISTED, "none" of one that holds nothing, else what it holds. Raises Unread."""
    device, listed = f"{by_id}-part{number}", _list(host).listed
    capture = ask(host, "blkid", ("blkid", "-p", device), _candidate.BLKID_TIMEOUT_SECONDS, data_exits=(0, 2))
    if capture.outcome != "data":
        raise Unread(capture.reason)
    contents = _candidate.contents_in(capture.text)
    uuid = _FS_UUID.search(capture.text)
    if contents == "vfat" and uuid is not None and uuid.group(1) in listed:
        return LISTED
    return contents if contents == NONE else f"{contents}, and not on the list of proxmox-boot-tool"
