"""Slow I/Os of each leaf: `zpool status -s`, which OpenZFS has since 0.8. A count since the last `zpool clear`, not a rate."""

from __future__ import annotations

from agents.collectors.base import Capture
from agents.collectors.node import module_version
from agents.collectors.zpool_status import ask_status, parse, read
from agents.host.host import Host

NAME = "zpool_status_slow"
EVERY_SECONDS = 60
ARGV = ("zpool", "status", "-s", "-p")
SINCE = (0, 8)

__all__ = ["collect", "parse", "read"]


def collect(host: Host) -> tuple[Capture, ...]:
    if (module_version(host) or SINCE) < SINCE:
        return (Capture(NAME, "", "nothing", "", "OpenZFS counts slow I/Os since 0.8"),)
    return (ask_status(host, NAME, ARGV),)
