"""What the entries of ZFS's list of damaged data are, and what brings each back.

The list names a file by its path where its dataset is mounted, else by dataset and path; what has no name by its object number
(lib/libzfs/libzfs_pool.c:zpool_obj_to_path, zfs-0.8.6 to zfs-2.4.0). A snapshot is written as DATASET@SNAPSHOT.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from agents.collectors.zpool_status_errors import WHERE, snapshot_of
from workflows.facts import PoolFacts, known
from workflows.facts.read.data_errors import DataErrors

NAMED = 6  # entries in a sentence


@dataclass(frozen=True)
class Kind:
    one: str
    many: str
    cure: str  # a sentence


FILE = Kind(
    "file",
    "files",
    "Restore each from a copy, or delete it. Copy out first what can still be read of it. A snapshot that holds the file stays damaged.",
)
IN_SNAPSHOT = Kind(
    "file of a snapshot",
    "files of snapshots",
    "Nothing is written into a snapshot. A scrub names a block once: the file itself and other snapshots can share it. From a stream that was sent elsewhere `zfs receive -c` mends it, in 2.2 and newer; else the entry ends "
    "when the snapshot is destroyed.",
)
OBJECT = Kind(
    "object without a name",
    "objects without a name",
    "A file that is gone since, or one that zpool cannot name. Where it is gone the next scrub ends the entry; "
    "else `zdb -dddd DATASET NUMBER` on the node names it, by reading only.",
)
DATASET = Kind(
    "dataset's own record",
    "datasets' own records",
    "It finds the other objects of that dataset, so more can be out of reach than the list has. Copy out what can be read, and restore the dataset.",
)
POOL = Kind(
    "record of the pool itself",
    "records of the pool itself",
    "Copy out everything that can be read before anything else. If the entry stays after two scrubs, the pool has to be made anew.",
)
GONE = Kind("object of a dataset that is gone", "objects of datasets that are gone", "Nothing is left to restore. A scrub ends the entry.")
KINDS = (POOL, DATASET, FILE, IN_SNAPSHOT, OBJECT, GONE)  # the gravest first


@dataclass(frozen=True)
class Group:
    kind: Kind
    entries: tuple[str, ...]

    @property
    def count(self) -> str:
        return f"{len(self.entries)} {self.kind.one if len(self.entries) == 1 else self.kind.many}"

    @property
    def words(self) -> str:
        more = f" and {len(self.entries) - NAMED} more" if len(self.entries) > NAMED else ""
        named = ", ".join(entry.replace("\n", "\\n") for entry in self.entries[:NAMED])  # a name can have a line break
        return f"{self.count}: {named}{more}. {self.kind.cure}"


def kind_of(entry: str) -> Kind:
    found = WHERE.fullmatch(entry)
    if entry.startswith("/") or found is None:
        return FILE
    where, what = found["where"], found["what"]
    if where == "<metadata>":
        return POOL
    if where.startswith("<"):
        return GONE
    if what in ("<0x0>", "<metadata>"):
        return DATASET
    return IN_SNAPSHOT if snapshot_of(entry) else OBJECT if what.startswith("<") else FILE


def groups(entries: Iterable[str]) -> tuple[Group, ...]:
    by_kind: dict[Kind, list[str]] = {}
    for entry in entries:
        by_kind.setdefault(kind_of(entry), []).append(entry)
    return tuple(Group(kind, tuple(by_kind[kind])) for kind in KINDS if kind in by_kind)


def left_out(pool: PoolFacts) -> int:
    """Entries that the pool has and the list of the node does not."""
    return pool.error_list.left_out if known(pool.error_list) else 0


def amount(pool: PoolFacts, errors: DataErrors) -> str:
    """ "3 files, 1 file of a snapshot", or how many places where no list was read."""
    if errors.listed:
        more = f", and {left_out(pool)} more" if left_out(pool) else ""
        return ", ".join(group.count for group in groups(errors.listed)) + more
    return f"{errors.count} places" if errors.count != 1 else "1 place"
