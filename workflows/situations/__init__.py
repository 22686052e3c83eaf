"""Every situation we detect. To add one: add a file with `SLUG` and `detect(fleet)`, list it here."""

from workflows.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import (
    disk_faulted,
    disk_missing,
    hidden_by_resilver,
    import_blocked,
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
        slow_disk,
        resilver_stuck,
        resilver_slow,
        hidden_by_resilver,
        spare_in_use,
        resilver_running,
    )
}


def detect_all(fleet: FleetFacts) -> tuple[Situation, ...]:
    """Everything wrong in the fleet. One lost disk is one situation: the more telling one."""
    return tuple(found for module in SITUATIONS.values() for found in module.detect(fleet))
