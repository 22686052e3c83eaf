"""Stop the scrub of a pool for good, whether it runs or is paused: `zpool scrub -s POOL`. It loses its place; the next one begins anew.

What the kernel does, read at 0.8.6 and 2.3.4 (module/zfs/spa.c: spa_scan_stop; module/zfs/dsl_scan.c: dsl_scan_cancel, dsl_scan_done):

    a resilver runs                        -> refused as busy
    no scan runs or is paused              -> refused
    an error scrub runs (2.2 and newer)    -> that one is ended instead, so it is refused here
    a scrub runs or is paused              -> it is cancelled; what it repaired stays repaired. The list of damaged data is that of this scrub from
                                              then on (spa_errlog_rotate): what the last whole scrub listed and this one has not read is listed no more
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _member, _pool, _scanning
from agents.operations.base import Probe

NAME = "zpool_scrub_stop"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _pool.FACTS
STOPS = ("scrub running: scrub in progress", "scrub paused: scrub paused")
STOPPED = "scrub canceled"

check = partial(_member.check, names=PARAMS)
preconditions = _pool.facts
aftermath = _pool.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "scrub", "-s", params["pool"])


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return _scanning.describe(params["pool"], preconditions(host, params), STOPPED)


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    otherwise = f"No scrub of {params['pool']} runs or is paused, so there is none to stop."
    return _scanning.guards_of_a_scrub(NAME, pre, params, STOPS, "A scrub runs or is paused.", otherwise)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _scanning.probe(host, params, pre, lambda was, now: now.startswith(STOPPED))
