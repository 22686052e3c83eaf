"""Every source the agent can ask. To add one: add a file, add it here."""

from agents.collectors import (
    block,
    disk_links,
    drive_modes,
    enclosure,
    io_counters,
    lsscsi,
    mounts,
    multipath,
    node,
    sas_phys,
    sas_topology,
    ses,
    sg_logs,
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
        io_counters,
        ses,
        sas_topology,
        sas_phys,
        multipath,
        sg_logs,
        drive_modes,
    )
}
