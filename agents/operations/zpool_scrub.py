"""Read everything a pool holds and check it: `zpool scrub POOL`. A scrub that is paused goes on where it stopped.

It may be ordered any number of times: the order names the scan that was there when it was planned, so once a scrub has begun the same
order finds another one and is refused.

On a paused scrub the same words resume it. Older kernels answer ECANCELED for that, which zpool takes for success; newer ones answer
without an error (lib/libzfs/libzfs_pool.c at 0.8.6, 2.1.16, 2.3.4 and 2.4.0; module/zfs/dsl_scan.c:dsl_scan). A paused error scrub is
refused here: the plain words begin a whole scrub beside it or are refused, by release.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _member, _pool, _scanning
from agents.operations.base import Probe

NAME = "zpool_scrub"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _pool.FACTS
FUNCTION = "scrub"
PAUSED = "scrub paused: scrub paused"  # and no error scrub, of which zpool prints "error scrub paused"

check = partial(_member.check, names=PARAMS)
preconditions = _pool.facts
aftermath = _pool.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "scrub", params["pool"])


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return _scanning.describe(params["pool"], preconditions(host, params), f"{FUNCTION} running")


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return _scanning.guards(NAME, pre, params, FUNCTION, resumes=PAUSED)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _scanning.probe(host, params, pre, _scanning.began(FUNCTION))
