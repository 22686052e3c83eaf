"""`zfs get` of snapshots and `zfs destroy` of one, as cmd/zfs/zfs_main.c and lib/libzfs do them at 2.1.16."""

from collections.abc import Sequence

from twin.answer import Answer
from twin.model import Node, Pool, Snapshot

GONE = "<0x8e>:<0x2>"
FLAGS = ("-H", "-p", "-o", "name,property,value")


def get(node: Node, args: Sequence[str]) -> Answer | None:
    """As the agent asks it; None for any other form."""
    if tuple(args[: len(FLAGS)]) != FLAGS or len(args) < len(FLAGS) + 2:
        return None
    properties, names = args[len(FLAGS)].split(","), args[len(FLAGS) + 1 :]
    found = [(name, _find(node, name)) for name in names]
    lines = [f"{name}\t{key}\t{_value(there[1], key)}\n" for name, there in found if there for key in properties]
    missing = [f"cannot open '{name}': dataset does not exist\n" for name, there in found if there is None]
    return Answer(1 if missing else 0, "".join(lines), "".join(missing))


def destroy(node: Node, args: Sequence[str]) -> Answer | None:
    if len(args) != 1 or args[0].startswith("-") or "@" not in args[0]:
        return None
    there = _find(node, args[0])
    if there is None:
        return Answer(1, "", "could not find any snapshots to destroy; check snapshot names.\n")
    pool, snapshot = there
    if snapshot.clones:
        return Answer(
            1,
            "",
            f"cannot destroy '{args[0]}': snapshot has dependent clones\nuse '-R' to destroy the following datasets:\n"
            + "".join(f"{clone}\n" for clone in snapshot.clones),
        )
    if snapshot.holds:
        return Answer(1, "", f"cannot destroy snapshot {args[0]}: dataset is busy\n")
    pool.snapshots.remove(snapshot)
    pool.alloc_bytes -= snapshot.used
    pool.damaged = [entry for entry in pool.damaged if not _is_of(entry, snapshot)]
    # What zpool can no longer name it lists by numbers (lib/libzfs/libzfs_pool.c:zpool_obj_to_path).
    pool.error_log = [GONE if _is_of(entry, snapshot) else entry for entry in pool.error_log]
    return Answer(0)


def _is_of(entry: str, snapshot: Snapshot) -> bool:
    return entry.startswith(f"{snapshot.name}:")


def _find(node: Node, name: str) -> tuple[Pool, Snapshot] | None:
    return next(((pool, one) for pool in node.imported for one in pool.snapshots if one.name == name), None)


def _value(snapshot: Snapshot, key: str) -> str:
    return {
        "type": "snapshot",
        "guid": str(snapshot.guid),
        "createtxg": str(snapshot.createtxg),
        "creation": str(snapshot.created),
        "userrefs": str(snapshot.holds),
        "clones": ",".join(snapshot.clones) or "-",
        "used": str(snapshot.used),
        "referenced": str(snapshot.referenced),
    }.get(key, "-")
