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

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _pool, _released
from agents.operations._candidate import NONE
from agents.operations._member import judge
from agents.operations._tree import Unread
from agents.operations.base import UNKNOWN, Probe

NAME = "zpool_scrub_stop"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _pool.FACTS
STOPS = ("scrub running: scrub in progress", "scrub paused: scrub paused")
STOPPED = "scrub canceled"


def check(params: Mapping[str, str]) -> str:
    return _pool.check(params, PARAMS)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "scrub", "-s", params["pool"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _pool.facts(host, params)


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = _pool.facts(host, params)
    return {
        "outgoing": {"pool": params["pool"], "scan": pre["pool.scan"]},
        "incoming": {"pool": params["pool"], "scan": STOPPED},
        "topology_before": [f"{params['pool']}: {pre['pool.scan']}"],
        "topology_after": [f"{params['pool']}: {STOPPED}"],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (NONE,), f"{pool} is suspended by: {{}}. A command to it would hang. Its scrub stands still meanwhile."),
    )
    return (*judge(questions, pre, FACTS), *_a_scrub_is_there(pre, pool), *_released.verdicts(NAME, pre))


def _a_scrub_is_there(pre: Mapping[str, str], pool: str) -> tuple[tuple[str, str], ...]:
    scan = pre.get("pool.scan", UNKNOWN)
    if scan.startswith(UNKNOWN):
        return ()
    if scan.startswith(STOPS):
        return (("pass", "A scrub runs or is paused."),)
    return (("refuse", f"No scrub of {pool} runs or is paused, so there is none to stop. Its scan: {scan}."),)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        now = _pool.scan(_pool.status(host, params["pool"]))
    except Unread as unread:
        return Probe("cannot_tell", _pool.aftermath(host), f"Whether it took place is not known: {unread}.")
    result = "did_not" if now == pre.get("pool.scan") else "did" if now.startswith(STOPPED) else "cannot_tell"
    return Probe(result, _pool.aftermath(host), f"{params['pool']}: {now}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _pool.aftermath(host)
