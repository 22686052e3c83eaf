"""The closed catalogue: everything the portal can ask of a node. To add one: add a file, add it here."""

from agents.operations import (
    disk_delete,
    disk_rescan,
    locate_led,
    look,
    plan,
    set_drive_mode,
    set_tunable,
    smart_self_test,
    zpool_bring_back,
    zpool_clear,
    zpool_detach,
    zpool_export_readonly,
    zpool_import_dry_run,
    zpool_import_readonly,
    zpool_import_rewind,
    zpool_import_txg,
    zpool_import_writable,
    zpool_offline,
    zpool_online,
    zpool_replace,
    zpool_rewind,
    zpool_scrub,
)

OPERATIONS = {
    module.NAME: module
    for module in (
        look,
        plan,
        zpool_replace,
        locate_led,
        zpool_offline,
        zpool_online,
        zpool_detach,
        zpool_import_readonly,
        zpool_import_dry_run,
        zpool_import_rewind,
        zpool_import_txg,
        zpool_import_writable,
        zpool_rewind,
        zpool_export_readonly,
        disk_delete,
        disk_rescan,
        set_tunable,
        set_drive_mode,
        smart_self_test,
        zpool_clear,
        zpool_bring_back,
        zpool_scrub,
    )
}
