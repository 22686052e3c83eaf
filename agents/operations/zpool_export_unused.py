"""Export a pool of which nothing is mounted: `zpool export POOL`, never with -f.

`zpool export` unmounts what is mounted and not busy (zpool_disable_datasets, called by zpool_export_one in cmd/zpool/zpool_main.c), so
it is not enough that it would succeed: nothing of the pool may be mounted. A volume that is open is refused by ZFS itself (pool is busy).
It may be run any number of times: a pool that is gone stays gone.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import mounts
from agents.host.host import Host
from agents.operations import _member, _released, zpool_export_readonly
from agents.operations._tree import understood
from agents.operations.base import NONE, known

NAME = "zpool_export_unused"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = zpool_export_readonly.PARAMS
TIMEOUT_SECONDS = zpool_export_readonly.TIMEOUT_SECONDS
FACTS = ("pool.here", "pool.guid", "pool.readonly", "pool.mounted", *_released.FACTS)

check, argv = zpool_export_readonly.check, zpool_export_readonly.argv
probe, aftermath = zpool_export_readonly.probe, zpool_export_readonly.aftermath


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {**zpool_export_readonly.preconditions(host, params), "pool.mounted": known(lambda: _mounted(host, params["pool"]))}


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return {"preconditions": preconditions(host, params)}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        ("pool.here", (pool,), f"{pool} is not imported here, so there is nothing to export."),
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.readonly", ("off",), f"{pool} is imported read-only (readonly is {{}}). That is let go of by the run that imported it."),
        ("pool.mounted", (NONE,), f"Of {pool} these are mounted: {{}}. Stop what uses them and unmount them first."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def _mounted(host: Host, pool: str) -> str:
    """Where its datasets are mounted, Lustre targets too. Raises Unread."""
    parsed = understood(mounts.collect(host)[0], mounts.parse, "what is mounted")
    its = (f"{pool}/", f"{pool}@")
    return ", ".join(point for device, point, _ in parsed.mounts if device == pool or device.startswith(its)) or NONE
