"""What operations on a whole pool read and ask: which pool it is, whether and why it is suspended, what scans it.

The guid is the kernel's own (`zpool get`), because a pool that has lost its disks shows no label. Whether it is suspended is read from
the kernel's statistics too, which answer when `zpool` hangs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.collectors import kstat_pools, zpool_get, zpool_status
from agents.collectors.base import Capture, Unparsed
from agents.collectors.zpool_status import Pool
from agents.host.host import Host
from agents.operations._member import versions
from agents.operations._tree import understood, value_of
from agents.operations.base import NONE, Unread, check_guid, known

MMP, IO = "multihost", "I/O errors"
FACTS = ("pool.guid", "pool.suspended", "pool.scan", "pool.lost", "zfs.userland", "zfs.module")


def facts(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    name = params["pool"]
    return {
        "pool.guid": known(lambda: guid(host, name)),
        "pool.suspended": known(lambda: suspended(host, name)),
        "pool.scan": known(lambda: scan(status(host, name))),
        "pool.lost": known(lambda: lost(status(host, name))),
        **versions(host),
    }


def guid(host: Host, name: str) -> str:
    found = _property(host, name, "guid")
    if check_guid("guid", found):
        raise Unread(f"zpool get does not print the guid of {name}")
    return found


def multihost(host: Host, name: str) -> str:
    return _property(host, name, zpool_get.MULTIHOST)


def _property(host: Host, pool: str, name: str) -> str:
    parsed = understood(zpool_get.collect(host)[0], zpool_get.parse, "zpool get")
    found = [p.value for p in parsed if (p.pool, p.name) == (pool, name)]
    if len(found) != 1:
        raise Unread(f"zpool get does not print the {name} of {pool}")
    return found[0]


def status(host: Host, name: str) -> Pool:
    parsed = understood(zpool_status.collect(host)[0], zpool_status.parse, "zpool status")
    found = [pool for pool in parsed if pool.name == name]
    if len(found) != 1:
        raise Unread(f"{len(found)} pools named {name} are imported on this node")
    return found[0]


def suspended(host: Host, name: str) -> str:
    """Why it is suspended, by the text of `zpool status`; "none" when neither text nor kernel says that it is."""
    pool = status(host, name)
    if "multihost writes failed or were delayed" in pool.status:
        return MMP
    if "in response to IO failures" in pool.status:
        return IO
    if pool.state == "SUSPENDED" or by_kernel(host, name) == "SUSPENDED":
        raise Unread(f"{name} is suspended, and zpool status does not show why")
    return NONE


def by_kernel(host: Host, name: str) -> str:
    """The kernel's own word for its state; "" where it says none."""
    capture = kstat_pools.collect(host)[0]
    parsed = value_of(capture, kstat_pools.parse)
    if isinstance(parsed, Unparsed):
        return ""
    return next((pool.state for pool in parsed.pools if pool.name == name), "")


def scan(pool: Pool) -> str:
    """Which scan there is or was last, in words that stay as they are until another begins or this one ends."""
    if not pool.scans:
        return NONE
    newest = pool.scans[0]
    line = newest.text.split("\n")[0]
    return f"{newest.function} {newest.state}: {line}"


def lost(pool: Pool) -> str:
    """Every leaf that does not serve, with its state."""
    down = [f"{leaf.name} {leaf.state}" for leaf in leaves(pool.vdevs) if leaf.state not in ("ONLINE", "DEGRADED")]
    return ", ".join(down) or NONE


def leaves(vdev: Any) -> tuple[Any, ...]:
    return tuple(leaf for child in vdev.children for leaf in leaves(child)) if vdev.children else (vdev,)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return (*kstat_pools.collect(host), *zpool_status.collect(host))
