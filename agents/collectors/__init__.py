"""Every source the agent can ask. To add one: add a file, add it here."""

from agents.collectors import (
    block,
    dbgmsg,
    disk_links,
    enclosure,
    kernel_log,
    kstat_dmu_tx,
    kstat_pools,
    kstat_txgs,
    lsscsi,
    mdb,
    mounts,
    node,
    parameters,
    smart,
    sysctl,
    zdb_label,
    zpool_events,
    zpool_history,
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
        kstat_pools,
        kstat_txgs,
        kstat_dmu_tx,
        dbgmsg,
        zpool_events,
        zpool_history,
        parameters,
        kernel_log,
        sysctl,
        mdb,
    )
}
