"""What makes each guard that rename-members alone asks refuse, and not know."""

from __future__ import annotations

from agents.collectors.zfs_get import Datasets
from workflows.tests.bends import UNREAD, Bad, every_leaf, pool, properties


def mounted(where: str) -> Datasets:
    return Datasets({"ost_0/x": {"canmount": "on", "mountpoint": where, "mounted": "yes"}})


REFUSED = (
    Bad("some_members_have_names_that_move", "nothing to end", every_leaf(name="/dev/disk/by-id/wwn-0x5000c50000000001-part1")),
    Bad("every_member_is_online", "is DEGRADED", pool(state="DEGRADED")),
    Bad("every_disk_has_its_link", "a name that a person chose", every_leaf(name="/dev/disk/by-vdev/A1-part1")),
    Bad("its_cache_file_is_that_of_this_run", "Begin again from its situation", properties(cachefile="/etc/zfs/other.cache")),
    Bad("the_system_does_not_run_from_it", "the system runs from it", pool(datasets=mounted("/"))),
    Bad("nothing_of_it_is_mounted", "Mounted are still: ost_0/x", pool(datasets=mounted("/srv"))),
    Bad("every_member_has_its_stable_name", "Not under /dev/disk/by-id/", every_leaf(name="/dev/sda1")),
)
UNSURE = (
    Bad("some_members_have_names_that_move", "It was not read", pool(tops=UNREAD)),
    Bad("every_member_is_online", "It was not read", pool(tops=UNREAD)),
    Bad("every_disk_has_its_link", "It was not read", every_leaf(wwid=UNREAD)),
    Bad("its_cache_file_is_that_of_this_run", "It was not read", pool(properties=UNREAD)),
    Bad("the_system_does_not_run_from_it", "It was not read", pool(datasets=UNREAD)),
    Bad("nothing_of_it_is_mounted", "rows of `zfs get` of ost_0 were left out", pool(datasets=Datasets({}, 3))),
    Bad("every_member_has_its_stable_name", "It was not read", every_leaf(wwid=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {"what_was_stopped": "Say what was stopped"}
