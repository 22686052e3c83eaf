"""Labels as the disks hold them: which disk carries which vdev, and what the pool last wrote about each vdev."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from agents.collectors import zdb_label
from agents.collectors._vdevs import Vdev
from agents.collectors.zdb_label import Label, LabelVdev
from agents.collectors.zdb_label import Labels as CollectedLabels
from agents.domain.wwid import normalise
from workflows.facts.model import LabelFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, known

V = TypeVar("V", LabelVdev, Vdev)
SOURCE = zdb_label.NAME


@dataclass(frozen=True)
class Read:
    """What `zdb -l` said of one partition or disk: its labels with their vdev trees, or why they are not known."""

    name: str  # kernel name, "sda1"
    labels: Known[tuple[tuple[LabelFacts, LabelVdev | None], ...]]
    copies: Known[Copies]


@dataclass(frozen=True)
class Copies:
    """The four copies of the label of one partition: each holds a label, holds none, or could not be read."""

    partition: str
    labels: tuple[LabelFacts, ...]  # one for each distinct text
    empty: tuple[int, ...]  # nothing that is a label
    unread: tuple[int, ...]  # the disk gave an error
    bad_checksum: tuple[int, ...] = ()  # of a copy that can be read all the same; zdb says so since 2.2

    @property
    def whole(self) -> bool:
        return len(self.labels) == 1 and not (self.empty or self.unread or self.bad_checksum)


@dataclass(frozen=True)
class Expected:
    """A leaf as the freshest label of its top-level vdev describes it, whether its disk is here or not."""

    pool_guid: int
    pool_name: str
    top_guid: int
    guid: int
    txg: int
    wwid: str | None  # of the stored device id; a hint
    path: str | None
    label_state: int
    named_by: str  # partition that label was read from


class Labels(Mapping[str, Read]):
    """What was read where: by kernel name of a partition or disk."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def __getitem__(self, name: str) -> Read:
        if name not in self:
            raise KeyError(name)
        where = f"{SOURCE}/{name}"
        return self._sources.once(where, lambda: _read(name, self._sources.read(zdb_label, name)))

    def __contains__(self, name: object) -> bool:
        return self._sources.has(f"{SOURCE}/{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources.keys(SOURCE))

    def __len__(self) -> int:
        return len(self._sources.keys(SOURCE))


def _read(key: str, reading: Known[CollectedLabels]) -> Read:
    return Read(key, _labels(key, reading), reading if not known(reading) else _copies(key, reading))


def _copies(key: str, parsed: CollectedLabels) -> Copies:
    bad = tuple(n for label in parsed.labels if label.bad_checksum for n in label.copies)
    return Copies(key, tuple(_facts(key, label) for label in parsed.labels), parsed.failed, parsed.unread, bad)


def _labels(key: str, reading: Known[CollectedLabels]) -> Known[tuple[tuple[LabelFacts, LabelVdev | None], ...]]:
    where = f"{SOURCE}/{key}"
    if not known(reading):
        return reading
    if reading.unread:  # a dead disk is silent, not blank
        return Unknown(f"{where}: the disk does not answer; zdb could not read {len(reading.unread)} of the 4 label copies.")
    return tuple((_facts(key, label), label.tree) for label in reading.labels)


def _facts(partition: str, label: Label) -> LabelFacts:
    own = next((vdev for vdev in (walk(label.tree) if label.tree is not None else ()) if vdev.guid == label.guid), None)
    return LabelFacts(
        partition=partition,
        copies=tuple(label.copies),
        pool_name=label.name,
        pool_guid=label.pool_guid,
        guid=label.guid,
        top_guid=label.top_guid,
        state=label.state,
        txg=label.txg,
        hostid=None if label.hostid is None else int(label.hostid),
        hostname=label.hostname,
        ashift=None if label.tree is None else label.tree.ashift,
        top="" if label.tree is None else _fingerprint(label.tree),
        devid=None if own is None else own.devid,
        phys_path=None if own is None else own.phys_path,
        enc_path=None if own is None else own.enc_path,
        tops=label.vdev_children,
    )


def _fingerprint(tree: LabelVdev) -> str:
    """Equal for two labels that describe one top-level vdev alike. What every disk writes of itself is left out."""
    lines = (f"{vdev.type} {vdev.guid} {vdev.nparity} {vdev.ashift} {len(vdev.children)}" for vdev in walk(tree))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Written:
    """What the freshest label of a top-level vdev says of one of its vdevs."""

    devid: str | None
    ashift: int | None
    filling_since_txg: int | None
    phys_path: str | None = None
    enc_path: str | None = None


@dataclass
class LabelIndex:
    """Labels of one node by vdev guid. `carriers` pairs each with the disk's key: its WWID, or its kernel name when it has none."""

    carriers: dict[int, list[tuple[str, LabelFacts]]] = field(default_factory=dict)
    written: dict[tuple[int, int], Written] = field(default_factory=dict)  # (pool guid, vdev guid)
    expected: tuple[Expected, ...] = ()
    unread: tuple[str, ...] = ()  # where labels could not be read
    blind: str = ""  # why no label can be put to a disk at all

    def absent(self, guid: int) -> Unknown:
        """Why no disk was found for a vdev."""
        if self.blind:
            return Unknown(f"Which disk carries the label of {guid} is not known: {self.blind}")
        unread = f"; the labels on {', '.join(self.unread)} are not known" if self.unread else ""
        return Unknown(f"No disk carries the label of {guid}{unread}.")

    def disks(self, guid: int, pool_guid: int | None) -> frozenset[str]:
        """Disks that claim to be this vdev. A spare's or cache device's label names no pool."""
        return frozenset(disk for disk, label in self.carriers.get(guid, ()) if label.pool_guid in (None, pool_guid))

    def pool_guids(self, guids: Iterable[int]) -> frozenset[int]:
        """The pools that these leaves say they belong to: one, where they agree."""
        return frozenset(label.pool_guid for guid in guids for _, label in self.carriers.get(guid, ()) if label.pool_guid is not None)


def index(reads: Iterable[tuple[str, Read]]) -> LabelIndex:
    """Build the index from (disk key, read) pairs."""
    result, unread = LabelIndex(), []
    freshest: dict[tuple[int, int | None], tuple[int, LabelVdev, LabelFacts]] = {}  # by pool and top-level vdev
    for disk, read in reads:
        if not known(read.labels):
            unread.append(read.name)
            continue
        for label, tree in read.labels:
            result.carriers.setdefault(label.guid, []).append((disk, label))
            pool, top = label.pool_guid, label.top_guid
            if pool is not None and tree is not None and (label.txg or 0) >= freshest.get((pool, top), (-1, None, None))[0]:
                freshest[pool, top] = (label.txg or 0, tree, label)
    for (pool_guid, _), (_, tree, _) in freshest.items():
        result.written.update({(pool_guid, vdev.guid): _written(vdev) for vdev in walk(tree)})
    result.expected = tuple(leaf for (pool, _), (_, tree, label) in freshest.items() for leaf in _expected(pool, tree, label))
    result.unread = tuple(unread)
    return result


def _written(vdev: LabelVdev) -> Written:
    filling = vdev.resilver_txg if vdev.resilver_txg is not None else vdev.rebuild_txg
    return Written(vdev.devid, vdev.ashift, filling, vdev.phys_path, vdev.enc_path)


def _expected(pool_guid: int, tree: LabelVdev, label: LabelFacts) -> Iterator[Expected]:
    for vdev in walk(tree):
        if not vdev.children and vdev.type == "disk":
            yield Expected(
                pool_guid=pool_guid,
                pool_name=label.pool_name or str(pool_guid),
                top_guid=tree.guid,
                guid=vdev.guid,
                txg=label.txg or 0,
                wwid=normalise(vdev.devid) if vdev.devid else None,
                path=vdev.path,
                label_state=label.state,
                named_by=label.partition,
            )


def walk(vdev: V) -> Iterator[V]:
    yield vdev
    for child in vdev.children:
        yield from walk(child)
