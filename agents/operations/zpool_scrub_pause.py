"""Pause the scrub that runs on a pool: `zpool scrub -p POOL`. It keeps its place, also over a reboot, and goes on with `zpool scrub POOL`.

OpenZFS 0.7 and newer. The kernel refuses where no scrub runs and where it is paused already (module/zfs/dsl_scan.c:
dsl_scrub_pause_resume_check, read in 0.8.6 to 2.4.0). Since 2.2 the same words also pause an error scrub, so that is refused here.

It may be ordered any number of times: the order names the scrub that ran when it was planned, and a paused one is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _member, _pool, _scanning
from agents.operations.base import Probe

NAME = "zpool_scrub_pause"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _pool.FACTS
RUNS, PAUSED = "scrub running: scrub in progress", "scrub paused: scrub paused"

check = partial(_member.check, names=PARAMS)
preconditions = _pool.facts
aftermath = _pool.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "scrub", "-p", params["pool"])


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return _scanning.describe(params["pool"], preconditions(host, params), "scrub paused")


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    otherwise = f"No scrub runs on {params['pool']} that could be paused."
    return _scanning.guards_of_a_scrub(NAME, pre, params, (RUNS,), "A scrub runs.", otherwise)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _scanning.probe(host, params, pre, lambda was, now: now.startswith(PAUSED))
