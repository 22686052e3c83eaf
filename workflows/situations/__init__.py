"""Every situation we detect. To add one: add a file with `SLUG`, `MANUALS` (runbooks whose pages help) and `detect(fleet)`, list it here.

A situation that can be the cause of others also has `explains(cause, other)`.
"""

from workflows import unexplained
from workflows.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import (
    data_errors,
    disk_errors,
    disk_faulted,
    disk_hangs,
    disk_missing,
    drive_mode_drift,
    foreign_pool_imported_elsewhere,
    hidden_by_resilver,
    identity_conflict,
    import_blocked,
    label_corrupt,
    many_disks_offline,
    phy_errors,
    pool_suspended,
    resilver_running,
    resilver_slow,
    resilver_stuck,
    slow_disk,
    spare_in_use,
    tunables_left_raised,
    version_mismatch,
    wwid_mismatch,
)
from workflows.situations._ranking import ranked

SITUATIONS = {
    module.SLUG: module
    for module in (
        many_disks_offline,
        pool_suspended,
        disk_hangs,
        wwid_mismatch,
        disk_faulted,
        disk_missing,
        import_blocked,
        data_errors,
        foreign_pool_imported_elsewhere,
        slow_disk,
        resilver_stuck,
        resilver_slow,
        label_corrupt,
        identity_conflict,
        phy_errors,
        disk_errors,
        drive_mode_drift,
        hidden_by_resilver,
        spare_in_use,
        resilver_running,
        tunables_left_raised,
        version_mismatch,
    )
}
CAUSES = (many_disks_offline, disk_hangs, data_errors)  # the farthest up first
URGENT = frozenset((pool_suspended.SLUG,))  # everything stands still, whatever the cause


def detect_all(fleet: FleetFacts) -> tuple[Situation, ...]:
    """Everything wrong in the fleet, causes first. One lost disk is one situation: the more telling one.

    What no situation explains is raised last, as `unexplained`.
    """
    found = [situation for module in SITUATIONS.values() for situation in module.detect(fleet)]
    return ranked((*found, *unexplained.detect(fleet, found)), [(module.SLUG, module.explains) for module in CAUSES], URGENT)
