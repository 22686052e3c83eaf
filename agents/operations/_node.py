"""What operations ask of the node itself: the value of a tunable, where this platform keeps it."""

from __future__ import annotations

from agents.collectors import parameters, sysctl
from agents.domain.tunables import FREEBSD, LINUX, TUNABLES, number
from agents.host.host import Host
from agents.operations._tree import understood
from agents.operations.base import Unread


def tunable(host: Host, platform: str, name: str) -> str:
    """The value now, in plain decimal. Raises Unread, also where this release has no such tunable."""
    values = {LINUX: _linux, FREEBSD: _freebsd}[platform](host)
    if name not in values:
        raise Unread(f"this node has no tunable {name}")
    if number(values[name]) is None:
        raise Unread(f"{name} is {values[name]!r}, which is no plain number")
    return values[name]


def _linux(host: Host) -> dict[str, str]:
    parsed = understood(parameters.collect(host)[0], parameters.parse, "the module parameters")
    return dict(parsed.values)


def _freebsd(host: Host) -> dict[str, str]:
    parsed = understood(sysctl.collect(host)[0], sysctl.parse, "sysctl vfs.zfs")
    values = {setting.oid: setting.value for setting in parsed}
    return {name: values[known.oid] for name, known in TUNABLES.items() if known.oid in values}
