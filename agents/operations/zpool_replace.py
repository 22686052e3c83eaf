"""Replace an absent pool member by a blank disk: `zpool replace POOL VDEV_GUID /dev/disk/by-id/wwn-0x…`.

The old member is named by its guid and the new disk by its WWID; neither can slide onto another disk when names move.
Never with `-f`: what `zpool` itself refuses stays refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _candidate, _member, _new_disk, _released, _tree
from agents.operations._new_disk import Scene
from agents.operations._tree import Member
from agents.operations.base import NONE, Probe, Unread, known

NAME = "zpool_replace"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "vdev_guid", "wwid")
TIMEOUT_SECONDS = 600.0  # labelling and partitioning a sick disk can take minutes; the resilver itself is not waited for
ABSENT_STATES = ("UNAVAIL", "FAULTED", "REMOVED", "OFFLINE")

check = partial(_new_disk.check_whole, names=PARAMS)
aftermath = _new_disk.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "replace", params["pool"], params["vdev_guid"], _new_disk.path(params))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    """Facts that must be exactly equal when the order runs; a value is "unknown: why" when it cannot be read."""
    return facts(_new_disk.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    """The plan's parts, all of one reading: outgoing, incoming, topology_before, topology_after, preconditions."""
    scene = _new_disk.survey(host, params)
    before, after = topologies(scene)
    return {
        "outgoing": _member.outgoing(scene),
        "incoming": _new_disk.incoming(scene),
        "topology_before": before,
        "topology_after": after,
        "preconditions": facts(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What the node itself asks of those facts: (outcome, reason) each. A fact that is missing refuses like any other."""
    absent = f"The member {params['vdev_guid']} is {{}}; only an absent member is replaced."
    return (*_member.judge(questions(params, ABSENT_STATES, absent, PARENTS), pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _new_disk.probed(_new_disk.survey(host, params), argv(params), concluded)


FACTS = (
    *("pool.guid", "pool.state", "pool.resilver", "pool.removal", "pool.expansion", "pool.checkpoint"),
    *("target.state", "target.was", "target.top", "target.parent", "target.vdev", "target.members"),
    *_new_disk.FACTS,
)
PARENTS = ("none", "mirror", "raidz", "raidz1", "raidz2", "raidz3", "draid", "draid1", "draid2", "draid3", "spare, oldest child")


def questions(
    params: Mapping[str, str], states: tuple[str, ...], otherwise: str, parents: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """(fact, values that pass, what to say otherwise). `states` and `parents` are those in which the member may be replaced."""
    pool = params["pool"]
    return (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.state", ("ONLINE", "DEGRADED"), f"{pool} is {{}}."),
        *_member.NO_RESILVER,
        ("pool.removal", (NONE,), f"A vdev is being removed from {pool}. Wait until it ends."),
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint. Discard it first, or restore it."),
        ("target.state", states, otherwise),
        *_member.its_vdev_serves(params),
        ("target.parent", parents, f"The member {params['vdev_guid']} is in a {{}}. Let that finish first."),
        *_new_disk.questions(params),
    )


def facts(scene: Scene) -> dict[str, str]:
    found = {
        "pool.guid": known(lambda: _tree.pool_guid(scene.host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.resilver": known(lambda: _member.resilver(scene)),
        "pool.removal": known(lambda: _member.progress(scene.pool().remove)),
        "pool.expansion": known(lambda: _member.progress(scene.pool().expand)),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "target.state": known(lambda: scene.trail()[-1].state),
        "target.was": known(lambda: scene.trail()[-1].was or NONE),
        "target.top": known(lambda: f"{scene.trail()[0].name} ({scene.trail()[0].guid})"),
        "target.parent": known(lambda: _member.parent(scene.trail())),
        "target.vdev": known(lambda: _member.vdev(scene.trail())),
        "target.members": known(lambda: ", ".join(f"{leaf.guid} {leaf.state}" for leaf in scene.trail()[0].leaves())),
    }
    return _new_disk.facts(scene, found, FACTS)


def topologies(scene: Scene, number: str = "1") -> tuple[list[str], list[str]]:
    """The target's top-level vdev as it is, and as it will be while it resilvers."""
    try:
        pool, trail = scene.pool(), scene.trail()
    except Unread:
        return [], []
    target = trail[-1]
    index = trail[-2].children.index(target) if len(trail) > 1 else pool.tops.index(target)
    new = Member("a new guid", _new_disk.data_path(scene.params, number), "ONLINE (resilvering)", None, ())
    state = "DEGRADED" if target.state in ABSENT_STATES else target.state
    replacing = Member("a new guid", f"replacing-{index}", state, None, (target, new))
    head = [f"{pool.name}  {pool.state}"]
    return [*head, *_member.lines(trail[0], 1)], [*head, *_member.lines(_swapped(trail[0], target, replacing), 1)]


def _swapped(member: Member, old: Member, new: Member) -> Member:
    if member is old:
        return new
    children = tuple(_swapped(child, old, new) for child in member.children)
    return Member(member.guid, member.name, member.state, member.was, children)


def concluded(scene: Scene) -> tuple[str, str]:
    pool, disk, guid = scene.pool(), scene.disk(), scene.params["vdev_guid"]
    if _tree.pool_guid(scene.host, pool) != scene.params["pool_guid"]:
        raise Unread(f"the pool {pool.name} imported here is another one")
    trail = pool.find(guid)
    new = next((leaf for leaf in pool.leaves() if _candidate.leads_to(scene.host, leaf.name, disk)), None)
    if new is not None and not trail:
        return "did", f"{disk.wwid} is a member of {pool.name} as vdev {new.guid}, and {guid} is gone."
    if new is not None and len(trail) > 1 and trail[-2].kind == "replacing" and new in trail[-2].children:
        return "did", f"{disk.wwid} is replacing {guid} in {pool.name} ({trail[-2].name}) as vdev {new.guid}."
    if new is not None:
        raise Unread(f"{disk.wwid} is a member of {pool.name} as vdev {new.guid}, and not in the place of {guid}")
    labels = _candidate.labels(scene.host, disk)
    if trail and labels == NONE:
        return "did_not", f"{guid} is {trail[-1].state} in {pool.name} as before, and {disk.wwid} carries no label."
    raise Unread(f"{disk.wwid} is no member of {pool.name}, its labels are: {labels}; the vdev {guid} is {'there' if trail else 'gone'}")
