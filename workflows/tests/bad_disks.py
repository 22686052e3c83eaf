"""How each guard about members, disks and bays is made to refuse, and made not to know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workflows.engine.core import Params
from workflows.facts import FleetFacts, HealthFacts
from workflows.tests.bends import (
    A_LABEL,
    A_STRANGER,
    UNREAD,
    Bad,
    above,
    bay,
    beside,
    both,
    disk,
    each,
    every_disk,
    every_leaf,
    has_it_too,
    in_the_bay,
    leaf,
    left_service,
    long_ago,
    node,
    on_disk,
    one_sibling,
    other_bay,
    over_disk,
    pool,
    properties,
    put,
    scans,
    siblings,
    stale,
)

OUT = {"state": "UNAVAIL", "note": "cannot open"}
EITHER = ("wwid", "old_wwid")


def links(gbit: float) -> Any:
    return lambda facts: put(facts, links=each(gbit=gbit))


def in_bay(number: int) -> Any:
    return lambda bay: replace(bay, slot=number)


def the_old_one_stays(facts: FleetFacts, params: Params) -> FleetFacts:
    return one_sibling(guid=int(params.get("vdev_guid", 0)))(facts, params)


def the_spare_stays(facts: FleetFacts, params: Params) -> FleetFacts:
    return one_sibling(guid=int(params.get("spare_guid", 0)))(facts, params)


def it_came_back(facts: FleetFacts, params: Params) -> FleetFacts:
    """The new disk carries the label of the lost member."""
    label = replace(A_LABEL, guid=int(params.get("vdev_guid", 0)), pool_guid=int(params.get("pool_guid", 0)))
    return disk("wwid", labels=(label,))(facts, params)


def copied(facts: FleetFacts, params: Params) -> FleetFacts:
    """Another disk carries the label of the lost member, too."""
    label = replace(A_LABEL, guid=int(params.get("vdev_guid", 0)), pool_guid=int(params.get("pool_guid", 0)))
    return node(disks=lambda disks: (*disks, replace(A_STRANGER, labels=(label,))))(facts, params)


REFUSED = (
    Bad("the_pool_asks_for_no_larger_blocks", "so ZFS would refuse any disk", properties(ashift="16")),
    Bad("nothing_of_the_pool_comes_first", "is imported read-only", properties(readonly="on")),
    Bad(
        "the_pool_is_not_encrypted_below",
        "would hold the pool's data unencrypted",
        every_disk(in_use=lambda uses: (*uses, "held by dm-7 (LUKS tank-3)")),
    ),
    Bad("the_member_has_its_disk_alone", "is partition 3 of its disk", leaf(name="/dev/disk/by-id/wwn-0x5000c500a65bfff1-part3", was=None)),
    Bad("the_member_has_its_disk_alone", "sdzz2, sdzz3", every_disk(paths=each(partitions=("sdzz1", "sdzz2", "sdzz3")))),
    Bad("its_siblings_read_true", "count wrong checksums", siblings(errors=(0, 0, 7))),
    Bad("its_siblings_read_true", " and 1 more). That is an HBA", siblings(errors=(0, 0, 7))),
    # --- a lost member that is back
    Bad("the_disk_is_the_lost_member_itself", "It is not the lost member.", disk("wwid", labels=())),
    Bad("the_disk_is_the_lost_member_itself", "one is a copy", copied),
    Bad("zfs_did_not_give_it_up", "gave", leaf(state="FAULTED", was=None, note="too many errors")),
    Bad("the_member_holds_its_share", "still catches up", leaf(state="ONLINE", resilvering=True)),
    Bad("it_caught_up_without_errors", "finished with 5 errors", scans(errors=5)),
    # --- the bay
    Bad("exactly_this_bay_is_lit", "is dark", bay(locate=False)),
    Bad("no_other_bay_is_lit", "is lit already", other_bay(locate=True)),
    Bad("the_bay_is_dark", "is lit.", bay(locate=True)),
    Bad("the_fault_light_is_off", "sends the next person to a good disk", bay(fault_asked=True)),
    Bad("the_bay_is_empty", "so something is in it", bay(status="OK")),
    Bad("the_disk_sits_in_the_bay_meant", "sits in bay 99", disk("old_wwid", bay=in_bay(99))),
    Bad("the_old_disk_is_in_its_bay", "is empty. Put", disk("old_wwid", bay=UNREAD)),
    Bad(
        "nothing_else_was_pulled",
        "Put it back now",
        both(left_service(0), one_sibling(name="/dev/disk/by-id/wwn-0x5000c500a65bfff1-part1")),
    ),
    Bad("the_planned_disk_is_in_the_bay", "holds the disk with the serial number ZZ000001", in_the_bay(serial="ZZ000001")),
    # --- the disk that comes
    Bad(
        "no_other_node_uses_the_disk",
        "oss09 uses",
        beside(disks=each(in_use=("mounted on /srv",))),
    ),
    Bad("nothing_contradicts_who_the_disk_is", "disagree", beside(disks=each(serial="ZZ000001"))),
    Bad("nothing_else_uses_the_disk", "mounted on /srv", disk(*EITHER, in_use=("mounted on /srv",))),
    Bad("the_disk_answers_to_its_wwid", "is not there", disk(*EITHER, paths=each(by_id=()))),
    Bad("the_disk_block_size_fits", "blocks of 8192 bytes", disk(*EITHER, logical_block_bytes=8192)),
    Bad("the_disk_carries_no_label", "scratch9", disk(*EITHER, labels=(A_LABEL,))),
    Bad("the_disk_has_no_partitions", "has the partitions sdzz1", disk(*EITHER, paths=each(partitions=("sdzz1",)))),
    Bad("the_disk_is_large_enough", "Choose a larger disk", disk(*EITHER, size_bytes=512)),
    Bad("the_disk_is_seen_and_running", "transport-offline", disk(*EITHER, paths=each(state="transport-offline"))),
    Bad(
        "the_disk_is_healthy", "says of itself: FAILURE", disk(*EITHER, health=HealthFacts(False, "FAILURE PREDICTION THRESHOLD EXCEEDED"))
    ),
    Bad("the_disk_link_is_as_fast_as_others", "came up at 1.5 Gbit/s", both(node(fabric=UNREAD), disk(*EITHER, condition=links(1.5)))),
    Bad("the_disk_has_the_protection_of_its_siblings", "has the protection type 2", disk(protection_type=2)),
    Bad("the_new_disk_is_the_one_planned", "has the serial number ZZ000001", disk(serial="ZZ000001")),
    Bad("the_new_disk_sits_where_the_old_one_was", "is not in bay", disk(bay=in_bay(99))),
    # --- the member
    Bad("nothing_replaces_by_itself", "has autoreplace on", properties(autoreplace="on")),
    Bad("only_the_member_left", "has lost more disks than it can rebuild", siblings(**OUT)),
    Bad("the_member_serves_again", "Check that its own disk is seated", leaf(**OUT)),
    Bad("the_member_sits_on_the_disk_meant", "sits on naa:5000c500a65bfff1", leaf(wwid="naa:5000c500a65bfff1")),
    Bad("the_disk_that_goes_is_no_other", "could be taken for", disk("old_wwid", doubt="sda and sdb report one identity. Take one out")),
    Bad("the_member_stands_alone", "Let that finish first", above(kind="replacing")),
    Bad("the_vdev_can_do_without_the_member", "cannot do without another disk", siblings(**OUT)),
    # --- the pool and the lost member
    Bad("the_pool_is_imported_here_and_nowhere_else", "and on oss09", has_it_too),
    Bad("the_pool_is_not_suspended", "is suspended", pool(suspended=True)),
    Bad("the_lost_member_is_one_known_vdev", "any more", leaf(guid=4711)),
    Bad("the_lost_member_is_out_of_service", "still serves", leaf(state="ONLINE")),
    Bad("the_lost_member_is_not_being_replaced", "a replacement is under way already", above(kind="replacing")),
    Bad(
        "the_lost_member_has_not_come_back",
        "the member is back",
        it_came_back,
    ),
    Bad("the_vdev_can_still_rebuild", "has lost more disks than it can rebuild", siblings(**OUT)),
    Bad("no_mass_event_is_under_way", "left service in the last 30 minutes", left_service(4)),
    Bad("no_resilver_touches_the_vdev", "is being rebuilt", every_leaf(resilvering=True)),
    Bad("nothing_blocks_attaching", "a device removal", pool(removing=True)),
    Bad("no_expansion_is_under_way", "is being expanded", pool(expanding=True)),
    Bad("no_expansion_needs_the_member", "is being expanded", pool(expanding=True)),
    Bad("no_removal_is_under_way", "device removal", pool(removing=True)),
    # --- afterwards
    Bad("the_new_disk_has_its_place", "is still under", over_disk(kind="replacing")),
    Bad("the_new_disk_has_taken_over", "It leaves when the resilver has ended", the_old_one_stays),
    Bad("the_new_disk_has_taken_over", "is still under", over_disk(kind="replacing")),
    Bad("the_new_disk_has_taken_over", "brings it back, and the resilver with it", on_disk("wwid", state="REMOVED")),
    Bad("the_new_disk_has_taken_over", "ZFS gave it up", on_disk("wwid", state="FAULTED")),
    Bad("the_new_disk_is_in_service", "is FAULTED", on_disk("wwid", state="FAULTED")),
    Bad("the_new_disk_is_in_service", "zpool online", on_disk("wwid", state="REMOVED")),
    Bad("the_old_member_is_gone", "It leaves when the resilver has ended", the_old_one_stays),
    Bad("the_resilver_ended_without_errors", "finished with 3 errors", scans(errors=3)),
    Bad(
        "the_resilver_ended_without_errors",
        "wrote nothing",
        scans(text="resilvered 0B in 00:00:01 with 0 errors on Mon Nov 23 19:44:42 2026"),
    ),
    Bad("the_vdev_counts_the_new_disk", "has lost more disks than it can rebuild", every_leaf(**OUT)),
    # --- hot spares
    Bad("the_last_scan_was_clean", "finished with 3 errors", scans(errors=3)),
    Bad("the_one_that_stays_is_whole", "still being filled", every_leaf(resilvering=True)),
    Bad("the_one_that_stays_serves", "Look at the pool; it needs attention", every_leaf(state="FAULTED")),
    Bad("the_one_that_goes_is_gone", "is still in", the_spare_stays),
    Bad("the_spare_is_where_it_belongs", "is INUSE", leaf("spare_guid", state="INUSE")),
    Bad("the_vdev_has_lost_nothing", "has lost more disks than it can rebuild", every_leaf(**OUT)),
)

UNSURE = (
    Bad("the_disk_that_goes_is_no_other", "does not see", node(disks=UNREAD)),
    Bad("the_member_has_its_disk_alone", "shares its disk with other partitions is not known", node(disks=UNREAD)),
    Bad("the_pool_is_not_encrypted_below", "are not known", node(disks=UNREAD)),
    Bad("the_pool_is_not_encrypted_below", "is encrypted below", every_disk(in_use=UNREAD)),
    Bad("the_pool_asks_for_no_larger_blocks", "gives to new disks is not known", pool(properties=UNREAD)),
    Bad("the_pool_asks_for_no_larger_blocks", "zpool_get of", long_ago("zpool_get")),
    Bad("nothing_of_the_pool_comes_first", "is imported read-only is not known", pool(properties=UNREAD)),
    Bad("its_siblings_read_true", "counts is not known", siblings(errors=UNREAD)),
    # --- a lost member that is back
    Bad("the_disk_is_the_lost_member_itself", "are not known", disk("wwid", labels=UNREAD)),
    Bad("zfs_did_not_give_it_up", "are not known", pool(tops=UNREAD)),
    Bad("the_member_holds_its_share", "are not known", pool(scans=UNREAD)),
    Bad("it_caught_up_without_errors", "How it caught up is not known", pool(scans=UNREAD)),
    Bad("facts_are_fresh", "s is the limit", stale),
    Bad("exactly_this_bay_is_lit", "is lit is not known", bay(locate=UNREAD)),
    Bad("no_other_bay_is_lit", "is lit is not known", other_bay(locate=UNREAD)),
    Bad("the_bay_is_dark", "is lit is not known", bay(locate=UNREAD)),
    Bad("the_fault_light_is_off", "is on is not known", bay(fault_asked=UNREAD)),
    Bad("the_bay_is_empty", "is empty is not known", bay(status=UNREAD)),
    Bad("the_disk_sits_in_the_bay_meant", "The bay of", disk("old_wwid", bay=UNREAD)),
    Bad("the_old_disk_is_in_its_bay", "are not known", node(disks=UNREAD)),
    Bad("nothing_else_was_pulled", "left service lately is not known", node(leaf_changes=UNREAD)),
    Bad("the_planned_disk_is_in_the_bay", "The serial number of", in_the_bay(serial=UNREAD)),
    Bad("no_other_node_uses_the_disk", "oss09 sees", beside(age_seconds=4000.0)),
    Bad("nothing_contradicts_who_the_disk_is", "Whether all sources mean", disk(*EITHER, identity=UNREAD)),
    Bad("nothing_else_uses_the_disk", "is not known", disk(*EITHER, in_use=UNREAD)),
    Bad("the_disk_answers_to_its_wwid", "are not known", node(disks=UNREAD)),
    Bad("the_disk_block_size_fits", "The block size of", disk(*EITHER, logical_block_bytes=UNREAD)),
    Bad("the_disk_carries_no_label", "not", disk(*EITHER, labels=UNREAD)),
    Bad("the_disk_has_no_partitions", "are not known", node(disks=UNREAD)),
    Bad("the_disk_is_large_enough", "The size of", disk(*EITHER, size_bytes=UNREAD)),
    Bad("the_disk_is_seen_and_running", "The state of", disk(*EITHER, paths=each(state=UNREAD))),
    Bad("the_disk_sits_in_a_known_bay", "The bay of", disk(*EITHER, bay=UNREAD)),
    Bad("the_disk_is_healthy", "The health of", disk(*EITHER, health=UNREAD)),
    Bad("the_disk_link_is_as_fast_as_others", "How fast the link", both(node(fabric=UNREAD), disk(*EITHER, condition=UNREAD))),
    Bad("the_disk_has_the_protection_of_its_siblings", "The protection type of", disk(protection_type=UNREAD)),
    Bad("the_new_disk_is_the_one_planned", "The serial number of", disk(serial=UNREAD)),
    Bad("the_new_disk_sits_where_the_old_one_was", "are not known", node(disks=UNREAD)),
    Bad("nothing_replaces_by_itself", "is not known", pool(properties=UNREAD)),
    Bad("only_the_member_left", "are not known", pool(scans=UNREAD)),
    Bad("the_member_serves_again", "are not known", pool(tops=UNREAD)),
    Bad("the_member_sits_on_the_disk_meant", "is not known", leaf(wwid=UNREAD)),
    Bad("the_member_stands_alone", "are not known", pool(tops=UNREAD)),
    Bad("the_vdev_can_do_without_the_member", "are not known", pool(scans=UNREAD)),
    Bad("the_pool_is_imported_here_and_nowhere_else", "oss09", beside(disks=UNREAD)),
    Bad("the_pool_is_not_suspended", "is not known", pool(suspended=UNREAD)),
    Bad("the_lost_member_is_one_known_vdev", "is not known", one_sibling(guid=UNREAD)),
    Bad("the_lost_member_is_out_of_service", "are not known", pool(tops=UNREAD)),
    Bad("the_lost_member_is_not_being_replaced", "are not known", pool(tops=UNREAD)),
    Bad("the_lost_member_has_not_come_back", "may be the lost member", both(leaf(was="/dev/sdzz1"), every_disk(labels=UNREAD, in_use=()))),
    Bad("the_vdev_can_still_rebuild", "are not known", pool(scans=UNREAD)),
    Bad("no_mass_event_is_under_way", "changed lately is not known", node(leaf_changes=UNREAD)),
    Bad("no_resilver_touches_the_vdev", "are not known", pool(scans=UNREAD)),
    Bad("nothing_blocks_attaching", "is not known", pool(checkpoint=UNREAD)),
    Bad("no_expansion_is_under_way", "is not known", pool(expanding=UNREAD)),
    Bad("no_expansion_needs_the_member", "is not known", pool(expanding=UNREAD)),
    Bad("no_removal_is_under_way", "is not known", pool(removing=UNREAD)),
    Bad("the_new_disk_has_its_place", "are not known", pool(tops=UNREAD)),
    Bad("the_new_disk_has_taken_over", "are not known", pool(tops=UNREAD)),
    Bad("the_new_disk_is_in_service", "is known to sit on", on_disk("wwid", wwid=UNREAD)),
    Bad("the_old_member_is_gone", "is not known", one_sibling(guid=UNREAD)),
    Bad("the_resilver_ended_without_errors", "how many errors", scans(errors=None)),
    Bad("the_vdev_counts_the_new_disk", "are not known", pool(scans=UNREAD)),
    Bad("the_last_scan_was_clean", "nothing says that the spare was filled", pool(scans=())),
    Bad("the_spare_stands_in_for_the_member", "Look at the pool again", above(kind="mirror")),
    Bad("the_one_that_stays_is_whole", "Look at the pool again", above(kind="mirror")),
    Bad("the_one_that_stays_serves", "are not known", pool(tops=UNREAD)),
    Bad("the_one_that_goes_is_gone", "are not known", pool(tops=UNREAD)),
    Bad("the_spare_is_where_it_belongs", "are not known", node(pools=UNREAD)),
    Bad("the_vdev_has_lost_nothing", "are not known", pool(scans=UNREAD)),
)
