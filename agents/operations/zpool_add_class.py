"""Give a pool a special or dedup vdev: `zpool add -o ashift=N POOL special|dedup mirror /dev/disk/by-id/wwn-0x… …`, a mirror of blank disks.

Such a vdev holds what finds the data, so with its last disk the whole pool is lost, and a pool with a raidz or dRAID never lets it go again. It is made of
one disk more than the data may lose. The tree that `zpool add -n` prints is compared row by row with the tree as it is and the mirror in its section; any
difference refuses. Never with `-f`, and without `--allow-…`.

What the tool does, read at the tags 0.8.0, 2.0.2, 2.1.11, 2.2.4, 2.3.9 and 2.4.4 (check_replication and get_replication in cmd/zpool/zpool_vdev.c), with -n too:

    a mirror beside a raidz or dRAID that survives more or fewer losses   -> refused: mismatched replication level
    a mirror of another width, or a mirror beside single disks            -> refused: the same
    disks that differ in size by more than 16 MiB                         -> refused: contains devices of different sizes
    vdevs in the pool that differ in that among themselves                -> nothing is compared, so the node compares by itself

And the kernel: the feature allocation_classes must be enabled (vdev_alloc in module/zfs/vdev.c), which -n does not ask; since 2.2.4 another ashift than
that of the data is refused (spa_vdev_add in module/zfs/spa.c). Without -o the ashift would follow the new disks, so it is always given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Tuple

from agents.collectors import zpool_get
from agents.collectors.base import ask
from agents.host.host import Host
from agents.operations import _candidate, _dry_run, _history, _member, _new_disk, _new_disks, _released, _tree, base
from agents.operations._new_disks import Scene
from agents.operations._tree import Member, PoolTree, understood
from agents.operations.base import NONE, Probe, Unread, check_guid, check_names, check_pool, known

NAME = "zpool_add_class"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "role", "ashift", "wwids")  # the WWIDs separated by blanks, in the order in which they stand in the command
TIMEOUT_SECONDS = 900.0  # labelling and partitioning sick disks can take minutes
DRY_RUN_SECONDS = 60.0
ROLES = ("special", "dedup")
FEATURE = "feature@allocation_classes"
ENABLED = ("enabled", "active")
FACTS = (
    *("pool.guid", "pool.state", "pool.removal", "pool.expansion", "pool.checkpoint", "pool.members"),
    *("pool.feature", "pool.ashift", "pool.mirrors", "pool.tree_after"),
)
_ASHIFT = re.compile("9|1[0-6]")
_PARITY = re.compile(r"(?:raidz|draid)([123])?")

aftermath = _new_disks.aftermath


def check(params: Mapping[str, str]) -> str:
    named = {name: value for name, value in params.items() if name != _new_disks.MAPS}
    bad = check_names(named, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    if params["role"] not in ROLES:
        return f"A mirror is added as {' or '.join(ROLES)}, and not as {params['role']!r}."
    if _ASHIFT.fullmatch(params["ashift"]) is None:
        return f"{params['ashift']!r} is no ashift."
    return _new_disks.check(params)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "add", *_words(params))


def dry_run(params: Mapping[str, str]) -> tuple[str, ...]:
    """The same words, and no effect."""
    return ("zpool", "add", "-n", "-P", *_words(params))


def _words(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("-o", f"ashift={params['ashift']}", params["pool"], params["role"], "mirror", *paths(params))


def paths(params: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(map(_new_disk.path, _new_disks.each(params)))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_new_disks.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _new_disks.survey(host, params)
    try:
        pool = scene.pool()
        trees = (_dry_run.tree(pool), _dry_run.tree(pool, params["role"], *paths(params)))
    except Unread:
        trees = ((), ())
    return {
        **_new_disks.incoming(scene),
        "topology_before": _dry_run.shown(trees[0]),
        "topology_after": _dry_run.shown(trees[1]),
        "preconditions": _facts(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool, count = params["pool"], len(_new_disks.wwids(params))
    feature = f"zpool set {FEATURE}=enabled {pool}"
    questions = (
        *_member.of_the_pool(params),
        *_member.nothing_under_way(params),
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint: what is added cannot be removed while it stands. Discard it first."),
        (
            "pool.feature",
            ENABLED,
            f"The feature allocation_classes of {pool} is {{}}, so ZFS would refuse. `{feature}` enables it, for good: releases before 0.8 cannot import {pool} then.",
        ),
        ("pool.ashift", (params["ashift"],), f"The data of {pool} has the ashift {{}}, and the plan gives {params['ashift']}. Plan again."),
        (
            "pool.mirrors",
            (str(count),),
            f"The data of {pool} is protected as by mirrors of {{}}, and the plan makes one of {count}. Begin again with as many disks.",
        ),
        *_new_disks.questions(params),
        ("pool.tree_after", (_dry_run.AS_MEANT,), "`zpool add -n` does not print the tree that is meant: {}. Add nothing; find out why."),
    )
    return (*_member.judge(questions, pre, asked(params)), *_released.verdicts(NAME, pre))


def asked(params: Mapping[str, str]) -> tuple[str, ...]:
    """Every fact, those of each disk under its number."""
    return (*FACTS, *_new_disks.names(params))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """Whether it took place, from the pool's tree and the disks' labels; and what the pool's history has of it."""
    scene = _new_disks.survey(host, params)
    history, remembered = _history.of(host, params["pool"], argv(params))
    evidence = (*scene.captures(), *_new_disks.evidence(host, params), history)
    result, reason = base.concluded(lambda: _concluded(scene))
    return Probe(result, evidence, f"{reason} {remembered}")


def _concluded(scene: Scene) -> tuple[str, str]:
    pool, role = scene.pool(), scene.params["role"]
    if _tree.pool_guid(scene.host, pool) != scene.params["pool_guid"]:
        raise Unread(f"the pool {pool.name} imported here is another one")
    tops = [_top_of(scene, pool, wwid) for wwid in _new_disks.wwids(scene.params)]
    first = tops[0]
    together = first is not None and all(top is first for top in tops) and len(first.leaves()) == len(tops)
    if first is not None and together and (first.role, first.kind) == (role, "mirror"):
        return "did", f"The disks are the {role} vdev {first.name} of {pool.name}, with the guid {first.guid}."
    if found := [top.name for top in tops if top is not None]:
        raise Unread(f"{len(found)} of {len(tops)} disks are in {pool.name}, in {', '.join(sorted(set(found)))}")
    labels = {_candidate.labels(scene.host, one.disk()) for one in scene.each}
    if labels == {NONE}:
        return "did_not", f"{pool.name} has none of the disks, and none of them carries a label."
    raise Unread(f"none of the disks is in {pool.name}, and their labels are: {'; '.join(sorted(labels))}")


def _top_of(scene: Scene, pool: PoolTree, wwid: str) -> Member | None:
    disk = next(one.disk() for one in scene.each if one.params["wwid"] == wwid)
    return next((top for top in pool.tops for leaf in top.leaves() if _candidate.leads_to(scene.host, leaf.name, disk)), None)


def _facts(scene: Scene) -> dict[str, str]:
    return {
        "pool.guid": known(lambda: _tree.pool_guid(scene.host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.removal": known(lambda: _member.progress(scene.pool().remove)),
        "pool.expansion": known(lambda: _member.progress(scene.pool().expand)),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "pool.members": known(lambda: ", ".join(f"{leaf.guid} {leaf.state}" for leaf in scene.pool().leaves())),
        "pool.feature": known(lambda: _feature(scene)),
        "pool.ashift": known(lambda: _ashift(scene)),
        "pool.mirrors": known(lambda: str(width(scene.pool()))),
        "pool.tree_after": known(lambda: _tree_after(scene)),
        **_new_disks.facts(scene),
    }


def _feature(scene: Scene) -> str:
    capture = ask(scene.host, "zpool_get_feature", ("zpool", "get", "-H", "-p", FEATURE), zpool_get.TIMEOUT_SECONDS)
    found = [one.value for one in understood(capture, zpool_get.parse, f"the {FEATURE}") if one.pool == scene.params["pool"]]
    if len(found) != 1:
        raise Unread(f"zpool get does not print the {FEATURE} of {scene.params['pool']}")
    return found[0]


def _ashift(scene: Scene) -> str:
    """Of every data vdev, as the label of one of its members has it."""
    return ", ".join(sorted({_of_one(scene, top) for top in _data(scene.pool())}))


def _of_one(scene: Scene, top: Member) -> str:
    for leaf in top.leaves():
        label = _tree.label_on(scene.host, scene.pool(), leaf) if leaf.state == "ONLINE" else None
        if label is not None and label.tree is not None and label.tree.ashift is not None:
            return str(label.tree.ashift)
    raise Unread(f"no label of {top.name} shows its ashift")


def width(pool: PoolTree) -> int:
    """Of how many disks a mirror is made that survives as many losses as the best protected data vdev. Raises Unread."""
    return max(_widths(pool))


def _widths(pool: PoolTree) -> Tuple[int, ...]:
    tops = _data(pool)
    if not tops:
        raise Unread(f"{pool.name} shows no data vdev")
    return tuple(_width(top) for top in tops)


def _width(top: Member) -> int:
    if match := _PARITY.match(top.kind):
        return int(match.group(1) or 1) + 1
    return len(top.children) if top.kind == "mirror" else 1


def _data(pool: PoolTree) -> list[Member]:
    return [top for top in pool.tops if top.role == "data" and top.kind != "indirect"]


def _tree_after(scene: Scene) -> str:
    """Not asked of disks that are not there: zpool would only say that it cannot resolve a name."""
    pool = scene.pool()
    new = [one.disk().by_id for one in scene.each]
    capture = ask(scene.host, "zpool_add_dry_run", dry_run(scene.params), DRY_RUN_SECONDS)
    if capture.outcome != "data":
        raise Unread(f"zpool add -n refuses, or does not answer: {capture.reason} {capture.stderr.strip()}".strip())
    return _dry_run.compared(_dry_run.parse(capture.text, pool.name), _dry_run.tree(pool, scene.params["role"], *new))
