"""What the sources of a node are called in words that a storage engineer uses, for reasons that people read."""

from __future__ import annotations

WORDS = {
    "block": "list of block devices",
    "boot_tool": "list of proxmox-boot-tool",
    "dbgmsg": "ZFS debug log (/proc/spl/kstat/zfs/dbgmsg)",
    "disk_links": "/dev/disk links",
    "drive_modes": "SCSI mode pages",
    "enclosure": "enclosure slots in sysfs",
    "io_counters": "SCSI command counters",
    "kernel_log": "kernel log",
    "kstat_dmu_tx": "dmu_tx statistics",
    "kstat_pools": "pool statistics in /proc/spl/kstat/zfs",
    "kstat_txgs": "txg statistics",
    "light_tools": "lists of ledctl, sas3ircu and storcli",
    "lsscsi": "lsscsi",
    "mdb": "mdb session",
    "mounts": "list of mounts",
    "multipath": "multipath maps",
    "node": "host name, hostid and versions",
    "parameters": "module parameters",
    "sas_phys": "SAS phy counters",
    "sas_topology": "SAS topology",
    "ses": "enclosure status pages",
    "sg_logs": "SCSI log pages",
    "smart": "SMART report",
    "sysctl": "sysctl settings",
    "zdb_config": "zdb -C",
    "zdb_label": "ZFS label",
    "zdb_uberblocks": "uberblocks",
    "zfs_snapshots": "zfs get of snapshots",
    "zfs_get": "zfs get",
    "zpool_events": "zpool events",
    "zpool_get": "zpool get",
    "zpool_history": "zpool history",
    "zpool_import": "zpool import",
    "zpool_iostat": "zpool iostat",
    "zpool_iostat_w": "zpool iostat -w",
    "zpool_list": "zpool list",
    "zpool_status": "zpool status",
    "zpool_status_errors": "zpool status -v",
    "zpool_status_guid": "zpool status -g",
    "zpool_status_json": "zpool status -j",
    "zpool_status_slow": "zpool status -s",
}
PLURAL = frozenset(
    [
        "disk_links",
        "drive_modes",
        "enclosure",
        "io_counters",
        "kstat_dmu_tx",
        "kstat_pools",
        "kstat_txgs",
        "multipath",
        "node",
        "parameters",
        "sas_phys",
        "ses",
        "sg_logs",
        "sysctl",
        "zdb_uberblocks",
    ]
)


def of(where: str) -> str:
    """The source "zpool_status" or "zdb_label/sda1" in words: "zpool status", "ZFS label of sda1"."""
    source, _, key = where.partition("/")
    return WORDS.get(source, source.replace("_", " ")) + (f" of {key}" if key else "")


def not_read(where: str) -> str:
    """The reason of what is not known because the node was not asked for it, or it was not pasted."""
    source = where.partition("/")[0]
    return f"The node's {of(where)} {'were' if source in PLURAL else 'was'} not read."
