"""Every situation we detect. To add one: add a file with `SLUG`, `MANUALS` (runbooks whose pages help) and `detect(fleet)`, list it here.

A situation that can be the cause of others also has `explains(cause, other)`; one that can forbid replacing has `GATES = True`.
"""

from workflows.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import (
    aux_without_redundancy,
    block_size_mismatch,
    cache_device_lost,
    checkpoint_held,
    data_errors,
    device_removal,
    disk_errors,
    disk_failing,
    disk_faulted,
    disk_hangs,
    disk_hot,
    disk_missing,
    disk_worn,
    drive_mode_drift,
    enclosure_fault,
    errors_everywhere,
    errors_not_listed,
    expansion_running,
    expansion_stuck,
    features_disabled,
    foreign_pool_imported_elsewhere,
    hba_fault,
    hidden_by_resilver,
    hostid_mismatch,
    identity_conflict,
    import_blocked,
    kernel_errors,
    label_corrupt,
    labels_missing,
    link_crc,
    log_device_lost,
    many_disks_offline,
    member_degraded,
    names_moved,
    path_lost,
    phy_errors,
    pool_down,
    pool_errata,
    pool_filling,
    pool_read_only,
    pool_suspended,
    rebuild_unverified,
    refused_command,
    replacing_dead,
    resilver_cancelled,
    resilver_running,
    resilver_slow,
    resilver_stuck,
    scrub_errors,
    scrub_overdue,
    scrub_paused,
    scrub_repaired,
    slow_disk,
    slow_inquiry,
    spare_in_use,
    spare_unavailable,
    spare_unused,
    top_without_redundancy,
    tunables_left_raised,
    vdev_degraded,
    version_mismatch,
    wwid_mismatch,
    zfs_events,
)
from workflows.situations._gating import gated, gating
from workflows.situations._ranking import ranked

SITUATIONS = {
    module.SLUG: module
    for module in (
        many_disks_offline,
        pool_suspended,
        pool_down,
        names_moved,
        errors_everywhere,
        hba_fault,
        disk_hangs,
        vdev_degraded,
        replacing_dead,
        wwid_mismatch,
        disk_faulted,
        disk_missing,
        disk_failing,
        enclosure_fault,
        import_blocked,
        data_errors,
        errors_not_listed,
        top_without_redundancy,
        aux_without_redundancy,
        log_device_lost,
        pool_filling,
        hostid_mismatch,
        foreign_pool_imported_elsewhere,
        slow_disk,
        slow_inquiry,
        resilver_stuck,
        resilver_slow,
        label_corrupt,
        identity_conflict,
        phy_errors,
        path_lost,
        disk_hot,
        disk_worn,
        link_crc,
        disk_errors,
        member_degraded,
        kernel_errors,
        zfs_events,
        drive_mode_drift,
        hidden_by_resilver,
        spare_in_use,
        pool_read_only,
        resilver_running,
        tunables_left_raised,
        version_mismatch,
        labels_missing,
        scrub_errors,
        resilver_cancelled,
        rebuild_unverified,
        expansion_stuck,
        spare_unavailable,
        spare_unused,
        cache_device_lost,
        pool_errata,
        block_size_mismatch,
        device_removal,
        expansion_running,
        scrub_repaired,
        scrub_overdue,
        scrub_paused,
        checkpoint_held,
        features_disabled,
        refused_command,
    )
}
CAUSES = (many_disks_offline, hba_fault, pool_down, names_moved, errors_everywhere, disk_hangs, data_errors)  # the farthest up first
GATING = tuple(module for module in SITUATIONS.values() if getattr(module, "GATES", False))  # whose situations may have `gate`
URGENT = frozenset((pool_suspended.SLUG, pool_down.SLUG))  # everything stands still, whatever the cause


def detect_all(fleet: FleetFacts) -> tuple[Situation, ...]:
    """Everything wrong in the fleet, causes first. One lost disk is one situation: the more telling one.

    Nothing that replaces a disk is left in a situation of a pool whose own fate comes first.
    """
    found = gated(fleet, (situation for module in SITUATIONS.values() for situation in module.detect(fleet)))
    return ranked(found, [(module.SLUG, module.explains) for module in CAUSES], URGENT)


def gates_of(fleet: FleetFacts, node: str, pool: str) -> tuple[Situation, ...]:
    """What stands on this pool of this node and forbids replacing any member of it for now."""
    return tuple(gating(fleet, GATING, node, pool))
