"""What operations ask of the node itself: the value of a tunable, where this platform keeps it."""

from __future__ import annotations

from agents.collectors import parameters, sysctl
from agents.collectors.base import Unparsed
from agents.domain.tunables import FREEBSD, LINUX, TUNABLES, number
from agents.host.host import Host
from agents.operations._tree import Unread


def tunable(host: Host, platform: str, name: str) -> str:
    """The value now, in plain decimal. Raises Unread, also where this release has no such tunable."""
    values = {LINUX: _linux, FREEBSD: _freebsd}[platform](host)
    if name not in values:
        raise Unread(f"this node has no tunable {name}")
    if number(values[name]) is None:
        raise Unread(f"{name} is {values[name]!r}, which is no plain number")
    return values[name]


def _linux(host: Host) -> dict[str, str]:
    capture = parameters.collect(host)[0]
    parsed = parameters.parse(capture.text) if capture.outcome == "data" else Unparsed(capture.reason)
    if isinstance(parsed, Unparsed):
        raise Unread(f"the module parameters cannot be read: {parsed.reason}")
    return dict(parsed.values)


def _freebsd(host: Host) -> dict[str, str]:
    capture = sysctl.collect(host)[0]
    parsed = sysctl.parse(capture.text) if capture.outcome == "data" else Unparsed(capture.reason)
    if isinstance(parsed, Unparsed):
        raise Unread(f"sysctl vfs.zfs cannot be read: {parsed.reason}")
    values = {setting.oid: setting.value for setting in parsed}
    return {name: values[known.oid] for name, known in TUNABLES.items() if known.oid in values}
