"""Import a pool without writing to it: `zpool import -N -o readonly=on -o cachefile=none -R … -d /dev/disk/by-id GUID`.

Nothing on a disk changes: no label, no log is replayed, nothing is mounted. `-o ro` would only be a mount option; only
`readonly=on` keeps the pool from being written to.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _importing
from agents.operations.base import Probe

NAME = "zpool_import_readonly"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS = _importing.PARAMS
TIMEOUT_SECONDS = _importing.TIMEOUT_SECONDS
FACTS = _importing.FACTS


def check(params: Mapping[str, str]) -> str:
    return _importing.check(params)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return (
        "zpool",
        "import",
        *_importing.OPTIONS,
        *_importing.altroot(params),
        *_importing.WHERE,
        *_importing.forced(params),
        params["pool_guid"],
    )


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _importing.preconditions(host, params)


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return _importing.describe(host, params)


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return _importing.guards(NAME, pre, params)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    return _importing.probe(host, params)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return _importing.aftermath(host)
