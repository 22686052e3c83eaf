"""The questions that runbooks ask before they let a step run. To add one: write it in a file here and list it.

A guard is a function `(facts, params) -> Verdict` whose name is the sentence it asserts.
"""

from workflows.guards import bay, member, protection, spare
from workflows.guards.candidate import CANDIDATE_GUARDS
from workflows.guards.fresh import FACTS_AGE_SECONDS_MAX, facts_are_fresh
from workflows.guards.replaced import REPLACED_GUARDS
from workflows.guards.target import TARGET_GUARDS

MEMBER_GUARDS = (
    member.the_member_sits_on_the_disk_meant,
    member.the_member_serves,
    member.the_member_serves_again,
    member.the_vdev_can_do_without_the_member,
    member.the_member_stands_alone,
    member.nothing_replaces_by_itself,
    member.only_the_member_left,
)
BAY_GUARDS = (
    bay.the_disk_sits_in_the_bay_meant,
    bay.no_other_bay_is_lit,
    bay.the_bay_is_dark,
    bay.exactly_this_bay_is_lit,
    bay.the_bay_is_empty,
    bay.the_old_disk_is_in_its_bay,
    bay.nothing_else_was_pulled,
    bay.the_planned_disk_is_in_the_bay,
    *spare.NEW_DISK_GUARDS,
    protection.the_disk_has_the_protection_of_its_siblings,
)
EVERY_GUARD = (*TARGET_GUARDS, *CANDIDATE_GUARDS, *REPLACED_GUARDS, *MEMBER_GUARDS, *BAY_GUARDS)
GUARDS = {guard.__name__.replace("_", "-"): guard for guard in EVERY_GUARD}

__all__ = ["CANDIDATE_GUARDS", "FACTS_AGE_SECONDS_MAX", "GUARDS", "REPLACED_GUARDS", "TARGET_GUARDS", "facts_are_fresh"]
