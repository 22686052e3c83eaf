"""Call a replacement off while the new disk is being filled: `zpool detach POOL GUID_OF_THE_NEW_HALF`.

Only inside a `replacing` of exactly two, only the newer of them, and only while the older one serves and is not being filled itself: then the new
half holds nothing that the old one does not hold. What is lost is the time of the resilver. `zpool_detach` never does this, as it asks for a
clean scan and a sibling that is whole; ZFS refuses both with "no valid replicas" where it would lose data.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _member, _released, _tree
from agents.operations._candidate import NONE, known
from agents.operations._tree import Member, Unread
from agents.operations.base import UNKNOWN, Probe

NAME = "zpool_detach_new_half"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "vdev_guid", "keeps_guid")
TIMEOUT_SECONDS = 120.0
FACTS = (*_member.FACTS, "target.vdev", "keeps.state", "keeps.name", "keeps.place", "keeps.filling")
NEWER, BESIDE = "replacing, newer child", "the older of the two"


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
    pool, goes, stays = params["pool"], params["vdev_guid"], params["keeps_guid"]
    questions = (
        *_member.of_the_pool(params),
        *_member.its_vdev_serves(params),
        ("pool.removal", (NONE,), f"A vdev is being removed from {pool}. Wait until it ends."),
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint, and ZFS detaches nothing while it stands. Discard it first."),
        ("target.parent", (NEWER,), f"{goes} is in: {{}}. Only the new half of a replacement is taken out again."),
        (
            "keeps.state",
            _member.SERVING,
            f"The old disk {stays} is {{}}. Without it the new half may hold the only copy, so nothing is taken out.",
        ),
        ("keeps.place", (BESIDE,), f"The member that would stay, {stays}, is {{}}."),
        ("keeps.filling", ("no",), f"The old disk {stays} is being filled itself. Wait until that ends."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene, goes, stays = _member.survey(host, params), params["vdev_guid"], params["keeps_guid"]
    try:
        pool = scene.pool()
        if _tree.pool_guid(host, pool) != params["pool_guid"]:
            raise Unread(f"the pool {pool.name} imported here is another one")
        there = [leaf for top in pool.tops if top.state not in _tree.SPARE_STATES for leaf in top.leaves()]
    except Unread as unread:
        return Probe("cannot_tell", scene.captures(), f"Whether it took place is not known: {unread}.")
    if any(leaf.guid == goes for leaf in there):
        return Probe("did_not", scene.captures(), f"{goes} is still in {pool.name}.")
    # A disk that is a top-level vdev by itself takes the guid of the replacing vdev that held it, so its name counts too.
    if any(leaf.guid == stays or leaf.name == pre.get("keeps.name", UNKNOWN) for leaf in there):
        return Probe("did", scene.captures(), f"{goes} is gone from {pool.name}, and the old disk {stays} is there.")
    return Probe("cannot_tell", scene.captures(), f"{goes} and {stays}, which was to stay, are both not in {pool.name} any more.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _tree.captures(host)


def _facts(scene: _member.Scene) -> dict[str, str]:
    return {
        **_member.facts(scene),
        "target.vdev": known(lambda: _member.vdev(scene.trail())),
        "keeps.state": known(lambda: scene.trail("keeps_guid")[-1].state),
        "keeps.name": known(lambda: scene.trail("keeps_guid")[-1].name),
        "keeps.place": known(lambda: _place(scene)),
        "keeps.filling": known(lambda: "yes" if scene.trail("keeps_guid")[-1].filling else "no"),
    }


def _place(scene: _member.Scene) -> str:
    goes, stays = scene.trail(), scene.trail("keeps_guid")
    two = len(goes) > 1 and [child.guid for child in goes[-2].children] == [stays[-1].guid, goes[-1].guid]
    return BESIDE if two else "not the older of two in one vdev"


def _without(member: Member, params: Mapping[str, str]) -> Member | None:
    """The old disk takes the place of the vdev that held both."""
    if member.guid == params["vdev_guid"]:
        return None
    if member.kind == "replacing" and [child.guid for child in member.children] == [params["keeps_guid"]]:
        return member.children[0]
    return member
