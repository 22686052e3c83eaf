"""Take a vdev that holds data, special and dedup too, out of a pool: `zpool remove POOL VDEV_GUID`. It is a disk or a mirror, and what it holds is
copied to the data vdevs, which goes on for hours.

What the kernel does, read at 0.8.6, 2.1.16 and 2.3.4 (spa_vdev_remove_top and spa_vdev_remove_top_check in module/zfs/vdev_removal.c):

    a raidz or dRAID is in the pool, or a mirror of more than leaves    -> refused
    data vdevs of different ashifts                                     -> refused
    a special or dedup vdev of another ashift than those, or its class  -> refused
    a checkpoint, another removal, data missing on the vdev             -> refused as busy
    the vdev cannot be read, or the others have no room for its data    -> refused
    the feature device_removal is not enabled                           -> refused
    else its data is copied without a look at checksums; an error of a read ends the removal. It can be called off while it runs
    (`zpool remove -s POOL`), and never taken back afterwards: its place in the pool stays, with a table of what was moved

The feature, room and ashift are asked by the kernel itself before it changes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _member, _released, _tree
from agents.operations._tree import PoolTree
from agents.operations.base import NONE, Probe, Unread, known

NAME = "zpool_remove_vdev"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "vdev_guid")
TIMEOUT_SECONDS = 300.0  # it waits for some txgs before it returns
FACTS = (
    *("pool.guid", "pool.state", "pool.checkpoint", "pool.removal", "pool.parity", "pool.others", "pool.resilver"),
    *("target.role", "target.state", "target.was", "target.name", "target.members"),
    *_released.FACTS,
)
CLASSES = ("data", "special", "dedup")
ROLES = tuple(f"{one} {kind}" for one in CLASSES for kind in ("disk", "mirror"))
YES = "yes"

check = partial(_member.check, names=PARAMS)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "remove", params["pool"], params["vdev_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _member.survey(host, params)
    topologies = _member.topologies(scene, lambda member: None if member.guid == params["vdev_guid"] else member)
    return {"outgoing": _member.outgoing(scene), **topologies, "preconditions": _facts(scene)}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool, guid = params["pool"], params["vdev_guid"]
    questions = (
        *_member.of_the_pool(params),
        *_member.no_removal(params),
        *_member.NO_RESILVER,
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint, and ZFS removes nothing while it stands. Discard it first."),
        ("pool.parity", (NONE,), f"{pool} has {{}}. ZFS takes no data vdev out of such a pool."),
        ("pool.others", (YES,), f"{pool} has no other data vdev, so nothing could hold the data of {guid}."),
        (
            "target.role",
            ROLES,
            f"{guid} is: {{}}. Only a whole vdev of data, special or dedup, a disk or a mirror of disks, is removed so.",
        ),
        ("target.members", ("ONLINE",), f"Of the disks of {guid} not all are ONLINE and filled: {{}}."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """It took place when the removal runs or the vdev is gone. One that was called off since cannot be told from one that never began."""
    scene, guid = _member.survey(host, params), params["vdev_guid"]
    try:
        pool = scene.pool()
        if _tree.pool_guid(host, pool) != params["pool_guid"]:
            raise Unread(f"the pool {pool.name} imported here is another one")
    except Unread as unread:
        return Probe("cannot_tell", scene.captures(), f"Whether it took place is not known: {unread}.")
    if not any(vdev.guid == guid for top in pool.tops for vdev in top.walk()):
        return Probe("did", scene.captures(), f"{guid} is not in {pool.name} any more.")
    if _member.progress(pool.remove) != NONE:
        return Probe("did", scene.captures(), f"{pool.name}: {pool.remove}.")
    if "canceled" in pool.remove:
        return Probe("cannot_tell", scene.captures(), f"{guid} is in {pool.name}, and a removal was called off: {pool.remove}.")
    return Probe("did_not", scene.captures(), f"{guid} is still in {pool.name}, and nothing is being removed.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _tree.captures(host)


def _facts(scene: _member.Scene) -> dict[str, str]:
    return {
        "pool.guid": known(lambda: _tree.pool_guid(scene.host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "pool.removal": known(lambda: _member.progress(scene.pool().remove)),
        "pool.parity": known(lambda: parity(scene.pool())),
        "pool.others": known(lambda: YES if _others(scene) else "no"),
        "pool.resilver": known(lambda: _member.resilver(scene)),
        "target.role": known(lambda: role(scene)),
        "target.state": known(lambda: scene.trail()[-1].state),
        "target.was": known(lambda: scene.trail()[-1].was or NONE),
        "target.name": known(lambda: scene.trail()[-1].name),
        "target.members": known(lambda: members(scene)),
        **_member.versions(scene.host),
    }


def parity(pool: PoolTree) -> str:
    """The first vdev with parity, or a mirror with more than disks in it."""
    found = (top.name for top in pool.tops if top.kind.startswith(("raidz", "draid")))
    nested = (f"{child.name} in {top.name}" for top in pool.tops if top.kind == "mirror" for child in top.children if child.children)
    return next(iter((*found, *nested)), NONE)


def _others(scene: _member.Scene) -> bool:
    target = scene.trail()[0]
    return any(top.role == "data" and top is not target and top.kind in ("disk", "mirror") for top in scene.pool().tops)


def members(scene: _member.Scene) -> str:
    leaves = scene.trail()[0].leaves()
    ill = [f"{leaf.guid} {'is being filled' if leaf.filling else leaf.state}" for leaf in leaves if leaf.filling or leaf.state != "ONLINE"]
    return ", ".join(ill) or "ONLINE"


def role(scene: _member.Scene) -> str:
    """ "data disk" or "data mirror" of what may go; else what the target is, in words. Raises Unread."""
    trail = scene.trail()
    if len(trail) > 1:
        return f"a part of {trail[-2].name}"
    return f"{trail[0].role} {trail[0].kind}"
