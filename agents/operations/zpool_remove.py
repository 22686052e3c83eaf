"""Take a cache device, a log or a hot spare out of a pool: `zpool remove POOL VDEV_GUID`. Nothing that holds data is ever taken out by it.

What the kernel does, read at the tags 0.7.13, 0.8.6, 2.1.16, 2.3.4 and 2.4.4 (spa_vdev_remove, spa_vdev_remove_log and spa_vdev_remove_aux in
module/zfs/vdev_removal.c; zpool_vdev_remove in lib/libzfs/libzfs_pool.c):

    the pool has a checkpoint, or one is being discarded (0.8 and newer)    -> refused
    the guid is that of a cache device                                      -> it is taken out, whatever its state
    of a spare that does not stand in for a member                          -> it is taken out; one that does is refused as busy
    of a distributed spare of a dRAID                                       -> refused
    of a log, by itself or a mirror                                         -> what it holds is written to the data disks first, then it is taken out and
                                                                               its label wiped; refused as busy where that cannot be written, as of a
                                                                               dataset whose key is not loaded
    of one disk of a log mirror                                             -> refused, "operation not supported"
    of a vdev that holds data, special or dedup                             -> its data is copied away: that is another matter, and is refused here

It is destructive: a log's label is wiped. A spare and a cache device keep the label that they have.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _member, _released, _tree
from agents.operations._tree import Member
from agents.operations.base import NONE, Probe, Unread, known

NAME = "zpool_remove"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "vdev_guid")
TIMEOUT_SECONDS = 300.0  # what a log holds is written to the data disks first
FACTS = (
    *("pool.guid", "pool.state", "pool.checkpoint", "target.role", "target.state", "target.was", "target.name", "target.members"),
    *_released.FACTS,
)
ROLES = ("cache", "log", "spare")
DISTRIBUTED = "draid"  # how the name of a distributed spare begins
STATES = ("ONLINE", "DEGRADED", "AVAIL", "UNAVAIL", "FAULTED", "REMOVED", "OFFLINE")

check = partial(_member.check, names=PARAMS)
aftermath = _member.aftermath


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
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint, and ZFS removes nothing while it stands. Discard it first."),
        ("target.role", ROLES, f"{guid} is: {{}}. Only a whole log, a cache device, or a spare that serves nothing is removed."),
        ("target.state", STATES, f"{guid} is {{}}. Find out what that means before it is removed."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene, guid = _member.survey(host, params), params["vdev_guid"]
    try:
        pool = scene.pool()
        if _tree.pool_guid(host, pool) != params["pool_guid"]:
            raise Unread(f"the pool {pool.name} imported here is another one")
    except Unread as unread:
        return Probe("cannot_tell", scene.captures(), f"Whether it took place is not known: {unread}.")
    if any(vdev.guid == guid for top in pool.tops for vdev in top.walk()):
        return Probe("did_not", scene.captures(), f"{guid} is still in {pool.name}.")
    return Probe("did", scene.captures(), f"{guid} is not in {pool.name} any more.")


def _facts(scene: _member.Scene) -> dict[str, str]:
    return {
        "pool.guid": known(lambda: _tree.pool_guid(scene.host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "target.role": known(lambda: role(scene)),
        "target.state": known(lambda: scene.trail()[-1].state),
        "target.was": known(lambda: scene.trail()[-1].was or NONE),
        "target.name": known(lambda: scene.trail()[-1].name),
        "target.members": known(lambda: ", ".join(f"{leaf.guid} {leaf.state}" for leaf in scene.trail()[-1].leaves())),
        **_member.versions(scene.host),
    }


def role(scene: _member.Scene) -> str:
    """ "cache", "log" or "spare" of what may be removed whole; else what the target is, in words. Raises Unread."""
    trail = scene.trail()
    top = trail[0]
    if any(one.role == "spare" and one.guid == trail[-1].guid for one in scene.pool().tops) and (top.role != "spare" or _lent(top)):
        return "a spare that stands in for a member"
    if len(trail) > 1:
        return f"a part of {trail[-2].name}"
    if top.role == "spare" and top.name.startswith(DISTRIBUTED):
        return "a distributed spare"
    if top.kind not in ("disk", "mirror"):
        return f"a {top.kind} in the section {top.role}"
    return top.role


def _lent(spare: Member) -> bool:
    return spare.state == "INUSE"
