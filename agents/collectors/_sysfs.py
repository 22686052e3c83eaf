"""The one grammar of our sysfs captures: `path:value`, as `grep -H . FILE` prints it, and `path -> target` for links.

A folder's entries are written as a value, names apart by spaces: `/sys/block/sda/holders:dm-3 dm-4`. Bytes that are no text are
written in hex. What cannot be read has no line: an absent line means "not known", an empty value means "it is empty".
"""

from __future__ import annotations

from typing import Optional

from agents.collectors.base import decode
from agents.host.host import Host


def attribute(host: Host, path: str) -> list[str]:
    """One line for each line of the file; an attribute has one."""
    try:
        return [f"{path}:{line}" for line in decode(host.read(path)).rstrip("\0\n").split("\n")]
    except OSError:
        return []


def binary(host: Host, path: str) -> list[str]:
    try:
        return [f"{path}:{host.read(path).hex()}"]
    except OSError:
        return []


def link(host: Host, path: str) -> list[str]:
    try:
        return [f"{path} -> {host.link(path)}"]
    except OSError:
        return []


def entries(host: Host, path: str) -> list[str]:
    """The names in a folder, if the folder is there."""
    if not host.list(path):
        return []
    return [f"{path}:{' '.join(found.rsplit('/', 1)[1] for found in host.list(path + '/*'))}"]


def whole(value: Optional[str], base: int = 10) -> int | None:
    """The whole number that an attribute holds, else None."""
    value = (value or "").strip()
    return int(value, base) if value.isascii() and value.isdigit() and len(value) <= 20 else None
