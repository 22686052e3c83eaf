"""What both operations that detach a half share: the command, the plan, where the half that stays is, and whether it took place.

What the kernel accepts, read at the tags 0.7.13, 0.8.6, 2.1.16 and 2.3.4 (spa_vdev_detach in module/zfs/spa.c, vdev_dtl_required in
module/zfs/vdev.c; the command names the disk alone, so the kernel is not asked whether it is still in the same vdev, and the node asks that itself):

    the disk is no child of a mirror, a replacing or a spare vdev     -> refused, "only applicable to mirror and replacing vdevs"
    without it a txg would be missing from its top-level vdev         -> refused, "no valid replicas"; also of a pool of one disk
    the pool has a checkpoint, or one is being discarded              -> refused; not asked in 0.7
    the disk cannot be written to                                     -> detached all the same, and its label stays; else its label is wiped
    it is the first child of a spare vdev                             -> the spare that stays is no spare any more; one of a dRAID stays one
    one child is left                                                 -> it takes the place of the vdev; as a top-level vdev it takes its guid too
    a resilver runs, or an expansion of a raidz                       -> no matter

A newest half that is lost is never taken out by the kernel itself (spa_vdev_resilver_done_hunt): that is left to a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agents.collectors.zdb_label import LabelVdev
from agents.host.host import Host
from agents.operations import _member, _tree
from agents.operations._member import Scene
from agents.operations._tree import LABELS_TRIED_MAX, Member, label_on
from agents.operations.base import UNKNOWN, Probe, Unread

PARAMS = ("pool", "pool_guid", "vdev_guid", "keeps_guid")
TIMEOUT_SECONDS = 120.0
KINDS = ("replacing", "spare")
NOTHING = "nothing"

aftermath = _member.aftermath


def check(params: Mapping[str, str]) -> str:
    bad = _member.check(params, PARAMS)
    return bad or ("The member that goes and the one that stays are the same." if params["vdev_guid"] == params["keeps_guid"] else "")


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "detach", params["pool"], params["vdev_guid"])


def describe(scene: Scene, pre: Mapping[str, str]) -> dict[str, object]:
    topologies = _member.topologies(scene, lambda member: _without(member, scene.params))
    return {"outgoing": _member.outgoing(scene), **topologies, "preconditions": dict(pre)}


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
    # A disk that becomes a top-level vdev by itself takes the guid of the vdev that held it, so its name counts too.
    if any(leaf.guid == stays or leaf.name == pre.get("keeps.name", UNKNOWN) for leaf in there):
        return Probe("did", scene.captures(), f"{goes} is gone from {pool.name}, and {stays}, which stays, is there.")
    return Probe("cannot_tell", scene.captures(), f"{goes} and {stays}, which was to stay, are both not in {pool.name} any more.")


def keeps(scene: Scene) -> Member:
    """The half that stays. Raises Unread."""
    return scene.trail("keeps_guid")[-1]


def missing(scene: Scene) -> str:
    """What the half that stays misses: "nothing", or what is older than the txg at which it was attached. By the labels of its top-level vdev, each
    of which holds the whole tree.

    ZFS writes `resilver_txg` (`rebuild_txg` of a sequential rebuild) for a disk when it is attached, and takes it out when nothing is missing
    any more (spa_vdev_attach in module/zfs/spa.c, vdev_dtl_reassess in module/zfs/vdev.c, vdev_config_generate in module/zfs/vdev_label.c).
    `zpool status` shows that only while a scan runs. Raises Unread.
    """
    half, top = keeps(scene), scene.trail("keeps_guid")[0]
    others = [leaf for leaf in top.leaves() if leaf.state == "ONLINE" and leaf.guid != half.guid]
    for leaf in (half, *others)[:LABELS_TRIED_MAX]:
        label = label_on(scene.host, scene.pool(), leaf)
        found = next((vdev for vdev in _tree_of(label.tree) if str(vdev.guid) == half.guid), None) if label and label.tree else None
        if found is not None:
            attached = found.resilver_txg if found.resilver_txg is not None else found.rebuild_txg
            return NOTHING if attached is None else f"data from before txg {attached}"
    raise Unread(f"no label of {top.name} that could be read has {half.guid}")


def _tree_of(vdev: LabelVdev) -> Iterator[LabelVdev]:
    yield vdev
    for child in vdev.children:
        yield from _tree_of(child)


def _without(member: Member, params: Mapping[str, str]) -> Member | None:
    """The last child takes the place of the vdev that held two."""
    if member.guid == params["vdev_guid"]:
        return None
    if member.kind in KINDS and [child.guid for child in member.children] == [params["keeps_guid"]]:
        return member.children[0]
    whole = member.children and all(child.state == "ONLINE" for child in member.children)
    return Member(member.guid, member.name, "ONLINE" if whole else member.state, member.was, member.children)
