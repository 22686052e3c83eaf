"""What the twin remembers: `zpool history` of each pool and `zpool events` since the boot.

A pool's history begins with its creation and has every command that succeeded, as the kernel keeps it; the events follow from
what the node is: pools imported, leaves that left ONLINE, scans begun and ended, pools suspended.
"""

import re
import time
from collections.abc import Iterator, Sequence

from twin.kernel import IMPORTED_SECONDS
from twin.model import Deed, Node, Pool, Scan, Vdev

AGE_SECONDS = 240 * 86400  # of a pool, before this boot
FUNCTION = {"scrub": 1, "resilver": 2}
VDEV_STATES = {"OFFLINE": 2, "REMOVED": 3, "UNAVAIL": 4, "FAULTED": 5, "DEGRADED": 6, "ONLINE": 7}


def record(node: Node, argv: Sequence[str], at: float) -> None:
    """Keep a `zpool` or `zfs` command that succeeded in the history of its pool."""
    pool = next((p for p in node.imported if p.name == re.split("[/@]", argv[2])[0]), None) if len(argv) > 2 else None
    if pool is not None:
        pool.deeds.append(Deed(at, " ".join(argv)))


def history(node: Node, pool: Pool, internal: bool, long: bool) -> str:
    by = f" [user 0 (root) on {node.hostname}:linux]" if long else ""
    deeds = sorted((*_began(node, pool), *_scanned(pool), *pool.deeds), key=lambda deed: deed.at)
    lines = [f"{_stamp(deed.at)} {_text(node, deed, by, long)}" for deed in deeds if internal or not deed.txg]
    return "\n".join([f"History for '{pool.name}':", *lines]) + "\n\n"


def _text(node: Node, deed: Deed, by: str, long: bool) -> str:
    if not deed.txg:
        return deed.text + by
    return f"[txg:{deed.txg}] {deed.text}" + (f" [on {node.hostname}]" if long else "")


def _began(node: Node, pool: Pool) -> Iterator[Deed]:
    at = node.booted_at - AGE_SECONDS
    uts = f"uts {node.hostname} {node.kernel} {node.kernel_build} x86_64"
    yield Deed(at, f"create pool version 5000; software version zfs-{node.zfs_module}; {uts}", 4)
    yield Deed(at, f"zpool create -o ashift=12 -o multihost=off {pool.name} {' '.join(_layout(pool))}")
    yield Deed(node.booted_at + IMPORTED_SECONDS, f"zpool import -N -d /dev/disk/by-id {pool.name}")


def _layout(pool: Pool) -> Iterator[str]:
    """The words that make such a pool of the disks it has by now; an absent one keeps its old name."""
    for top in pool.tops:
        if top.cls != "data":
            yield top.cls
        if top.children:
            yield f"{top.type}{top.nparity or ''}"
        yield from (leaf.path.replace("-part1", "") for leaf in top.leaves())


def _scanned(pool: Pool) -> Iterator[Deed]:
    scan = pool.scan
    if scan is not None:
        yield Deed(scan.started_at, f"scan setup func={FUNCTION[scan.function]} mintxg=3 maxtxg={pool.txg}", pool.txg)
        if scan.state == "finished":
            yield Deed(scan.ends_at, f"scan done errors={scan.errors}", pool.txg)


def events(node: Node) -> str:
    """`zpool events -v`: the oldest first, numbered since the module was loaded."""
    found = sorted(_events(node), key=lambda event: event[0])
    return "TIME                           CLASS\n" + "".join(_event(eid, *event) for eid, event in enumerate(found, 1))


HistoryLine = tuple[float, str, Pool, list[str]]


def _events(node: Node) -> Iterator[HistoryLine]:
    for pool in node.imported:
        began = node.booted_at + IMPORTED_SECONDS
        yield began, "sysevent.fs.zfs.pool_import", pool, []
        yield began + 1, "sysevent.fs.zfs.config_sync", pool, []
        for leaf in pool.leaves():
            if leaf.state in VDEV_STATES and leaf.state != "ONLINE":
                yield began + 2, "resource.fs.zfs.statechange", pool, _vdev(leaf)
        if pool.scan is not None:
            yield from _scan_events(pool, pool.scan)
        if pool.suspended:
            yield began + 3600, "ereport.fs.zfs.io_failure", pool, ['pool_failmode = "wait"']


def _scan_events(pool: Pool, scan: Scan) -> Iterator[HistoryLine]:
    kind = ['resilver_type = "healing"'] if scan.function == "resilver" else []
    yield scan.started_at, f"sysevent.fs.zfs.{scan.function}_start", pool, kind
    if scan.state == "finished":
        yield scan.ends_at, f"sysevent.fs.zfs.{scan.function}_finish", pool, kind


def _vdev(leaf: Vdev) -> list[str]:
    state = f'"{leaf.state}" (0x{VDEV_STATES[leaf.state]:x})'
    return [f"vdev_guid = 0x{leaf.guid:x}", f"vdev_state = {state}", f'vdev_path = "{leaf.path}"', 'vdev_laststate = "ONLINE" (0x7)']


def _event(eid: int, at: float, kind: str, pool: Pool, fields: list[str]) -> str:
    seconds, nanoseconds = int(at), 1000 * int(at % 1 * 1_000_000)
    when = time.strftime("%b %d %Y %H:%M:%S", time.gmtime(seconds))
    common = ["version = 0x0", f'class = "{kind}"', f'pool = "{pool.name}"', f"pool_guid = 0x{pool.guid:x}", "pool_state = 0x0"]
    lines = [*common, "pool_context = 0x0", *fields, f"time = 0x{seconds:x} 0x{nanoseconds:x} ", f"eid = 0x{eid:x}"]
    return f"{when}.{nanoseconds:09d} {kind}\n" + "".join(f"        {line}\n" for line in lines) + "\n"


def _stamp(at: float) -> str:
    return time.strftime("%Y-%m-%d.%H:%M:%S", time.gmtime(at))
