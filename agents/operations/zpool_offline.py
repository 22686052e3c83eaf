"""Take one member out of service: `zpool offline POOL VDEV_GUID`. It is known again when it comes back, and catches up.

It costs the vdev one disk of redundancy at once, so it is never done to a vdev that survives no further loss. The kernel
has the last word: "no valid replicas".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _member, _released, _tree, base
from agents.operations._tree import Member
from agents.operations.base import Probe, Unread

NAME = "zpool_offline"
EFFECT = "at_most_once"  # done again later, it would take out a member that was brought back meanwhile
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "vdev_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _member.FACTS_OF_A_CHANGE
PARENTS = ("mirror", "raidz", "raidz1", "raidz2", "raidz3", "draid", "draid1", "draid2", "draid3")

check = partial(_member.check, names=PARAMS)
aftermath = _member.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "offline", params["pool"], params["vdev_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _member.facts_of_a_change(_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _member.survey(host, params)
    return {
        "outgoing": _member.outgoing(scene),
        **_member.topologies(scene, lambda m: _off(m, params)),
        "preconditions": _member.facts_of_a_change(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    guid = params["vdev_guid"]
    questions = (
        *_member.of_the_pool(params),
        *_member.its_vdev_serves(params),
        *_member.NO_RESILVER,
        *_member.nothing_under_way(params),
        ("target.state", ("ONLINE", "DEGRADED", "FAULTED"), f"The member {guid} is {{}}, so there is nothing to take out of service."),
        ("target.parent", PARENTS, f"The member {guid} is in: {{}}. Only a disk right under a mirror or raidz is taken out."),
    )
    verdicts = _member.judge(questions, pre, FACTS)
    return (*verdicts, *_can_do_without(pre, params), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene = _member.survey(host, params)
    result, reason = base.concluded(lambda: _concluded(scene))
    return Probe(result, scene.captures(), reason)


def _can_do_without(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """A member that serves nothing any more costs nothing; any other costs one of the margin."""
    margin = pre.get("target.margin", "")
    if pre.get("target.state") == "FAULTED" or not margin.lstrip("-").isdigit():
        return ()
    if int(margin) >= 1:
        return (("pass", f"Its vdev survives {margin} more losses."),)
    return (("refuse", f"The vdev of {params['vdev_guid']} cannot do without another disk. Replace what it lacks first."),)


def _off(member: Member, params: Mapping[str, str]) -> Member:
    if member.guid == params["vdev_guid"]:
        return Member(member.guid, member.name, "OFFLINE", member.was, member.children)
    worse = any(child.state in ("OFFLINE", "DEGRADED") for child in member.children) and member.state == "ONLINE"
    return Member(member.guid, member.name, "DEGRADED" if worse else member.state, member.was, member.children)


def _concluded(scene: _member.Scene) -> tuple[str, str]:
    guid, pool = scene.params["vdev_guid"], scene.pool()
    if _tree.pool_guid(scene.host, pool) != scene.params["pool_guid"]:
        raise Unread(f"the pool {pool.name} imported here is another one")
    state = scene.trail()[-1].state
    if state == "OFFLINE":
        return "did", f"{guid} is OFFLINE in {pool.name}."
    if state in ("ONLINE", "DEGRADED", "FAULTED"):
        return "did_not", f"{guid} is {state} in {pool.name}."
    raise Unread(f"{guid} is {state}, and neither in service nor taken out of it")
