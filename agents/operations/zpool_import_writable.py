"""Import a pool for writing: `zpool import -N -o cachefile=none -d /dev/disk/by-id GUID`.

It writes labels and replays the log, so what the pool could still go back to is less from then on. Without -f and without any rewind: a
pool that does not come in like this does not come in here.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _importing, _writing
from agents.operations.base import Probe

NAME = "zpool_import_writable"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _writing.PARAMS
TIMEOUT_SECONDS = _writing.TIMEOUT_SECONDS
FACTS = _writing.FACTS


def check(params: Mapping[str, str]) -> str:
    return _writing.check(params)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "import", *_writing.OPTIONS, *_importing.WHERE, params["pool_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _writing.preconditions(host, params)


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return _writing.describe(host, params)


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return _writing.guards(NAME, pre, params)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _writing.probe(host, params, pre)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _writing.aftermath(host)
