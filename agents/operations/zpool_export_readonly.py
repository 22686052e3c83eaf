"""Let go of a pool that is imported read-only: `zpool export POOL`. No label is written, so the disks stay as they are.

It may be run any number of times: a pool that is gone stays gone. A pool that is imported for writing is not let go of here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.host.host import Host
from agents.operations import _importing, _member, _released
from agents.operations.base import NONE, Probe, Unread, known

NAME = "zpool_export_readonly"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 600.0
FACTS = ("pool.here", "pool.guid", "pool.readonly", *_released.FACTS)

check = partial(_member.check, names=PARAMS)
aftermath = _importing.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "export", params["pool"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "pool.here": known(lambda: _importing.imported(host, params)),
        "pool.guid": known(lambda: _importing.setting(host, params["pool"], "guid")),
        "pool.readonly": known(lambda: _importing.setting(host, params["pool"], "readonly")),
        **_member.versions(host),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return {"preconditions": preconditions(host, params)}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool = params["pool"]
    questions = (
        ("pool.here", (pool,), f"{pool} is not imported here, so there is nothing to let go of."),
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.readonly", ("on",), f"{pool} is imported for writing (readonly is {{}}). It is not let go of from here."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        here = _importing.imported(host, params)
    except Unread as unread:
        return Probe("cannot_tell", _importing.aftermath(host, params), f"Whether it took place is not known: {unread}.")
    result = "did" if here == NONE else "did_not"
    return Probe(
        result, _importing.aftermath(host, params), f"{params['pool']} is {'not imported any more' if here == NONE else 'still imported'}."
    )
