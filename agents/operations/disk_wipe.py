"""Wipe a disk that a replacement took out of a pool: zeros over its four labels and both copies of its partition table, and nothing else.

How it is written and read back: agents/operations/_wiping.py. There is no way back. Only a member that its pool does not list any more is
wiped, of a pool that is ONLINE here and fills no disk, so nothing needs what is on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.collectors import zdb_label
from agents.collectors.base import Unparsed
from agents.host.host import Host
from agents.operations import _member, _new_disk, _released, _resilver, _tree, _wiping
from agents.operations._new_disk import Scene
from agents.operations._tree import PoolTree, value_of
from agents.operations.base import NONE, Unread, known

NAME = "disk_wipe"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _wiping.PARAMS
TIMEOUT_SECONDS = _wiping.TIMEOUT_SECONDS
FACTS = (
    *("pool.guid", "pool.state", "pool.filling", "pool.removal", "pool.expansion", "pool.checkpoint", "pool.vdev"),
    *("disk.label_age", *_wiping.FACTS),
)
OLDER = "older"

check = partial(_new_disk.check, names=PARAMS)
argv = _wiping.argv
perform = _wiping.perform
probe = _wiping.probe
aftermath = _wiping.aftermath


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return facts(_new_disk.survey(host, params))


def facts(scene: Scene) -> dict[str, str]:
    host = scene.host
    found = {
        "pool.guid": known(lambda: _tree.pool_guid(host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.filling": known(lambda: filling(scene.pool())),
        "pool.removal": known(lambda: _member.progress(scene.pool().remove)),
        "pool.expansion": known(lambda: _member.progress(scene.pool().expand)),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "pool.vdev": known(lambda: ", ".join(m.state for m in scene.pool().find(scene.params["vdev_guid"])[-1:]) or NONE),
        "disk.label_age": known(lambda: label_age(scene)),
    }
    return _wiping.facts(scene, found, FACTS)


def label_age(scene: Scene) -> str:
    """Whether the disk's label is older than those of the vdev it was in, which ZFS writes anew when a member comes or goes (module/zfs/spa.c:
    spa_vdev_attach, spa_vdev_detach, zfs-2.4.4). Of a disk that was let go of while it served the txg is 0. Raises Unread."""
    capture = zdb_label.collect_one(scene.host, scene.disk().paths[0].name)
    found = value_of(capture, zdb_label.parse)
    labels = () if isinstance(found, Unparsed) else found.labels
    txg = labels[0].txg if len(labels) == 1 else None
    if txg is None:
        raise Unread("the disk does not carry one label with one txg")
    label, pool = labels[0], scene.pool()
    top = next((top for top in pool.tops if top.guid == str(label.top_guid)), None)
    if top is None:
        raise Unread(f"the label is of the top-level vdev {label.top_guid}, which {pool.name} does not have")
    online = [leaf for leaf in top.leaves() if leaf.state == "ONLINE"][: _tree.LABELS_TRIED_MAX]
    read = (_tree.label_on(scene.host, pool, leaf) for leaf in online)
    newest = max((one.txg for one in read if one is not None and one.txg is not None), default=None)
    if newest is None:
        raise Unread(f"no label of an ONLINE member of {top.name} could be read")
    return OLDER if txg < newest else f"of txg {txg}, and the newest of {top.name} is of {newest}"


def filling(pool: PoolTree) -> str:
    """What is under way that may still need an older copy: a disk being filled, a replacement that is not over, a resilver that names no disk."""
    members = [member.name for top in pool.tops for member in top.walk() if member.filling or member.kind in ("replacing", "spare")]
    return ", ".join([*members, *(run for run in _resilver.not_over(pool.scans) if run in _resilver.REPAIRS)]) or NONE


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _new_disk.survey(host, params)
    return _wiping.describe(scene, facts(scene))


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = _member.judge(_questions(params), pre, FACTS)
    return (*verdicts, *_wiping.layout(pre), *_released.verdicts(NAME, pre))


def _questions(params: Mapping[str, str]) -> tuple[_member.Question, ...]:
    """(fact, values that pass, what to say otherwise)."""
    pool, guid, wwid = params["pool"], params["vdev_guid"], params["wwid"]
    again = "Wait until that is over, then plan again."
    return (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.state", ("ONLINE",), f"{pool} is {{}}. While it is not whole, an old disk may be its last good copy: mend the pool first."),
        ("pool.filling", (NONE,), f"{pool} fills a disk or has one being replaced: {{}}. {again}"),
        ("pool.removal", (NONE,), f"A vdev is being removed from {pool}. {again}"),
        ("pool.expansion", (NONE,), f"{pool} is being expanded. {again}"),
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint, and going back to it may need this disk. Discard the checkpoint first."),
        ("pool.vdev", (NONE,), f"{guid} is a vdev of {pool} and is {{}}. A member is never wiped; replace it first."),
        ("disk.label_age", (OLDER,), f"The label of {wwid} is {{}}: it is not older than its pool. Find out why before anything is wiped."),
        *_wiping.questions(params),
    )
