"""Every runbook we ship. To add one: `./run new runbook NAME`, and a line here. A definition that breaks a rule stops the portal."""

from agents.operations import OPERATIONS
from workflows.engine.lint import load
from workflows.runbooks import (
    add_auxiliary,
    add_redundancy,
    begin_resilver,
    blink_and_replace,
    damaged_data,
    destroy_damaged_snapshot,
    device_delete_reimport,
    drive_mode_audit,
    finish_replacement,
    import_pool,
    import_without_log,
    many_disks_offline,
    read_only_import,
    remove_auxiliary,
    rename_members,
    replace_in_place,
    resilver_tuning,
    rewind_import,
    sas_link_triage,
    scrub_due,
    slow_disk_triage,
    spare_return,
    suspended_pool,
    take_over,
    wipe_disk,
    wwid_mismatch_replace,
)

BOOKS = (
    many_disks_offline,
    suspended_pool,
    wwid_mismatch_replace,
    blink_and_replace,
    spare_return,
    read_only_import,
    device_delete_reimport,
    rewind_import,
    slow_disk_triage,
    sas_link_triage,
    resilver_tuning,
    drive_mode_audit,
    scrub_due,
    replace_in_place,
    finish_replacement,
    begin_resilver,
    remove_auxiliary,
    add_auxiliary,
    add_redundancy,
    damaged_data,
    destroy_damaged_snapshot,
    import_pool,
    import_without_log,
    take_over,
    rename_members,
    wipe_disk,
)
RUNBOOKS = load(tuple(book.RUNBOOK for book in BOOKS), OPERATIONS)

__all__ = ["BOOKS", "RUNBOOKS"]
