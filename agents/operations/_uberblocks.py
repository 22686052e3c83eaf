"""What the uberblock rings of an unimported pool's disks hold, and from which uberblock an import took the pool.

The rings say whether anything was written since the plan was made. Which uberblock an import took is said by ZFS's own log only: `-T N`
is an upper bound, and ZFS goes further back by itself when it cannot load what was asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any, Tuple

from agents.collectors import _disks, dbgmsg, zdb_label, zdb_uberblocks
from agents.collectors.zdb_uberblocks import Uberblock
from agents.host.host import Host
from agents.operations._tree import understood
from agents.operations.base import NONE, Unread

Ring = tuple[Uberblock, ...]  # of Uberblock, the newest first
RingOf = Tuple[int, Ring]  # the guid of a member, and the ring of one partition that carries its label
_TOOK = re.compile(r"spa_load\(([^,()]+), config \w+\): using uberblock with txg=([0-9]{1,20})")


def rings(host: Host, params: Mapping[str, str]) -> dict[str, Ring]:
    """By partition, for every disk whose label is of this pool. Raises Unread when one of them does not say."""
    return _read(host, tuple(_members(host, params["pool_guid"])))


def rings_by_guid(host: Host, params: Mapping[str, str]) -> tuple[RingOf, ...]:
    """The same with the guid of the member in place of the name of its partition. Raises Unread, also where a disk shows no uberblock."""
    members = _members(host, params["pool_guid"])
    found = _read(host, tuple(members))
    if bare := next((key for key, ring in found.items() if not ring), ""):
        raise Unread(f"{bare} shows no uberblock")
    return tuple((guid, found[key]) for key, guids in members.items() for guid in guids)


def fingerprint(rings: Iterable[RingOf]) -> str:
    """Everything that the rings hold, as one line: it stays the same as long as nobody writes to any of them."""
    found = tuple(rings)
    lines = sorted({f"{guid} {[astuple(uberblock) for uberblock in ring]}" for guid, ring in found})
    digest = hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()
    return f"{newest(dict(enumerate(ring for _, ring in found)))} on {len({guid for guid, _ in found})} members, {digest[:32]}"


def _read(host: Host, members: tuple[str, ...]) -> dict[str, Ring]:
    captures = _disks.each(lambda key: zdb_uberblocks.collect_one(host, key), members)
    found = {}
    for key, capture in zip(members, captures):
        parsed = understood(capture, zdb_uberblocks.parse, f"the uberblocks of {key}")
        if zdb_label.CACHED in capture.text:
            raise Unread(f"zdb could not pass by what the kernel remembers of {key}, so it may show what the disk held before")
        found[key] = parsed
    return found


def _members(host: Host, pool_guid: str) -> dict[str, tuple[int, ...]]:
    """Partition -> the guids of the labels of this pool that are on it."""
    found = {}
    for capture in zdb_label.collect(host):
        parsed = understood(capture, zdb_label.parse, f"the label of {capture.key}")
        if guids := tuple(label.guid for label in parsed.labels if str(label.pool_guid) == pool_guid):
            found[capture.key] = guids
    return found


def newest(rings: Mapping[Any, Ring]) -> str:
    """The best uberblock over all disks. As long as it is the same, no host has written to the pool."""
    best = _best(rings)
    return f"txg {best.txg} of {best.timestamp}"


def multihost(rings: Mapping[Any, Ring]) -> bool:
    """Whether the pool's property multihost was on when it was written last."""
    return _best(rings).multihost


def _best(rings: Mapping[Any, Ring]) -> Uberblock:
    found = [uberblock for ring in rings.values() for uberblock in ring]
    if not found:
        raise Unread("no disk of the pool shows an uberblock")
    return max(found, key=lambda u: (u.txg, u.timestamp))


def holders(rings: Mapping[str, Ring], txg: str) -> str:
    """The partitions that hold the uberblock asked for."""
    held = [key for key, ring in rings.items() if any(str(u.txg) == txg for u in ring)]
    return ", ".join(held) or NONE


def times(rings: Mapping[str, Ring], txg: str) -> str:
    """When it was written; several times mean that two systems wrote it."""
    found = {u.timestamp for ring in rings.values() for u in ring if str(u.txg) == txg}
    return ", ".join(map(str, sorted(found))) or NONE


def took(host: Host, pool: str) -> str:
    """The txg from which the last import of this pool took it. Raises Unread where the log does not say."""
    parsed = understood(dbgmsg.collect(host)[0], dbgmsg.parse, "ZFS's own log")
    found = [match.group(2) for message in parsed if (match := _TOOK.search(message.text)) and match.group(1) == pool]
    if not found:
        raise Unread(f"ZFS's own log does not show from which txg it took {pool}")
    return found[-1]
