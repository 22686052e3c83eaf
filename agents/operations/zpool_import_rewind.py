"""Import a pool as it was some seconds earlier, without writing: `zpool import -F -N -o readonly=on …`.

`-F` goes back two transaction groups at the most. Read-only it discards nothing for good: what is left out is still on the disks
until a person imports the pool for writing, which no operation here does. Never `-X`, never `-T`.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _importing
from agents.operations.base import Probe

NAME = "zpool_import_rewind"
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
        "-F",
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
