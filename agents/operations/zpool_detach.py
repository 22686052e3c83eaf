"""End a `replacing` or `spare` vdev by hand: `zpool detach POOL VDEV_GUID`. The label of the disk that goes is wiped.

Only inside a `replacing` or `spare`, never in a mirror, and only when the sibling that stays is named, ONLINE and filled. The
member is named by its guid, so that the new half is not taken for the old one.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _member, _released, _tree
from agents.operations._candidate import NONE, known
from agents.operations._tree import Member, Unread
from agents.operations.base import Probe

NAME = "zpool_detach"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "vdev_guid", "keeps_guid")
TIMEOUT_SECONDS = 120.0
FACTS = (*_member.FACTS_OF_A_CHANGE, "pool.scan", "keeps.state", "keeps.place")
PARENTS = tuple(f"{kind}, {place} child" for kind in ("replacing", "spare") for place in ("oldest", "newer"))
CLEAN = ("finished with 0 errors", NONE)


def check(params: Mapping[str, str]) -> str:
    bad = _member.check(params, PARAMS)
    return bad or ("The member that goes and the one that stays are the same." if params["vdev_guid"] == params["keeps_guid"] else "")


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "detach", params["pool"], params["vdev_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _member.survey(host, params)
    return {"outgoing": _member.outgoing(scene), **_member.topologies(scene, lambda m: _without(m, params)), "preconditions": _facts(scene)}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    goes, stays = params["vdev_guid"], params["keeps_guid"]
    questions = (
        *_member.of_the_pool(params),
        *_member.its_vdev_serves(params),
        *_member.nothing_under_way(params),
        ("pool.checkpoint", (NONE,), f"{params['pool']} has a checkpoint, and ZFS detaches nothing while it stands. Discard it first."),
        (
            "pool.scan",
            CLEAN,
            f"The last scan of {params['pool']} is: {{}}. Only after a clean one is the member that stays known to be whole.",
        ),
        ("target.parent", PARENTS, f"{goes} is in: {{}}. Only what is inside a replacing or spare vdev is detached."),
        ("keeps.state", ("ONLINE",), f"The member that would stay, {stays}, is {{}}. Detach nothing now."),
        ("keeps.place", ("beside it",), f"The member that would stay, {stays}, is {{}}."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene, goes = _member.survey(host, params), params["vdev_guid"]
    try:
        pool = scene.pool()
        if _tree.pool_guid(host, pool) != params["pool_guid"]:
            raise Unread(f"the pool {pool.name} imported here is another one")
        tops = [top for top in pool.tops if top.state not in _tree.SPARE_STATES]
        there = [leaf.guid for top in tops for leaf in top.leaves()]
    except Unread as unread:
        return Probe("cannot_tell", scene.captures(), f"Whether it took place is not known: {unread}.")
    if params["keeps_guid"] not in there:
        return Probe("cannot_tell", scene.captures(), f"{params['keeps_guid']}, which was to stay, is not in {pool.name} any more.")
    result = "did_not" if goes in there else "did"
    return Probe(result, scene.captures(), f"{goes} is {'still in' if goes in there else 'gone from'} {pool.name}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _tree.captures(host)


def _facts(scene: _member.Scene) -> dict[str, str]:
    return {
        **_member.facts_of_a_change(scene),
        "pool.scan": known(lambda: _scan(scene)),
        "keeps.state": known(lambda: scene.trail("keeps_guid")[-1].state),
        "keeps.place": known(lambda: _place(scene)),
    }


def _scan(scene: _member.Scene) -> str:
    scans = [scan for scan in scene.pool().scans if scan.state != "none"]
    states = {f"{scan.state} with {scan.errors} errors" if scan.state == "finished" else scan.state for scan in scans}
    return ", ".join(sorted(states)) or NONE


def _place(scene: _member.Scene) -> str:
    goes, stays = scene.trail(), scene.trail("keeps_guid")
    return "beside it" if len(goes) > 1 and len(stays) > 1 and goes[-2] is stays[-2] else "in another vdev"


def _without(member: Member, params: Mapping[str, str]) -> Member | None:
    """The last child takes the place of the vdev that held two."""
    if member.guid == params["vdev_guid"]:
        return None
    if member.kind in ("replacing", "spare") and [child.guid for child in member.children] == [params["keeps_guid"]]:
        return member.children[0]
    whole = member.children and all(child.state == "ONLINE" for child in member.children)
    return Member(member.guid, member.name, "ONLINE" if whole else member.state, member.was, member.children)
