"""Let a suspended pool go on, or give faulted members another chance: `zpool clear POOL`. Never with `-F`, which rewinds.

What it does where multihost is on differs by release, whatever suspended the pool: `agents/zfs_releases.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.host.host import Host
from agents.operations import _member, _pool, _released
from agents.operations._member import judge
from agents.operations.base import NONE, Probe, Unread, known
from agents.zfs_releases import MULTIHOST, State

NAME = "zpool_clear"
EFFECT = "at_most_once"  # it wipes the error counts that say what was wrong
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "why")  # why it was suspended when it was planned
TIMEOUT_SECONDS = 120.0  # it hangs where disks are still gone
FACTS = (*_pool.FACTS, "pool.multihost")

aftermath = _pool.aftermath


def check(params: Mapping[str, str]) -> str:
    bad = _member.check(params, PARAMS)
    if not bad and params["why"] not in (_pool.IO, _pool.MMP, NONE):
        return f"{params['why']!r} is no reason for which a pool is suspended."
    return bad


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "clear", params["pool"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {**_pool.facts(host, params), "pool.multihost": known(lambda: _pool.multihost(host, params["pool"]))}


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = preconditions(host, params)
    return {
        "outgoing": {"pool": params["pool"], "suspended": pre["pool.suspended"]},
        "incoming": {"pool": params["pool"], "suspended": NONE},
        "topology_before": [f"{params['pool']}: suspended by {pre['pool.suspended']}; lost: {pre['pool.lost']}"],
        "topology_after": [f"{params['pool']}: takes writes again; its error counts are 0"],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (params["why"],), f"{pool} is suspended by: {{}}. It was planned for: {params['why']}. Plan again."),
    )
    return (*judge(questions, pre, FACTS), *_released.verdicts(NAME, pre, {MULTIHOST: _guarded(pre, params)}))


def _guarded(pre: Mapping[str, str], params: Mapping[str, str]) -> State:
    """Whether it is a suspended pool with multihost on. What is known of the cause shows that it is one of multihost, whatever the property is by now."""
    if params["why"] in (_pool.MMP, NONE):
        return params["why"] == _pool.MMP
    return _released.state(pre, "pool.multihost", "on", "off")


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """The kernel's state shows a suspension. Error counts alone do not show what reset them."""
    state = _pool.by_kernel(host, params["pool"])
    if params["why"] == NONE or not state:
        try:
            lost = _pool.lost(_pool.status(host, params["pool"]))
        except Unread as unread:
            return Probe("cannot_tell", _pool.aftermath(host, params), f"Whether it took place is not known: {unread}.")
        result = "did_not" if params["why"] == NONE and lost == pre.get("pool.lost") else "cannot_tell"
        return Probe(result, _pool.aftermath(host, params), f"Members of {params['pool']} that do not serve: {lost}.")
    return Probe("did_not" if state == "SUSPENDED" else "did", _pool.aftermath(host, params), f"The kernel calls {params['pool']} {state}.")
