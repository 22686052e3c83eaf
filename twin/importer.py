"""`zpool import POOL` with its options, and `zpool export`: refusals in the words of OpenZFS 2.1, then the effect.

    named -> not active elsewhere -> last used here, or forced -> opens -> its metadata can be read -> imported

`-F -n` is no dry run where nothing has to be discarded: the pool is imported then, as by the real tool. `-T` is an upper bound, as
there: a txg that never was imports the pool too. A read-only import writes no label, and nor does exporting one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.collectors.zdb_label import DESTROYED
from twin import disk_names
from twin.answer import Answer, refused
from twin.figures import ctime
from twin.importing import LISTED_WITHOUT_LOGS, is_damaged, last_user, was_elsewhere
from twin.model import Node, Pool, Vdev
from twin.tables import RINGS, TXG_SECONDS, WRITTEN_AT
from twin.vdevs import pool_state, state_of

WITH_VALUE = ("-o", "-R", "-d", "-T", "-c")
FLAGS = ("-N", "-f", "-m", "-F", "-n")
BY_ID = "/dev/disk/by-id"
DEFERRED_TXGS = 2  # how far -F goes back
DESTROY = "\tDestroy and re-create the pool from\n\ta backup source.\n"


@dataclass
class Wanted:
    """What the command line asks for."""

    word: str = ""
    flags: set[str] = field(default_factory=set)
    options: dict[str, str] = field(default_factory=dict)
    altroot: str = ""
    folder: str = ""  # of -d
    txg: int = 0


def parse(args: Sequence[str]) -> Wanted | None:
    """None for a command line the twin has no honest answer to."""
    wanted, words = Wanted(), list(args)
    while words:
        word = words.pop(0)
        if word in WITH_VALUE:
            if not words or not _take(wanted, word, words.pop(0)):
                return None
        elif word in FLAGS:
            wanted.flags.add(word)
        elif word.startswith("-") or wanted.word:
            return None
        else:
            wanted.word = word
    tries = "-n" in wanted.flags and not ("-F" in wanted.flags or wanted.txg)
    return wanted if wanted.word and not tries else None


def _take(wanted: Wanted, option: str, value: str) -> bool:
    if option == "-o":
        name, _, setting = value.partition("=")
        wanted.options[name] = setting
    elif option == "-R":
        wanted.altroot = value
    elif option == "-d":
        wanted.folder = value
    elif option == "-T":
        wanted.txg = int(value) if value.isdigit() else 0
    return option != "-c" and (option != "-T" or wanted.txg > 0)


def readable(pool: Pool) -> int:
    """The newest txg that can be loaded."""
    return pool.readable_txg or pool.txg - -(-pool.rewind_seconds // TXG_SECONDS)


def _goes_back_enough(node: Node, pool: Pool, wanted: Wanted) -> bool:
    """Whether what is asked for comes by a txg that can be loaded and that the rings still hold."""
    if wanted.txg:
        return min(wanted.txg, readable(pool)) >= _oldest(node, pool)
    return "-F" in wanted.flags and pool.txg - readable(pool) <= DEFERRED_TXGS


def _oldest(node: Node, pool: Pool) -> int:
    labels = (p.label for disk in node.disks for p in disk.partitions if p.label and p.label.pool == pool.name)
    return min((txg for label in labels for txg, _ in label.ring), default=pool.txg - RINGS + 1)


def bring_in(node: Node, wanted: Wanted, now: float = 0.0) -> Answer:
    pool = _found(node, wanted.word)
    if pool is None:
        return refused(1, f"cannot import '{wanted.word}': no such pool available")
    if any(other.imported and other.name == pool.name for other in node.pools):
        again = "use the form 'zpool import <pool | id> <newpool>' to give it a new name"
        return refused(1, f"cannot import '{pool.name}': a pool with that name already exists\n{again}")
    return _elsewhere(node, pool, wanted) or _unreadable(node, pool, wanted) or _imported(node, pool, wanted, now)


def _found(node: Node, word: str) -> Pool | None:
    """By guid only what is not imported; by name also what is, which is then refused."""
    here = _labels(node)
    by_guid = [p for p in node.pools if str(p.guid) == word and not p.imported and p.state != DESTROYED]
    by_name = [p for p in node.pools if p.name == word and p.state != DESTROYED]
    return next((p for p in (*by_guid, *by_name) if p.imported or p.name in here), None)


def _labels(node: Node) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for disk in node.disks:
        for partition in disk.partitions:
            if partition.label and partition.label.copies and disk.wwid not in node.faults.hangs:
                found.setdefault(partition.label.pool, set()).add(partition.label.guid)
    return found


def _elsewhere(node: Node, pool: Pool, wanted: Wanted) -> Answer | None:
    advice = "Export the pool on the other system, then run 'zpool import'."
    if pool.active_on:
        host, hostid = pool.active_on.split()
        forced = f"pool is imported on host '{host}' (hostid={hostid})."
        asked = f"pool is imported on {host} (hostid: 0x{hostid})"
        return refused(1, f"cannot import '{pool.name}': {forced if '-f' in wanted.flags else asked}\n{advice}")
    if was_elsewhere(node, pool) and "-f" not in wanted.flags:
        hostname, last_hostid = last_user(node, pool)
        last = f"Last accessed by {hostname} (hostid={last_hostid:x}) at {ctime(WRITTEN_AT)}"
        how = "The pool can be imported, use 'zpool import -f' to import the pool."
        return refused(1, f"cannot import '{pool.name}': pool was previously in use from another system.\n{last}\n{how}")
    return None


def _unreadable(node: Node, pool: Pool, wanted: Wanted) -> Answer | None:
    open_members(node, pool)
    if "-m" not in wanted.flags and any(map(is_lost, pool.tops)):
        _close(pool)
        return _log_is_lost(node, pool)
    if pool_state(pool) == "UNAVAIL":
        _close(pool)
        return Answer(1, DESTROY, f"cannot import '{pool.name}': no such pool or dataset\n")
    if not is_damaged(node, pool):
        return None
    rewinds = "-F" in wanted.flags or wanted.txg > 0
    enough = bool(pool.rewind_seconds) and _goes_back_enough(node, pool, wanted)
    if enough and "-n" not in wanted.flags:
        return None
    _close(pool)
    if enough:
        return _would_rewind(pool)
    if pool.rewind_seconds and not rewinds and pool.txg - readable(pool) <= DEFERRED_TXGS:
        return _rewind_offer(pool)
    if "-n" in wanted.flags:
        return Answer(1)
    if rewinds:
        return refused(1, f"cannot import '{pool.name}': one or more devices is currently unavailable")
    return Answer(1, DESTROY, f"cannot import '{pool.name}': I/O error\n")


def is_lost(top: Vdev) -> bool:
    return top.cls == "log" and state_of(top) == "UNAVAIL"


def _log_is_lost(node: Node, pool: Pool) -> Answer:
    rows = "".join(
        f"\t    {leaf.path.rpartition('/')[2]}  UNAVAIL  cannot open\n" for top in pool.tops if top.cls == "log" for leaf in top.leaves()
    )
    text = f"The devices below are missing or corrupted, use '-m' to import the pool anyway:\n{rows}\n"
    return Answer(1, text, f"cannot import '{pool.name}': one or more devices is currently unavailable\n")


def _would_rewind(pool: Pool) -> Answer:
    text = f"Would be able to return {pool.name} to its state as of {ctime(pool.readable_at or WRITTEN_AT)}.\n"
    return Answer(1, f"{text}Would discard approximately {pool.rewind_seconds} seconds of transactions.\n")


def _rewind_offer(pool: Pool) -> Answer:
    text = (
        "\tRecovery is possible, but will result in some data loss.\n"
        f"\tReturning the pool to its state as of {ctime(pool.readable_at or WRITTEN_AT)}\n"
        f"\tshould correct the problem.  Approximately {pool.rewind_seconds} seconds of data\n"
        "\tmust be discarded, irreversibly.  Recovery can be attempted\n"
        f"\tby executing 'zpool import -F {pool.name}'.  A scrub of the pool\n"
        "\tis strongly recommended after recovery.\n"
    )
    return Answer(1, text, f"cannot import '{pool.name}': I/O error\n")


def open_members(node: Node, pool: Pool) -> None:
    """A leaf whose label is not found keeps its old name and is known by its guid."""
    here = _labels(node).get(pool.name, set())
    for leaf in pool.leaves():
        if leaf.guid in here:
            leaf.state, leaf.aux, leaf.not_present = "ONLINE", "", False
        elif leaf.state != "OFFLINE":
            leaf.state, leaf.aux, leaf.not_present = "UNAVAIL", "bad_label", True


def _close(pool: Pool) -> None:
    for leaf in pool.leaves():
        if leaf.aux == "bad_label":
            leaf.state, leaf.aux, leaf.not_present = "ONLINE", "", False


def _imported(node: Node, pool: Pool, wanted: Wanted, now: float) -> Answer:
    pool.imported, pool.readonly, pool.altroot = True, wanted.options.get("readonly") == "on", wanted.altroot
    pool.cachefile, pool.cached = wanted.options.get("cachefile", ""), False
    pool.loaded_txg = min(wanted.txg or readable(pool), readable(pool))
    if "-m" in wanted.flags and node.release < LISTED_WITHOUT_LOGS and any(is_lost(top) for top in pool.tops):
        pool.spares, pool.caches = [], []  # they are not in the configuration that spa_tryimport returns before 2.1.12 (OpenZFS #14794)
    if wanted.folder == BY_ID:
        _names_from_there(node, pool)
    if not pool.readonly:
        _begin_to_write(node, pool, now)
    return Answer(0)


def _names_from_there(node: Node, pool: Pool) -> None:
    """A member found there has its name from there, unless the stored one is among those (fix_paths in lib/libzutil/zutil_import.c)."""
    seats = {p.label.guid: (disk, p.number) for disk in node.disks for p in disk.partitions if p.label and p.label.pool == pool.name}
    for leaf in (*pool.leaves(), *pool.spares, *pool.caches):
        seat = seats.get(leaf.guid)
        if seat is not None and not leaf.not_present and not leaf.path.startswith(BY_ID):
            leaf.path = f"{disk_names.by_id(seat[0])}-part{seat[1]}" if seat[1] else disk_names.whole(seat[0])


def _begin_to_write(node: Node, pool: Pool, now: float) -> None:
    """Only writing makes a rewind final, and this host the one that used the pool last. The labels of the disks that are here follow."""
    if pool.loaded_txg < pool.txg:
        pool.written_since, pool.discarded_txg = now, pool.txg
    pool.rewind_seconds, pool.readable_txg, pool.state, pool.txg = 0, 0, 0, pool.loaded_txg + 1
    pool.hostid, pool.hostname = int(node.hostid, 16), node.hostname
    for partition in (p for disk in node.disks for p in disk.partitions):
        if partition.label and partition.label.pool == pool.name:
            partition.label.txg, partition.label.writer, partition.label.ring = pool.txg, "", []


def goes_on(node: Node, now: float) -> bool:
    return any(pool.txg != _txg_by(pool, now) for pool in node.imported)


def go_on(node: Node, now: float) -> None:
    """A pool that went back writes on, and passes at last what it left behind in its rings."""
    for pool in node.imported:
        pool.txg = _txg_by(pool, now)
        if pool.txg > pool.discarded_txg + 1:
            pool.written_since = 0.0


def _txg_by(pool: Pool, now: float) -> int:
    if not pool.written_since:
        return pool.txg
    return pool.loaded_txg + 1 + max(0, int((now - pool.written_since) // TXG_SECONDS))


def let_go(node: Node, args: Sequence[str]) -> Answer | None:
    words: list[str] = list(args)
    if len(words) != 1 or words[0].startswith("-"):
        return None
    pool = next((p for p in node.imported if p.name == words[0]), None)
    if pool is None:
        return refused(1, f"cannot open '{words[0]}': no such pool")
    pool.imported, pool.altroot, pool.cachefile = False, "", ""
    if not pool.readonly:
        pool.state = 1
    pool.readonly = False
    _close(pool)
    return Answer(0)
