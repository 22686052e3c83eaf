"""Every source the agent can ask. To add one: add a file, add it here."""

from agents.collectors import (
    block,
    disk_links,
    enclosure,
    lsscsi,
    mounts,
    node,
    smart,
    zdb_label,
    zpool_import,
    zpool_status,
    zpool_status_guid,
    zpool_status_json,
)

COLLECTORS = {
    module.NAME: module
    for module in (
        zpool_status,
        zpool_status_guid,
        zpool_status_json,
        zpool_import,
        zdb_label,
        lsscsi,
        block,
        disk_links,
        enclosure,
        node,
        mounts,
        smart,
    )
}
