"""Every situation we detect. To add one: add a file with `SLUG` and `detect(fleet)`, list it here.

A situation that can be the cause of others also has `explains(cause, other)`.
"""

from workflows.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import (
    disk_missing,
    foreign_pool_imported_elsewhere,
    identity_conflict,
    label_corrupt,
    many_disks_offline,
    phy_errors,
    wwid_mismatch,
)
from workflows.situations._ranking import ranked

SITUATIONS = {
    module.SLUG: module
    for module in (
        wwid_mismatch,
        disk_missing,
        foreign_pool_imported_elsewhere,
        label_corrupt,
        identity_conflict,
        many_disks_offline,
        phy_errors,
    )
}
CAUSES = (many_disks_offline,)  # the farthest up first


def detect_all(fleet: FleetFacts) -> tuple[Situation, ...]:
    """Everything wrong in the fleet, causes first. One lost disk is one situation: the more telling one."""
    found = (situation for module in SITUATIONS.values() for situation in module.detect(fleet))
    return ranked(found, [(module.SLUG, module.explains) for module in CAUSES])
