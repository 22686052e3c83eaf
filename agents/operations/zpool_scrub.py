"""Read everything a pool holds and check it: `zpool scrub POOL`. It may be ordered any number of times, see `_scanning`."""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _pool, _scanning
from agents.operations.base import Probe

NAME = "zpool_scrub"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 120.0
FACTS = _pool.FACTS
FUNCTION = "scrub"


def check(params: Mapping[str, str]) -> str:
    return _pool.check(params, PARAMS)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "scrub", params["pool"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _pool.facts(host, params)


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return _scanning.describe(params["pool"], preconditions(host, params), FUNCTION)


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return _scanning.guards(NAME, pre, params, FUNCTION)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _scanning.probe(host, params, pre, FUNCTION)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _pool.aftermath(host)
