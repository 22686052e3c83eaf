"""What the twin's kernel says of itself: statistics of ZFS, module parameters, its log.

Everything follows from the node's state; a file that changes by itself on a real node (transaction groups) stands still here.
"""

from collections.abc import Iterator, Sequence

from twin.disk_names import is_scsi
from twin.model import Node, Pool
from twin.tree import Tree
from twin.vdevs import pool_state

KSTAT = "/proc/spl/kstat/zfs"
MODULE = "/sys/module/zfs/parameters"
TXGS_SHOWN = 4
TXG_NS = 5_000_000_000
MODULE_LOADED_SECONDS = 21.0
IMPORTED_SECONDS = 64.0

TXG_FORMAT = "%-8s %-16s %-5s %-12s %-12s %-12s %-8s %-8s %-12s %-12s %-12s %-12s"
TXG_HEADING = ["txg", "birth", "state", "ndirty", "nread", "nwritten", "reads", "writes", "otime", "qtime", "wtime", "stime"]
MMP_FORMAT = "%-10s %-10s %-10s %-6s %-10s %-12s %-24s %-10s %s"
MMP_HEADING = ["id", "txg", "timestamp", "error", "duration", "mmp_delay", "vdev_guid", "vdev_label", "vdev_path"]
PROGRESS_FORMAT = "%-20s %-14s %-14s %-12s %s"
PROGRESS_HEADING = ["pool_guid", "load_state", "multihost_secs", "max_txg", "pool_name"]
WAITS = (
    *("assigned", "delay", "error", "suspended", "group", "memory_reserve", "memory_reclaim", "dirty_throttle", "dirty_delay"),
    *("dirty_over_max", "dirty_frees_delay", "wrlog_delay", "quota"),
)

# What OpenZFS 2.1 and 2.3 have by default, among the parameters that are asked for.
DEFAULTS: dict[str, int] = {
    "spa_load_verify_data": 1,
    "spa_load_verify_metadata": 1,
    "zfs_dbgmsg_enable": 1,
    "zfs_dbgmsg_maxsize": 4194304,
    "zfs_dirty_data_sync_percent": 20,
    "zfs_max_missing_tvds": 0,
    "zfs_multihost_fail_intervals": 10,
    "zfs_multihost_history": 0,
    "zfs_multihost_import_intervals": 20,
    "zfs_multihost_interval": 1000,
    "zfs_no_scrub_io": 0,
    "zfs_no_scrub_prefetch": 0,
    "zfs_prefetch_disable": 0,
    "zfs_rebuild_scrub_enabled": 1,
    "zfs_rebuild_vdev_limit": 67108864,
    "zfs_resilver_disable_defer": 0,
    "zfs_resilver_min_time_ms": 3000,
    "zfs_scan_ignore_errors": 0,
    "zfs_scan_legacy": 0,
    "zfs_scan_mem_lim_fact": 20,
    "zfs_scan_suspend_progress": 0,
    "zfs_scan_vdev_limit": 16777216,
    "zfs_scrub_min_time_ms": 1000,
    "zfs_vdev_async_read_max_active": 3,
    "zfs_vdev_async_read_min_active": 1,
    "zfs_vdev_async_write_max_active": 10,
    "zfs_vdev_async_write_min_active": 2,
    "zfs_vdev_max_active": 1000,
    "zfs_vdev_nia_credit": 5,
    "zfs_vdev_nia_delay": 5,
    "zfs_vdev_rebuild_max_active": 3,
    "zfs_vdev_rebuild_min_active": 1,
    "zfs_vdev_scrub_max_active": 3,
    "zfs_vdev_scrub_min_active": 1,
    "zfs_vdev_sync_read_max_active": 10,
    "zfs_vdev_sync_read_min_active": 10,
    "zfs_vdev_sync_write_max_active": 10,
    "zfs_vdev_sync_write_min_active": 10,
    "zio_dva_throttle_enabled": 1,
    "zio_slow_io_ms": 30000,
}
SINCE_2_3 = {"zfs_resilver_defer_percent": 10}


def defaults(node: Node) -> dict[str, int]:
    return {**DEFAULTS, **(SINCE_2_3 if node.release >= (2, 3) else {})}


def build(tree: Tree, node: Node) -> None:
    for name, value in {**{n: str(v) for n, v in defaults(node).items()}, **node.parameters}.items():
        tree.file(f"{MODULE}/{name}", f"{value}\n")
    if node.modprobe:
        tree.file("/etc/modprobe.d/zfs.conf", "".join(f"{line}\n" for line in node.modprobe))
    tree.file("/proc/cmdline", f"BOOT_IMAGE=/vmlinuz-{node.kernel} root=/dev/sda4 ro crashkernel=auto\n")
    tree.file("/proc/stat", f"cpu  0 0 0 0 0 0 0 0 0 0\nbtime {int(node.booted_at)}\nprocesses 4711\n")
    _statistics(tree, node)


def _statistics(tree: Tree, node: Node) -> None:
    heading = PROGRESS_FORMAT % tuple(PROGRESS_HEADING)
    tree.file(f"{KSTAT}/import_progress", (f"{heading:<80} notes" if node.release >= (2, 3) else heading) + "\n")
    tree.file(f"{KSTAT}/dmu_tx", _named((f"dmu_tx_{name}", 0) for name in WAITS))
    tree.file(f"{KSTAT}/dbgmsg", "".join(f"{line}\n" for line in _debug_log(node)))
    for pool in node.imported:
        tree.file(f"{KSTAT}/{pool.name}/state", ("SUSPENDED" if pool.suspended else pool_state(pool)) + "\n")
        if node.release >= (2, 2):
            tree.file(f"{KSTAT}/{pool.name}/guid", f"{pool.guid}\n")
        tree.file(f"{KSTAT}/{pool.name}/txgs", "".join(f"{row}\n" for row in _txgs(pool)))
        tree.file(f"{KSTAT}/{pool.name}/multihost", MMP_FORMAT % tuple(MMP_HEADING) + "\n")
        tree.file(f"{KSTAT}/{pool.name}/dmu_tx_assign", "")  # the kernel prints nothing of it before something has waited


def _named(rows: Iterator[tuple[str, int]]) -> str:
    lines = [f"{name:<31} 4    {value}" for name, value in rows]
    return "\n".join([f"21 1 0x01 {len(lines)} {len(lines) * 272} 31309850390 52443207940", f"{'name':<31} type data", *lines]) + "\n"


def _txgs(pool: Pool) -> Iterator[str]:
    """The last that were committed, and the one that is open. A suspended pool's last one syncs for ever."""
    yield TXG_FORMAT % tuple(TXG_HEADING)
    written = 196608 if pool.discarded_txg else 0  # a pool that was brought back is used again
    for back in range(TXGS_SHOWN, -1, -1):
        txg = pool.txg - back + 1
        state = "C" if back > 1 or (back and not pool.suspended) else "S" if back else "O"
        done = (TXG_NS, 30000, 170000, 900000) if state == "C" else (TXG_NS, 30000, 170000, 0) if state == "S" else (0, 0, 0, 0)
        if txg > 0:
            yield TXG_FORMAT % (txg, txg * TXG_NS, state, 0, 0, written, 0, 0, *done)


def _debug_log(node: Node) -> Iterator[str]:
    yield "timestamp    message "
    for pool in node.imported:
        noted = (
            f"{int(node.booted_at + IMPORTED_SECONDS):<12d} {'ff1efd9185fc4200 ' if node.release >= (2, 3) else ''}"  # 2.3 names the thread
        )
        yield f"{noted}spa.c:6109:spa_import(): spa_import: importing {pool.name}"
        if pool.loaded_txg:
            text = f"spa_load({pool.name}, config untrusted): using uberblock with txg={pool.loaded_txg}"
            yield f"{noted}spa_misc.c:418:spa_load_note(): {text}"


def log_lines(node: Node) -> list[str]:
    """`dmesg`: the module, the disks, and what suspended a pool."""
    lines = [(2.0, f"Linux version {node.kernel} {node.kernel_build}")]
    for disk in node.disks:
        for path in disk.paths if is_scsi(disk) else ():
            blocks = disk.size_bytes // disk.logical_block_bytes
            text = f"sd {path.hctl}: [{path.name}] {blocks} {disk.logical_block_bytes}-byte logical blocks"
            lines += [(7.0, text), (7.5, f"sd {path.hctl}: [{path.name}] Attached SCSI disk")]
    version = f"ZFS: Loaded module v{node.zfs_module}, ZFS pool version 5000, ZFS filesystem version 5"
    lines.append((MODULE_LOADED_SECONDS, version))
    lines += [(IMPORTED_SECONDS + 3590 + i, text) for i, text in enumerate(node.kernel_lines)]
    for pool in node.imported:
        lines += [(IMPORTED_SECONDS + 3600, text) for text in _suspension(node.release, pool)]
    return [f"[{seconds:12.6f}] {text}" for seconds, text in lines]


def _suspension(release: Sequence[int], pool: Pool) -> Iterator[str]:
    """Up to 2.2.3 the second line comes with a multihost suspension too."""
    if pool.suspended == "mmp":
        yield f"WARNING: MMP writes to pool '{pool.name}' have not succeeded in over 10041 ms; suspending pool. Hrtime 3664999374378360"
    if pool.suspended == "io" or (pool.suspended and tuple(release) < (2, 2, 4)):
        yield f"WARNING: Pool '{pool.name}' has encountered an uncorrectable I/O failure and has been suspended."
