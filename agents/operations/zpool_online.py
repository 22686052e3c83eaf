"""Bring one member back into service: `zpool online POOL VDEV_GUID`. Never with `-e`, which would grow the vdev for good.

It may be run any number of times: a member that serves already stays as it is. `zpool` exits 0 also where the disk is not
there; only the pool's tree says what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _member, _released, _tree
from agents.operations._tree import Member
from agents.operations.base import Probe, Unread

NAME = "zpool_online"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "vdev_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _member.FACTS

check = partial(_member.check, names=PARAMS)
aftermath = _member.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "online", params["pool"], params["vdev_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _member.facts(_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _member.survey(host, params)
    return {
        "outgoing": _member.outgoing(scene),
        **_member.topologies(scene, lambda m: _on(m, params)),
        "preconditions": _member.facts(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    states = ("ONLINE", "DEGRADED", "OFFLINE", "REMOVED", "UNAVAIL", "FAULTED")
    questions = (*_member.of_the_pool(params), ("target.state", states, f"The member {params['vdev_guid']} is {{}}."))
    return (*_member.judge(questions, pre, _member.FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene, guid = _member.survey(host, params), params["vdev_guid"]
    try:
        if _tree.pool_guid(host, scene.pool()) != params["pool_guid"]:
            raise Unread(f"the pool {params['pool']} imported here is another one")
        state = scene.trail()[-1].state
    except Unread as unread:
        return Probe("cannot_tell", scene.captures(), f"Whether it took place is not known: {unread}.")
    result = "did" if state in _member.SERVING else "did_not"
    return Probe(result, scene.captures(), f"{guid} is {state} in {params['pool']}.")


def _on(member: Member, params: Mapping[str, str]) -> Member:
    if member.guid == params["vdev_guid"]:
        return Member(member.guid, member.name, "ONLINE", None, member.children)
    better = member.children and all(child.state == "ONLINE" for child in member.children)
    return Member(member.guid, member.name, "ONLINE" if better else member.state, member.was, member.children)
