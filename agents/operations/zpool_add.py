"""Give a pool a hot spare, a log or a cache device: `zpool add POOL spare|log|cache /dev/disk/by-id/wwn-0x…`. Never a vdev that holds data.

Left out, that one word makes the disk a top-level vdev of the data, which no release takes out of a pool with a raidz again. So it is a parameter of its
own, and `zpool add -n` is asked first: the tree that it prints is compared row by row with the tree as it is and the new disk in its section. Any
difference refuses. Never with `-f`, and without `--allow-…`.

What the kernel does, read at the tags 2.1.11, 2.2.11, 2.3.4 and 2.4.4 (spa_vdev_add in module/zfs/spa.c, spa_validate_aux there; zpool_do_add in
cmd/zpool/zpool_main.c): it compares the size of a spare with nothing, so the portal does; since 2.2.4 a log with another ashift is refused. `zpool remove`
takes each of the three out again, but not while a checkpoint stands, so none is added then.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture, ask
from agents.host.host import Host
from agents.operations import _candidate, _dry_run, _member, _new_disk, _released, _tree
from agents.operations._new_disk import Scene
from agents.operations.base import NONE, Probe, Unread, known

NAME = "zpool_add"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "role", "wwid")
TIMEOUT_SECONDS = 600.0  # labelling and partitioning a sick disk can take minutes
DRY_RUN_SECONDS = 60.0
ROLES = ("spare", "log", "cache")
FACTS = (
    *("pool.guid", "pool.state", "pool.removal", "pool.expansion", "pool.checkpoint", "pool.members", "pool.tree_after"),
    *_new_disk.FACTS,
)

aftermath = _new_disk.aftermath


def check(params: Mapping[str, str]) -> str:
    bad = _new_disk.check_whole(params, PARAMS)
    if not bad and params["role"] not in ROLES:
        return f"A disk is added as {', '.join(ROLES)}, and not as {params['role']!r}."
    return bad


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "add", params["pool"], params["role"], _new_disk.path(params))


def dry_run(params: Mapping[str, str]) -> tuple[str, ...]:
    """The same words, and no effect."""
    return ("zpool", "add", "-n", "-P", *argv(params)[2:])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_new_disk.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _new_disk.survey(host, params)
    try:
        pool = scene.pool()
        trees = (_dry_run.tree(pool), _dry_run.tree(pool, params["role"], _new_disk.path(params)))
    except Unread:
        trees = ((), ())
    return {
        "incoming": _new_disk.incoming(scene),
        "topology_before": _dry_run.shown(trees[0]),
        "topology_after": _dry_run.shown(trees[1]),
        "preconditions": _facts(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        *_member.of_the_pool(params),
        *_member.nothing_under_way(params),
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint: what is added cannot be removed while it stands. Discard it first."),
        *_new_disk.questions(params),
        ("pool.tree_after", (_dry_run.AS_MEANT,), "`zpool add -n` does not print the tree that is meant: {}. Add nothing; find out why."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _new_disk.probed(_new_disk.survey(host, params), argv(params), _concluded)


def _concluded(scene: Scene) -> tuple[str, str]:
    pool, disk, role = scene.pool(), scene.disk(), scene.params["role"]
    if _tree.pool_guid(scene.host, pool) != scene.params["pool_guid"]:
        raise Unread(f"the pool {pool.name} imported here is another one")
    found = [(top, leaf) for top in pool.tops for leaf in top.leaves() if _candidate.leads_to(scene.host, leaf.name, disk)]
    if any(top.role == role for top, _ in found):
        return "did", f"{disk.wwid} is a {role} of {pool.name} as vdev {found[0][1].guid}."
    if found:
        raise Unread(f"{disk.wwid} is in {pool.name} as vdev {found[0][1].guid}, in the section {found[0][0].role}")
    labels = _candidate.labels(scene.host, disk)
    if labels == NONE:
        return "did_not", f"{disk.wwid} is not in {pool.name}, and carries no label."
    raise Unread(f"{disk.wwid} is not in {pool.name}, and its labels are: {labels}")


def _facts(scene: Scene) -> dict[str, str]:
    found = {
        "pool.guid": known(lambda: _tree.pool_guid(scene.host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.removal": known(lambda: _member.progress(scene.pool().remove)),
        "pool.expansion": known(lambda: _member.progress(scene.pool().expand)),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "pool.members": known(lambda: ", ".join(f"{leaf.guid} {leaf.state}" for leaf in scene.pool().leaves())),
        "pool.tree_after": known(lambda: _tree_after(scene)),
    }
    return _new_disk.facts(scene, found, FACTS)


def _tree_after(scene: Scene) -> str:
    """Not asked of a disk that is not there: zpool would only say that it cannot resolve its name."""
    pool, disk = scene.pool(), scene.disk()
    capture: Capture = ask(scene.host, "zpool_add_dry_run", dry_run(scene.params), DRY_RUN_SECONDS)
    if capture.outcome != "data":
        raise Unread(f"zpool add -n refuses, or does not answer: {capture.reason} {capture.stderr.strip()}".strip())
    printed = _dry_run.parse(capture.text, pool.name)
    return _dry_run.compared(printed, _dry_run.tree(pool, scene.params["role"], disk.by_id))
