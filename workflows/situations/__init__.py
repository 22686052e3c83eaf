"""Every situation we detect. To add one: add a file with `SLUG`, `MANUALS` (runbooks whose pages help) and `detect(fleet)`, list it here.

A situation that can be the cause of others also has `explains(cause, other)`.
"""

from collections.abc import Iterable

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


def detect_all(fleet: FleetFacts, told: Iterable[Situation] = ()) -> tuple[Situation, ...]:
    """Everything wrong in the fleet, causes first. One lost disk is one situation: the more telling one.

    `told` are situations that no fact bears, of outputs that were pasted. One about the same thing as a detected one is left out, and none
    explains another: their subjects hold less than a detector's.
    """
    detected = [situation for module in SITUATIONS.values() for situation in module.detect(fleet)]
    found = ranked(detected, [(module.SLUG, module.explains) for module in CAUSES], URGENT)
    new = [situation for situation in told if not any(_is_same(situation, other) for other in detected)]
    return ranked((*found, *new), (), URGENT) if new else found


IDENTITY = ("vdev_guid", "wwid", "serial", "disk", "pool")  # of a subject, the most telling first


def _is_same(told: Situation, other: Situation) -> bool:
    """Whether both are about the same thing, by the most telling name that both give."""
    if (told.slug, told.node) != (other.slug, other.node):
        return False
    both = next((name for name in IDENTITY if name in told.subject and name in other.subject), None)
    return told.key == other.key if both is None else told.subject[both] == other.subject[both]
