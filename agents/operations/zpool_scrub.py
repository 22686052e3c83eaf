"""Read everything a pool holds and check it: `zpool scrub POOL`. A scrub that is paused goes on where it stopped.

It may be ordered any number of times: the order names the scan that was there when it was planned, so once a scrub has begun the same
order finds another one and is refused.

On a paused scrub the same words resume it; the kernel answers ECANCELED, and zpool takes that for success
(module/zfs/dsl_scan.c:dsl_scan and lib/libzfs/libzfs_pool.c:zpool_scan, read in 0.8.6 to 2.4.0). A paused error scrub is refused here:
the plain words begin a whole scrub beside it or are refused, by release.
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

NAME = "zpool_scrub"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _pool.FACTS
PAUSED = "scrub paused: scrub paused"  # and no error scrub, of which zpool prints "error scrub paused"


def check(params: Mapping[str, str]) -> str:
    return _pool.check(params, PARAMS)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "scrub", params["pool"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _pool.facts(host, params)


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = _pool.facts(host, params)
    return {
        "outgoing": {"pool": params["pool"], "scan": pre["pool.scan"]},
        "incoming": {"pool": params["pool"], "scan": "scrub running"},
        "topology_before": [f"{params['pool']}: {pre['pool.scan']}"],
        "topology_after": [f"{params['pool']}: scrub running"],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (NONE,), f"{pool} is suspended by: {{}}. No scrub begins before it goes on."),
    )
    return (*judge(questions, pre, FACTS), *_nothing_runs(pre, pool), *_released.verdicts(NAME, pre))


def _nothing_runs(pre: Mapping[str, str], pool: str) -> tuple[tuple[str, str], ...]:
    scan = pre.get("pool.scan", UNKNOWN)
    if scan.startswith(UNKNOWN):
        return ()
    if scan.startswith(PAUSED):
        return (("pass", "A scrub is paused, and goes on where it stopped."),)
    runs = scan.split(":")[0].endswith((" running", " paused"))
    return (("refuse", f"{pool} is scanned already: {scan}. Wait until that ends."),) if runs else (("pass", "No scan runs."),)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        now = _pool.scan(_pool.status(host, params["pool"]))
    except Unread as unread:
        return Probe("cannot_tell", _pool.aftermath(host), f"It cannot be told: {unread}.")
    same = now == pre.get("pool.scan")
    stopped = pre.get("pool.scan", "").startswith(PAUSED) and now.startswith("scrub canceled")  # by somebody else, paused or not
    result = "did_not" if same else "did" if now.startswith("scrub ") and not stopped else "cannot_tell"
    return Probe(result, _pool.aftermath(host), f"{params['pool']}: {now}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _pool.aftermath(host)
