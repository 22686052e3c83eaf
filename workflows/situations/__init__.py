"""Every situation we detect. To add one: add a file with `SLUG` and `detect(fleet)`, list it here."""

from workflows.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import (
    disk_missing,
    foreign_pool_imported_elsewhere,
    identity_conflict,
    label_corrupt,
    pool_suspended,
    tunables_left_raised,
    version_mismatch,
    wwid_mismatch,
)

SITUATIONS = {
    module.SLUG: module
    for module in (
        pool_suspended,
        wwid_mismatch,
        disk_missing,
        foreign_pool_imported_elsewhere,
        label_corrupt,
        identity_conflict,
        tunables_left_raised,
        version_mismatch,
    )
}


def detect_all(fleet: FleetFacts) -> tuple[Situation, ...]:
    """Everything wrong in the fleet. One lost disk is one situation: the more telling one."""
    return tuple(found for module in SITUATIONS.values() for found in module.detect(fleet))
