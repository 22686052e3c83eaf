"""Wipe a member of a pool that was destroyed: zeros over its four labels and both copies of its partition table, and nothing else.

How it is written and read back: agents/operations/_wiping.py. There is no way back: `zpool import -D`, which brings a destroyed pool back
from its labels, does not find this disk again.

`zpool destroy` writes POOL_STATE_DESTROYED into the labels of all disks that it can write to (module/zfs/spa.c:spa_export_common), and
`zpool import` without -D passes over what says so (cmd/zpool/zpool_main.c:import_pools). Both read at 2.1.16 and 2.4.4. So a pool
that was brought back shows in one of three places, and each refuses: it is imported, it is listed, or the label of another disk says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.collectors import zdb_label
from agents.collectors.base import Unparsed
from agents.host.host import Host, Ran
from agents.operations import _candidate, _importing, _member, _new_disk, _released, _wiping
from agents.operations._new_disk import Scene
from agents.operations._tree import value_of
from agents.operations.base import NONE, Unread, known

NAME = "disk_wipe_destroyed"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _wiping.PARAMS
TIMEOUT_SECONDS = _wiping.TIMEOUT_SECONDS
FACTS = ("pool.here", "pool.listed", "pool.labels", "disk.label_state", *_wiping.FACTS)

check = partial(_new_disk.check, names=PARAMS)
argv = _wiping.argv
probe = _wiping.probe
aftermath = _wiping.aftermath


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return facts(_new_disk.survey(host, params))


def facts(scene: Scene) -> dict[str, str]:
    host, params = scene.host, scene.params
    found = {
        "pool.here": known(lambda: _importing.imported(host, params)),
        "pool.listed": known(lambda: str(len(_importing.listings(host, params)))),
        "pool.labels": known(lambda: otherwise(host, params["pool_guid"])),
        "disk.label_state": known(lambda: label_states(scene)),
    }
    return _wiping.facts(scene, found, FACTS)


def label_states(scene: Scene) -> str:
    """What the labels on the disk say of their pool. Raises Unread."""
    return ", ".join(sorted({str(label.state) for label in _candidate.read_labels(scene.host, scene.disk())})) or NONE


def otherwise(host: Host, pool_guid: str) -> str:
    """Disks here with a label of the pool that does not say it was destroyed, or "none". Raises Unread where a label of any disk cannot be read:
    it may be of this pool, brought back without the disk that is to be wiped."""
    found = []
    for capture in zdb_label.collect(host):
        parsed = value_of(capture, zdb_label.parse)
        if isinstance(parsed, Unparsed) or parsed.unread:
            why = parsed.reason if isinstance(parsed, Unparsed) else f"{len(parsed.unread)} of its four copies could not be read."
            raise Unread(f"the label of {capture.key} is not known, and may be of this pool: {why} Mend that disk, or take it out first")
        found += [capture.key for label in parsed.labels if str(label.pool_guid) == pool_guid and label.state != zdb_label.DESTROYED]
    return ", ".join(sorted(set(found))) or NONE


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _new_disk.survey(host, params)
    return _wiping.describe(scene, facts(scene))


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = _member.judge(_questions(params), pre, FACTS)
    return (*verdicts, *_wiping.layout(pre), *_released.verdicts(NAME, pre))


def _questions(params: Mapping[str, str]) -> tuple[_member.Question, ...]:
    """(fact, values that pass, what to say otherwise)."""
    pool = f"{params['pool']} ({params['pool_guid']})"
    back = "It was brought back, or never destroyed. Its disks stay."
    return (
        ("pool.here", (NONE,), f"{pool} is imported here as {{}}. {back}"),
        ("pool.listed", ("0",), f"`zpool import` lists {pool} {{}} times. {back}"),
        ("pool.labels", (NONE,), f"The label on {{}} does not say that {pool} was destroyed. {back}"),
        (
            "disk.label_state",
            (str(zdb_label.DESTROYED),),
            f"The labels on {params['wwid']} are in state {{}}, and only {zdb_label.DESTROYED} is that of a destroyed pool. It stays.",
        ),
        *_wiping.questions(params),
    )


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    return _wiping.perform(host, params, destroyed=True)
