"""Every source the agent can ask. To add one: add a file, add it here."""

from agents.collectors import (
    block,
    disk_links,
    enclosure,
    lsscsi,
    mounts,
    node,
    smart,
    zdb_config,
    zdb_label,
    zdb_uberblocks,
    zpool_get,
    zpool_import,
    zpool_iostat,
    zpool_iostat_w,
    zpool_list,
    zpool_status,
    zpool_status_guid,
    zpool_status_json,
    zpool_status_slow,
)

COLLECTORS = {
    module.NAME: module
    for module in (
        zpool_status,
        zpool_status_guid,
        zpool_status_json,
        zpool_status_slow,
        zpool_import,
        zpool_list,
        zpool_get,
        zpool_iostat,
        zpool_iostat_w,
        zdb_label,
        zdb_uberblocks,
        zdb_config,
        lsscsi,
        block,
        disk_links,
        enclosure,
        node,
        mounts,
        smart,
    )
}
