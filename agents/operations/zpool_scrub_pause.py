"""Pause the scrub that runs on a pool: `zpool scrub -p POOL`. It keeps its place, also over a reboot, and goes on with `zpool scrub POOL`.

OpenZFS 0.7 and newer. The kernel refuses where no scrub runs and where it is paused already (module/zfs/dsl_scan.c:
dsl_scrub_pause_resume_check, read in 0.8.6 to 2.4.0). Since 2.2 the same words also pause an error scrub, so that is refused here.

It may be ordered any number of times: the order names the scrub that ran when it was planned, and a paused one is another.
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

NAME = "zpool_scrub_pause"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _pool.FACTS
RUNS, PAUSED = "scrub running: scrub in progress", "scrub paused: scrub paused"


def check(params: Mapping[str, str]) -> str:
    return _pool.check(params, PARAMS)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "scrub", "-p", params["pool"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _pool.facts(host, params)


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = _pool.facts(host, params)
    return {
        "outgoing": {"pool": params["pool"], "scan": pre["pool.scan"]},
        "incoming": {"pool": params["pool"], "scan": "scrub paused"},
        "topology_before": [f"{params['pool']}: {pre['pool.scan']}"],
        "topology_after": [f"{params['pool']}: scrub paused"],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (NONE,), f"{pool} is suspended by: {{}}. A command to it would hang. Its scrub stands still meanwhile."),
    )
    return (*judge(questions, pre, FACTS), *_a_scrub_runs(pre, pool), *_released.verdicts(NAME, pre))


def _a_scrub_runs(pre: Mapping[str, str], pool: str) -> tuple[tuple[str, str], ...]:
    scan = pre.get("pool.scan", UNKNOWN)
    if scan.startswith(UNKNOWN):
        return ()
    if scan.startswith(RUNS):
        return (("pass", "A scrub runs."),)
    return (("refuse", f"No scrub runs on {pool} that could be paused. Its scan: {scan}."),)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        now = _pool.scan(_pool.status(host, params["pool"]))
    except Unread as unread:
        return Probe("cannot_tell", _pool.aftermath(host), f"Whether it took place is not known: {unread}.")
    result = "did_not" if now == pre.get("pool.scan") else "did" if now.startswith(PAUSED) else "cannot_tell"
    return Probe(result, _pool.aftermath(host), f"{params['pool']}: {now}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _pool.aftermath(host)
