"""Give one disk a mirror: `zpool attach POOL VDEV_GUID /dev/disk/by-id/wwn-0x…`. The disk is a top-level vdev by itself, or in a mirror.

It is named by its guid and is a disk, never a raidz or dRAID and nothing in one: from 2.3.0 on an attach to a raidz makes that raidz wider, which cannot be
undone. Never with `-f`.

What the kernel does, read at the tags 0.8.6, 2.1.16, 2.3.9 and 2.4.4 (spa_vdev_attach in module/zfs/spa.c): it refuses a disk under anything but a mirror or
the root, a new one that is too small or wants larger blocks, a checkpoint, a removal, and a sequential rebuild that runs. A disk by itself gets a mirror
above it and keeps its guid. The new disk is filled by a resilver, and its label says so until it is. `zpool detach` with the new guid undoes it.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.host.host import Host
from agents.operations import _candidate, _member, _new_disk, _released, _tree, zpool_replace
from agents.operations._new_disk import Scene
from agents.operations._tree import Member
from agents.operations.base import NONE, Probe, Unread, known

NAME = "zpool_attach"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = zpool_replace.PARAMS
TIMEOUT_SECONDS = zpool_replace.TIMEOUT_SECONDS
FACTS = (*zpool_replace.FACTS, "target.role", "target.kind")
PARENTS = ("none", "mirror")
ROLES = ("data", "special", "dedup", "log")

check = zpool_replace.check
aftermath = _new_disk.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "attach", params["pool"], params["vdev_guid"], _new_disk.path(params))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_new_disk.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _new_disk.survey(host, params)
    before, after = _topologies(scene)
    return {
        "outgoing": {},
        "incoming": _new_disk.incoming(scene),
        "topology_before": before,
        "topology_after": after,
        "preconditions": _facts(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    guid = params["vdev_guid"]
    serves = f"The disk {guid} is {{}}. Only from one that is ONLINE is another one filled."
    questions = (
        *zpool_replace.questions(params, ("ONLINE",), serves, PARENTS),
        *_member.no_expansion(params),
        ("target.kind", ("disk",), f"{guid} is a {{}}. Only to a disk is another one attached; a raidz would be made wider, for good."),
        ("target.role", ROLES, f"{guid} is a {{}} device, and nothing is attached to those. Add another one."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _new_disk.probed(_new_disk.survey(host, params), argv(params), _concluded)


def _facts(scene: Scene) -> dict[str, str]:
    more = {"target.role": known(lambda: scene.trail()[0].role), "target.kind": known(lambda: scene.trail()[-1].kind)}
    return {**zpool_replace.facts(scene), **more}


def _topologies(scene: Scene) -> tuple[list[str], list[str]]:
    """The disk's top-level vdev as it is, and as it will be while the new disk is filled."""
    try:
        pool, trail = scene.pool(), scene.trail()
    except Unread:
        return [], []
    new = Member("a new guid", _new_disk.data_path(scene.params), "ONLINE (resilvering)", None, ())
    top = trail[0]
    above = "a new guid" if top is trail[-1] else top.guid
    name = f"mirror-{pool.tops.index(top)}" if top is trail[-1] else top.name
    mirror = Member(above, name, top.state, None, (*(top.children or (top,)), new))
    head = f"{pool.name}  {pool.state}"
    return [head, *_member.lines(top, 1)], [head, *_member.lines(mirror, 1)]


def _concluded(scene: Scene) -> tuple[str, str]:
    pool, disk, guid = scene.pool(), scene.disk(), scene.params["vdev_guid"]
    if _tree.pool_guid(scene.host, pool) != scene.params["pool_guid"]:
        raise Unread(f"the pool {pool.name} imported here is another one")
    trail = pool.find(guid)
    new = next((leaf for leaf in pool.leaves() if _candidate.leads_to(scene.host, leaf.name, disk)), None)
    if new is not None and len(trail) > 1 and trail[-2].kind == "mirror" and new in trail[-2].leaves():
        return "did", f"{disk.wwid} is in {trail[-2].name} of {pool.name} beside {guid}, as vdev {new.guid}."
    if new is not None:
        raise Unread(f"{disk.wwid} is a member of {pool.name} as vdev {new.guid}, and not in a mirror with {guid}")
    labels = _candidate.labels(scene.host, disk)
    if trail and labels == NONE:
        return "did_not", f"{disk.wwid} is not in {pool.name}, and carries no label."
    raise Unread(f"{disk.wwid} is no member of {pool.name}, its labels are: {labels}; the vdev {guid} is {'there' if trail else 'gone'}")
