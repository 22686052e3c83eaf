"""The disks of a host, where there is no /sys: which system it is, what is asked there, and how it is read."""

from __future__ import annotations

from functools import lru_cache
from typing import Tuple
from weakref import WeakKeyDictionary

from agents.collectors import _geom, _illumos
from agents.collectors.base import Capture, Unparsed
from agents.domain.listed_disks import ListedDisk
from agents.host.host import Host

REMEMBERED_SECONDS = 30  # of illumos, whose diskinfo looks at every disk and enclosure; asked for with each disk, it would take minutes
_seen: WeakKeyDictionary[Host, Tuple[float, Capture]] = WeakKeyDictionary()
LINUX = ("/sys/block", "/sys/block/sd*", "/sys/block/nvme*")


def is_linux(host: Host) -> bool:
    return any(host.list(pattern) for pattern in LINUX)


def collect(host: Host, source: str, *, with_users: bool = False) -> Capture:
    """The answers in one text. `with_users`: on illumos, who has each disk open as well, which is a question of its own for each."""
    if not _illumos.is_here(host):
        return _geom.collect(host, source)
    return _illumos.collect(host, source, with_users=with_users)


def is_listing(text: str) -> bool:
    return _geom.is_geom(text) or _illumos.is_listing(text)


def parse(text: str) -> tuple[ListedDisk, ...] | Unparsed:
    """Every disk, or the first line that made no sense. Never raises."""
    return _geom.parse(text) if _geom.is_geom(text) else _illumos.parse(text)


def disks_of(host: Host) -> tuple[ListedDisk, ...]:
    """The disks of this moment; none where they cannot be read, and on Linux."""
    if is_linux(host):
        return ()
    found = _lately(host) if _illumos.is_here(host) else collect(host, "block")
    parsed = _remembered(found.text) if found.outcome == "data" else ()
    return () if isinstance(parsed, Unparsed) else parsed


def _lately(host: Host) -> Capture:
    """The list of a moment ago. It serves to choose what is asked; what an operation rests on is read anew (`block.collect`)."""
    at, found = _seen.get(host, (0.0, None))
    if found is None or not 0 <= host.now() - at < REMEMBERED_SECONDS:
        found = collect(host, "block")
        _seen[host] = (host.now(), found)
    return found


@lru_cache(maxsize=2)
def _remembered(text: str) -> tuple[ListedDisk, ...] | Unparsed:
    """Asked for with every disk, the text is the same each time."""
    return parse(text)
