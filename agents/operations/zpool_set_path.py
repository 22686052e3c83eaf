"""Set the name under which ZFS finds a lost member now: `zpool set path=/dev/disk/by-id/wwn-0x…-part1 POOL VDEV_GUID`.

The kernel opens a member by its stored path and looks nowhere else, so a member that is back under another name stays lost. Setting
the path opens nothing: `zpool online` does that afterwards, and finds only a disk that carries the very label. It is set only to the
disk that carries it now; behind a multipath map to the map, which is the parameter `map`. Which releases have such a property, the table says.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import block, zdb_label
from agents.collectors.base import Unparsed, ask
from agents.host.host import Host
from agents.operations import _candidate, _member, _new_disk, _released, _tree
from agents.operations._candidate import Candidate
from agents.operations._member import Scene
from agents.operations._tree import Member, value_of
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, known

NAME = "zpool_set_path"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "vdev_guid", "wwid")
TIMEOUT_SECONDS = 120.0
AWAY = ("UNAVAIL", "FAULTED", "REMOVED", "OFFLINE")
FACTS = (*_member.FACTS, "disk.wwid", "disk.state", "disk.holders", "disk.mounts", "disk.label")

aftermath = _member.aftermath


def check(params: Mapping[str, str]) -> str:
    return _new_disk.check_whole(params, PARAMS)


def path(params: Mapping[str, str]) -> str:
    return _new_disk.data_path(params)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "set", f"path={path(params)}", params["pool"], params["vdev_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _member.survey(host, params)
    return {
        "outgoing": _member.outgoing(scene),
        **_member.topologies(scene, lambda member: _renamed(member, params)),
        "preconditions": _facts(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    guid, wwid = params["vdev_guid"], params["wwid"]
    label = f"vdev {guid} of {params['pool']} ({params['pool_guid']})"
    questions = (
        *_member.of_the_pool(params),
        ("target.state", AWAY, f"The member {guid} is {{}}, so it needs no other path."),
        ("disk.wwid", (wwid,), f"The disk is {{}} and {wwid} was meant."),
        *_new_disk.of_the_map(params),
        ("disk.state", block.RUNNING, f"The kernel calls the disk {wwid} {{}}. Check its bay and its cable."),
        ("disk.holders", (NONE,), f"The disk {wwid} is held by {{}}. Find out why before it serves again."),
        ("disk.mounts", (NONE,), f"The disk {wwid} is in use: {{}}. Find out why before it serves again."),
        ("disk.label", (label,), f"The disk {wwid} carries {{}}, not the label of {guid}. No path is set to it."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene, guid = _member.survey(host, params), params["vdev_guid"]
    try:
        if _tree.pool_guid(host, scene.pool()) != params["pool_guid"]:
            raise Unread(f"the pool {params['pool']} imported here is another one")
        member = scene.trail()[-1]
    except Unread as unread:
        return Probe("cannot_tell", scene.captures(), f"Whether it took place is not known: {unread}.")
    now = member.was or member.name
    result = "did" if now == path(params) else "did_not"
    return Probe(result, scene.captures(), f"{params['pool']} remembers {guid} under {now}.")


def _facts(scene: Scene) -> dict[str, str]:
    return {**_member.facts(scene), **_disk_facts(scene.host, scene.params)}


def _disk_facts(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    try:
        disk = _candidate.find(host, params["wwid"], params.get(_new_disk.MAP, ""))
    except Unread as unread:
        return {name: f"{UNKNOWN}{unread}" for name in FACTS if name.startswith("disk.")}
    return {
        "disk.wwid": disk.wwid,
        **({"disk.map": disk.map.uuid} if disk.map else {}),
        "disk.state": _candidate.state(disk),
        "disk.holders": known(lambda: _candidate.holders(host, disk)),
        "disk.mounts": known(lambda: _candidate.used(host, disk)),
        "disk.label": known(lambda: _label(host, disk)),
    }


def _label(host: Host, disk: Candidate) -> str:
    """Whose label partition 1 carries, over all paths alike, or the map: that is what the new path will lead to."""
    parts = [part.name for each in disk.paths for part in each.partitions if part.number == 1]
    names = [disk.map.dm] if disk.map else parts
    if disk.map is None and len(names) != len(disk.paths):
        raise Unread(f"{disk.wwid} has no partition 1, where the label of a member is")
    labels = {_label_on(host, name) for name in names}
    if len(labels) != 1:
        raise Unread(f"the paths to {disk.wwid} show different labels")
    return labels.pop()


def _label_on(host: Host, name: str) -> str:
    capture = ask(host, zdb_label.NAME, ("zdb", "-l", f"/dev/{name}"), zdb_label.TIMEOUT_SECONDS, data_exits=zdb_label.EXITS)
    parsed = value_of(capture, zdb_label.parse)
    if isinstance(parsed, Unparsed):
        raise Unread(f"zdb -l /dev/{name}: {parsed.reason}")
    if parsed.unread:
        raise Unread(f"{len(parsed.unread)} of the four labels of {name} could not be read")
    if len(parsed.labels) > 1:
        raise Unread(f"{name} carries {len(parsed.labels)} different labels")
    return next((f"vdev {label.guid} of {label.name} ({label.pool_guid})" for label in parsed.labels), NONE)


def _renamed(member: Member, params: Mapping[str, str]) -> Member:
    if member.guid != params["vdev_guid"]:
        return member
    return Member(member.guid, member.name if member.was else path(params), member.state, path(params) if member.was else None, ())
