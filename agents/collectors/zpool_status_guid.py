"""`zpool status -g`: the same tree with vdev guids for names, joined to the named one line by line."""

from __future__ import annotations

from agents.collectors.base import Capture
from agents.collectors.zpool_status import ask_status, lasting, parse, read
from agents.host.host import Host

NAME = "zpool_status_guid"
EVERY_SECONDS = 10
ARGV = ("zpool", "status", "-g", "-p")

__all__ = ["collect", "lasting", "parse", "read"]


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask_status(host, NAME, ARGV),)
