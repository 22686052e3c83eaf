"""Import a pool for writing as it was some seconds earlier, for good: `zpool import -F -N -o cachefile=none -R … GUID`.

`-F` goes back two transaction groups at the most, and what is newer is discarded for ever. Whatever lies further back (`-T`, `-X`) is done
for writing by a person or the vendor only, and not from here.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _importing, _writing
from agents.operations.base import Probe

NAME = "zpool_rewind"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _writing.PARAMS
TIMEOUT_SECONDS = _writing.TIMEOUT_SECONDS
FACTS = _writing.FACTS


def check(params: Mapping[str, str]) -> str:
    return _writing.check(params)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "import", "-F", *_writing.OPTIONS, "-R", f"/mnt/rw-{params['pool']}", *_importing.WHERE, params["pool_guid"])


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
