"""Who the node is: name, hostid, this boot, kernel, and the OpenZFS versions of tools and module."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed, decode
from agents.host import Host

NAME = "node"
EVERY_SECONDS = 60
TIMEOUT_SECONDS = 10

_FILES = {
    "/proc/sys/kernel/hostname": "hostname",
    "/proc/sys/kernel/random/boot_id": "boot_id",
    "/proc/sys/kernel/osrelease": "kernel",
    "/sys/module/zfs/version": "zfs_module",
}
_COMMANDS = (("hostid",), ("zpool", "--version"))


@dataclass(frozen=True)
class NodeInfo:
    """None: the node did not say. Before 0.8 the tools have no `--version`."""

    hostname: str | None
    hostid: str | None  # eight hexadecimal digits, as `hostid` prints it
    boot_id: str | None
    kernel: str | None
    zfs_userland: str | None  # "2.1.11-1+deb12u1"
    zfs_module: str | None


def collect(host: Host) -> tuple[Capture, ...]:
    lines = [line for path in _FILES for line in attribute(host, path)]
    for argv in _COMMANDS:
        ran = host.run(argv, TIMEOUT_SECONDS)
        if ran.exit_code == 0:
            lines += [f"{' '.join(argv)}:{line}" for line in decode(ran.stdout).rstrip("\n").split("\n")]
    if not lines:
        return (Capture(NAME, "", "failed", "", "the node says neither its name nor its hostid"),)
    return (Capture(NAME, "", "data", "\n".join(lines) + "\n"),)


def parse(text: str) -> NodeInfo | Unparsed:
    """What `text` says of the node, or the first line that made no sense. Never raises."""
    said: dict[str, str] = {}
    for line in text.rstrip("\n").split("\n"):
        source, _, value = line.partition(":")
        value = value.strip()
        if source == "hostid" and re.fullmatch("[0-9a-f]{1,8}", value):
            said["hostid"] = value.zfill(8)
        elif source == "zpool --version" and value.startswith("zfs-kmod-"):
            said.setdefault("zfs_module", value[len("zfs-kmod-") :])  # where /sys says nothing
        elif source == "zpool --version" and value.startswith("zfs-"):
            said["zfs_userland"] = value[len("zfs-") :]
        elif source in _FILES:
            said[_FILES[source]] = value
        else:
            return Unparsed("a line about the node cannot be read", line)
    return NodeInfo(*(said.get(name) or None for name in ("hostname", "hostid", "boot_id", "kernel", "zfs_userland", "zfs_module")))


def module_version(host: Host) -> tuple[int, int] | None:
    """The loaded module's version, for sources that one version has and another has not. None: not loaded, or not Linux."""
    try:
        return version(decode(host.read("/sys/module/zfs/version")).strip())
    except OSError:
        return None


def version(text: str | None) -> tuple[int, int] | None:
    """(2, 1) of "2.1.11-1+deb12u1" or "v0.8.3-1ubuntu12"."""
    found = re.match(r"v?([0-9]{1,4})\.([0-9]{1,4})", text or "")
    return (int(found.group(1)), int(found.group(2))) if found else None
