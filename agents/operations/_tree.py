"""The tree of one imported pool with a name and a guid for every vdev, and the guid of the pool itself.

`zpool status` prints names or guids, never both and never the pool's guid. So it is asked twice and joined line by line,
and the pool's guid is taken from labels: of members that are ONLINE and whose label carries the very guid shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from agents.collectors import zdb_label, zpool_status, zpool_status_guid
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.zdb_label import Label
from agents.collectors.zpool_status import Pool, Scan, Vdev
from agents.domain.wwid import device_path
from agents.host.host import Host
from agents.operations.base import Unread

Value = TypeVar("Value")
LABELS_WANTED = 2
LABELS_TRIED_MAX = 8
SPARE_STATES = ("AVAIL", "INUSE")
ROLES = {"logs": "log", "cache": "cache", "spares": "spare", "special": "special", "dedup": "dedup"}  # heading of `zpool status` -> role
_INTERIOR = re.compile(r"(mirror|raidz[123]?|draid[123]?(?::\w+)*|replacing|spare|indirect)-[0-9]+")


def value_of(capture: Capture, parse: Callable[[str], Value | Unparsed]) -> Value | Unparsed:
    """What `parse` reads in a capture that is data; `Unparsed` with the reason of one that is not."""
    return parse(capture.text) if capture.outcome == "data" else Unparsed(capture.reason)


def understood(capture: Capture, parse: Callable[[str], Value | Unparsed], what: str) -> Value:
    """The same where it must be understood. Raises Unread: `what` cannot be read, and why."""
    value = value_of(capture, parse)
    if isinstance(value, Unparsed):
        raise Unread(f"{what} cannot be read: {value.reason}")
    return value


@dataclass(frozen=True)
class Member:
    """One vdev. `name` is as `zpool status -P` prints it."""

    guid: str
    name: str
    state: str
    was: str | None
    children: tuple[Member, ...]
    filling: bool = False  # a leaf that is being filled, or waits for its turn
    role: str = "data"  # of a top-level vdev, a cache device or a spare

    @property
    def kind(self) -> str:
        """ "raidz2", "mirror", "replacing", "spare" …; "disk" for a leaf."""
        match = _INTERIOR.fullmatch(self.name)
        return match.group(1) if match else "disk"

    def walk(self) -> Iterator[Member]:
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self) -> tuple[Member, ...]:
        return tuple(member for member in self.walk() if not member.children)


@dataclass(frozen=True)
class PoolTree:
    name: str
    state: str
    scans: tuple[Scan, ...]
    remove: str
    expand: str
    checkpoint: str
    tops: tuple[Member, ...]  # data, log, special, dedup; cache devices and spares too, as each can hold a disk

    def find(self, guid: str) -> tuple[Member, ...]:
        """From the top-level vdev down to the vdev with this guid; empty when there is none. Raises Unread for two."""
        found = [trail for top in self.tops for trail in _trails(top, ()) if trail[-1].guid == guid]
        if len(found) > 1:
            # A spare in use is in the tree and, under the same guid, in the list of spares.
            found = [trail for trail in found if len(trail) > 1 or trail[0].state not in SPARE_STATES]
        if len(found) > 1:
            raise Unread(f"{self.name} shows the vdev {guid} {len(found)} times")
        return found[0] if found else ()

    def leaves(self) -> tuple[Member, ...]:
        return tuple(leaf for top in self.tops for leaf in top.leaves())


@dataclass(frozen=True)
class Status:
    """Both texts of one moment and what they show."""

    captures: tuple[Capture, ...]
    pools: tuple[PoolTree, ...]

    def pool(self, name: str) -> PoolTree:
        found = [pool for pool in self.pools if pool.name == name]
        if len(found) != 1:
            raise Unread(f"{len(found)} pools named {name} are imported on this node")
        return found[0]


def captures(host: Host) -> tuple[Capture, ...]:
    return (*zpool_status.collect(host), *zpool_status_guid.collect(host))


def read(captures: tuple[Capture, ...]) -> Status:
    """Raises Unread."""
    by_name, by_guid = (_pools(capture) for capture in captures)
    if [pool.name for pool in by_name] != [pool.name for pool in by_guid]:
        raise Unread("two readings of `zpool status` show different pools")
    return Status(captures, tuple(_joined(named, guided) for named, guided in zip(by_name, by_guid)))


def pool_guid(host: Host, pool: PoolTree) -> str:
    """The pool's guid as labels of its ONLINE members say it. Raises Unread when none does or two disagree."""
    guids: list[int] = []
    online = [leaf for leaf in pool.leaves() if leaf.state == "ONLINE" and leaf.name.startswith("/")]
    for leaf in online[:LABELS_TRIED_MAX]:
        label = label_on(host, pool, leaf)
        if label is not None and label.pool_guid is not None:
            guids.append(label.pool_guid)
        if len(guids) == LABELS_WANTED:
            break
    if not guids:
        raise Unread(f"no label of an ONLINE member of {pool.name} could be read")
    if len(set(guids)) > 1:
        raise Unread(f"labels of {pool.name} disagree about its guid: {', '.join(str(guid) for guid in sorted(set(guids)))}")
    return str(guids[0])


def label_on(host: Host, pool: PoolTree, leaf: Member) -> Label | None:
    """The one label on the disk of a leaf, where it is this leaf's own."""
    try:
        device = host.link(leaf.name)
    except OSError:
        return None
    capture = ask(
        host,
        zdb_label.NAME,
        ("zdb", "-l", device_path(device.removeprefix("/dev/"))),
        zdb_label.TIMEOUT_SECONDS,
        data_exits=zdb_label.EXITS,
    )
    labels = value_of(capture, zdb_label.parse)
    if isinstance(labels, Unparsed) or len(labels.labels) != 1:
        return None
    label = labels.labels[0]
    return label if str(label.guid) == leaf.guid and label.name == pool.name else None


def _pools(capture: Capture) -> tuple[Pool, ...]:
    if capture.outcome != "data":
        raise Unread(capture.reason)
    pools = zpool_status.parse(capture.text)
    if isinstance(pools, Unparsed):
        raise Unread(f"{capture.source}: {pools.reason}: {pools.line!r}")
    return pools


def _joined(named: Pool, guided: Pool) -> PoolTree:
    pairs = list(zip(_below_root(named), _below_root(guided)))
    if len(_below_root(named)) != len(_below_root(guided)):
        raise Unread(f"two readings of `zpool status` show different trees of {named.name}")
    tops = tuple(replace(_member(name, guid, named.name), role=role) for (role, name), (_, guid) in pairs)
    return PoolTree(named.name, named.state, named.scans, named.remove, named.expand, named.checkpoint, tops)


def _below_root(pool: Pool) -> tuple[tuple[str, Vdev], ...]:
    """Each with its role; a heading that is not known is a role of its own name."""
    aside = ((ROLES.get(heading, heading), vdev) for heading, vdevs in pool.sections for vdev in vdevs)
    return (*(("data", vdev) for vdev in pool.vdevs.children), *aside)


def _member(named: Vdev, guided: Vdev, pool: str) -> Member:
    if len(named.children) != len(guided.children) or named.state != guided.state or not guided.name.isdecimal():
        raise Unread(f"two readings of `zpool status` show different trees of {pool}")
    children = tuple(_member(a, b, pool) for a, b in zip(named.children, guided.children))
    return Member(guided.name, named.name, named.state, named.was, children, named.resilvering or named.awaiting_resilver)


def _trails(member: Member, above: tuple[Member, ...]) -> Iterator[tuple[Member, ...]]:
    trail = (*above, member)
    yield trail
    for child in member.children:
        yield from _trails(child, trail)
