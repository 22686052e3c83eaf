"""Have ZFS fill what misses data, where no resilver comes by itself: `zpool resilver POOL`.

It takes nothing out of the pool and destroys nothing, and may be ordered any number of times, see `_scanning`. What the command does, read at the
tags 0.8.6, 2.1.16 and 2.3.4:

    the feature resilver_defer is not enabled   -> refused, "this action requires the resilver_defer feature" (spa_scan, module/zfs/spa.c)
    no writeable disk misses anything           -> no scan; a replacement whose new disk is filled is brought to its end (the same place)
    a scan runs or is paused, a scrub too       -> that one is ended, and a resilver begins from the start (dsl_scan, dsl_scan_sync,
                                                   module/zfs/dsl_scan.c). So it is not ordered then
    else                                        -> a resilver of all that is missed, in every vdev

After a reboot the pool does it by itself: the import asks what misses data and begins a resilver (spa_load_impl, module/zfs/spa.c).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _member, _pool, _resilver, _scanning
from agents.operations.base import NONE, Probe, known

NAME = "zpool_resilver"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = (*_pool.FACTS, "pool.runs", "pool.resilver_defer")
FUNCTION = "resilver"

check = partial(_member.check, names=PARAMS)
aftermath = _pool.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "resilver", params["pool"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    name = params["pool"]
    return {
        **_pool.facts(host, params),
        "pool.runs": known(lambda: ", ".join(_resilver.not_over(_pool.status(host, name).scans)) or NONE),
        "pool.resilver_defer": known(lambda: _resilver.feature(host, name)),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return _scanning.describe(params["pool"], preconditions(host, params), f"{FUNCTION} running")


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    more = (
        ("pool.runs", (NONE,), f"{pool} is scanned already, by: {{}}. `zpool resilver` would end that. Wait until it ends."),
        (
            "pool.resilver_defer",
            _resilver.ON,
            f"The feature resilver_defer of {pool} is {{}}, and `zpool resilver` is refused without it. Scrub the pool instead.",
        ),
    )
    return _scanning.guards(NAME, pre, params, FUNCTION, FACTS, more)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _scanning.probe(host, params, pre, _scanning.began(FUNCTION))
