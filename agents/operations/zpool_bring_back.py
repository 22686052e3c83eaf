"""Bring several members back into service in one command, in a given order: `zpool online POOL GUID GUID …`.

For members that were lost together and whose disks are there again. It may be run any number of times: a member that serves already
stays as it is. A member whose own disk does not carry its label is not named, as ZFS would leave it faulted.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import zdb_label
from agents.collectors.base import Unparsed
from agents.host.host import Host
from agents.operations import _member, _pool, _released, _tree
from agents.operations._tree import Member, value_of
from agents.operations.base import NONE, Probe, Unread, check_guid, check_names, check_pool, known

NAME = "zpool_bring_back"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "vdev_guids")  # separated by blanks, in the order they are brought back
TIMEOUT_SECONDS = 300.0
MEMBERS_MAX = 128
FACTS = ("pool.guid", "pool.suspended", "members.states", "members.labels", "zfs.userland", "zfs.module")

aftermath = _member.aftermath


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    guids = params["vdev_guids"].split(" ")
    if len(set(guids)) != len(guids) or len(guids) > MEMBERS_MAX:
        return f"{len(guids)} members were named, some of them twice or too many at once."
    return next((why for guid in guids if (why := check_guid("vdev_guids", guid))), "")


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "online", params["pool"], *params["vdev_guids"].split(" "))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "pool.guid": known(lambda: _pool.guid(host, params["pool"])),
        "pool.suspended": known(lambda: _pool.suspended(host, params["pool"])),
        "members.states": known(lambda: "; ".join(f"{m.guid} {m.state}" for m in _members(host, params))),
        "members.labels": known(lambda: _unlabelled(host, params)),
        **_member.versions(host),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = preconditions(host, params)
    return {
        "outgoing": {"members": pre["members.states"]},
        "incoming": {"members": "; ".join(f"{guid} ONLINE" for guid in params["vdev_guids"].split(" "))},
        "topology_before": pre["members.states"].split("; "),
        "topology_after": [f"{guid} ONLINE" for guid in params["vdev_guids"].split(" ")],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (NONE,), f"{pool} is suspended by: {{}}. Let it go on first."),
        ("members.labels", (NONE,), "These members have no disk here that carries their label: {}. Bring back the others."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        members = _members(host, params)
    except Unread as unread:
        return Probe("cannot_tell", _tree.captures(host), f"Whether it took place is not known: {unread}.")
    away = [m for m in members if m.state not in _member.SERVING]
    result = "did" if not away else "did_not" if len(away) == len(members) else "cannot_tell"
    reason = f"{len(members) - len(away)} of {len(members)} members of {params['pool']} serve."
    return Probe(result, _tree.captures(host), reason)


def _members(host: Host, params: Mapping[str, str]) -> tuple[Member, ...]:
    pool = _tree.read(_tree.captures(host)).pool(params["pool"])
    found = []
    for guid in params["vdev_guids"].split(" "):
        trail = pool.find(guid)
        if not trail:
            raise Unread(f"{params['pool']} has no vdev {guid}")
        found.append(trail[-1])
    return tuple(found)


def _unlabelled(host: Host, params: Mapping[str, str]) -> str:
    """Those of the members whose label no disk of this node carries now; "none" when each is found."""
    wanted = set(params["vdev_guids"].split(" "))
    for capture in zdb_label.collect(host):
        parsed = value_of(capture, zdb_label.parse)
        if not isinstance(parsed, Unparsed):
            wanted -= {str(label.guid) for label in parsed.labels if str(label.pool_guid) == params["pool_guid"]}
    return ", ".join(sorted(wanted)) or NONE
