"""Every situation we detect. To add one: add a file with `SLUG` and `detect(fleet)`, list it here."""

from workflows.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import (
    disk_faulted,
    disk_missing,
    foreign_pool_imported_elsewhere,
    hidden_by_resilver,
    identity_conflict,
    import_blocked,
    label_corrupt,
    resilver_running,
    resilver_slow,
    resilver_stuck,
    slow_disk,
    spare_in_use,
    wwid_mismatch,
)

SITUATIONS = {
    module.SLUG: module
    for module in (
        wwid_mismatch,
        disk_faulted,
        disk_missing,
        import_blocked,
        foreign_pool_imported_elsewhere,
        slow_disk,
        resilver_stuck,
        resilver_slow,
        label_corrupt,
        identity_conflict,
        hidden_by_resilver,
        spare_in_use,
        resilver_running,
    )
}


def detect_all(fleet: FleetFacts) -> tuple[Situation, ...]:
    """Everything wrong in the fleet. One lost disk is one situation: the more telling one."""
    return tuple(found for module in SITUATIONS.values() for found in module.detect(fleet))
