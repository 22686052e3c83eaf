"""How each guard about pools that are not imported is made to refuse, and made not to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agents.collectors.zdb_config import CachedPool
from workflows.engine.core import Params
from workflows.facts import DiskFacts, FleetFacts, known
from workflows.facts.read.kstats import KstatFacts
from workflows.tests.bends import (
    ELSEWHERE,
    UNREAD,
    Bad,
    Bend,
    add_pool,
    bay,
    beside,
    both,
    comes_back,
    disk,
    each,
    every_disk,
    has_it_too,
    is_away,
    listed,
    listed_leaves,
    node,
    one_sibling,
    pool,
    properties,
    put,
    stale,
)

OLD = ("wwid", "old_wwid")
OLD_MODULE = "zfs-kmod-0.7.9-1"


def cached(facts: FleetFacts, params: Params) -> FleetFacts:
    """The other node imports it at its next boot."""
    named = CachedPool(params.get("pool", ""), int(params.get("pool_guid", 0)), 1, 1, ELSEWHERE, None)
    return beside(cached=(named,))(facts, params)


def labels(**changes: Any) -> Bend:
    return every_disk(labels=each(**changes))


def ahead(facts: FleetFacts, params: Params) -> FleetFacts:
    """The label of one disk more, and of nobody else, is of much later and by another host."""

    def later(disks: tuple[DiskFacts, ...]) -> tuple[DiskFacts, ...]:
        ours = [d.wwid for d in disks if known(d.labels) and any(str(x.pool_guid) == params.get("pool_guid") for x in d.labels)]
        away = each(txg=9000, hostname="oss77", hostid=77)
        return tuple(put(d, labels=away) if d.wwid == ours[-1] else d for d in disks) if ours else disks

    return node(disks=later)(facts, params)


def rings(worse: Callable[[tuple], tuple], first_only: bool = False) -> Bend:
    """What the disks, or only the first of them, tell of their uberblocks."""

    def changed(disks: tuple) -> tuple:
        return tuple(put(one, uberblocks=worse) if i == 0 or not first_only else one for i, one in enumerate(disks))

    return node(timelines=each(disks=changed))


def came_in_at(txg: int) -> Bend:
    return node(loads=lambda loads: dict.fromkeys(loads, txg))


def silence(uberblocks: tuple) -> Any:
    return UNREAD


def checkpointed(uberblocks: tuple) -> tuple:
    return each(checkpoint_txg=17)(uberblocks)


def written_elsewhere(uberblocks: tuple) -> tuple:
    """The same txgs at other times."""
    return each(timestamp=lambda at: at - 500)(uberblocks)


def gone_on(uberblocks: tuple) -> tuple:
    """The newest is nine txgs newer."""
    return (put(uberblocks[0], txg=lambda txg: txg + 9), *uberblocks[1:]) if uberblocks else uberblocks


def on_one_disk_only(facts: FleetFacts, params: Params) -> FleetFacts:
    """The point that was agreed to is on one disk and no other."""
    agreed = params.get("took") or params.get("txg", "")

    def changed(disks: tuple) -> tuple:
        return (*disks[:1], *each(uberblocks=lambda found: tuple(u for u in found if str(u.txg) != agreed))(disks[1:]))

    return node(timelines=each(disks=changed))(facts, params)


def nothing_newer(facts: FleetFacts, params: Params) -> FleetFacts:
    """The point that was chosen is the newest there is."""
    chosen = params.get("txg", "")
    return rings(lambda found: tuple(u for u in found if not chosen.isdigit() or u.txg <= int(chosen)))(facts, params)


def one_disk_more(facts: FleetFacts, params: Params) -> FleetFacts:
    return node(timelines=each(disks=lambda disks: (*disks, *disks[:1])))(facts, params)


def nothing_written(kstats: KstatFacts) -> KstatFacts:
    return replace(kstats, writes={name: put(writes, txgs=()) if known(writes) else writes for name, writes in kstats.writes.items()})


def each_top_but_one_leaf(tops: tuple) -> tuple:
    """The listing does not show the last disk of each vdev."""
    return tuple((role, put(top, children=lambda leaves: leaves[:-1])) for role, top in tops)


REFUSED = (
    Bad("no_trial_acquits_it", "Nothing sets", both(labels(txg=4000, hostid=None, hostname=None), node(timelines=()))),
    Bad("the_other_members_are_still_here", "went away with it", node(disks=())),
    Bad("a_rewind_is_offered", "is imported on", add_pool()),
    Bad("enough_of_its_disks_are_here", "Attach them first", listed_leaves(state="UNAVAIL")),
    Bad("no_disk_tells_another_story", "contradicts the other disks", ahead),
    Bad("no_imported_pool_has_its_name", "Another pool named", add_pool(guid=4711)),
    Bad("no_other_node_has_or_may_have_it", "is imported on oss09", has_it_too),
    Bad("no_other_node_imports_it_by_itself", "oss09 has it in its cache file", cached),
    Bad(
        "no_other_system_writes_to_it", "is imported on another system", listed(status="The pool is currently imported by another system.")
    ),
    Bad("the_node_has_a_hostid", "has no hostid", node(hostid="00000000")),
    Bad("the_pool_can_be_read", "is SUSPENDED", pool(state="SUSPENDED")),
    Bad("the_pool_is_imported_here", "is not imported on", node(pools=())),
    Bad("the_pool_is_not_imported_here", "is imported on", add_pool()),
    Bad("the_pool_is_read_only", "is imported for writing", properties(readonly="off")),
    Bad(
        "this_software_can_read_it", "uses features", listed(status="The pool uses the following feature(s) not supported on this system.")
    ),
    # --- going back
    Bad("enough_disks_hold_it", "Choose one that more of them hold", on_one_disk_only),
    Bad("every_disk_is_imaged", "Say that all 7 are imaged", one_disk_more),
    Bad("it_came_in_at_the_point_chosen", "came in at txg 17", came_in_at(17)),
    Bad("it_does_not_come_in_as_it_is", "so nothing has to be given up", listed(state="ONLINE")),
    Bad("it_has_passed_what_it_left_behind", "must pass txg", node(kstats=nothing_written)),
    Bad("it_lies_behind_the_newest", "is the newest there is", nothing_newer),
    Bad("it_lost_no_more_than_was_agreed", "older than the", came_in_at(17)),
    Bad(
        "its_disks_agree_on_when_it_was",
        "two systems wrote it",
        rings(written_elsewhere, first_only=True),
    ),
    Bad("no_checkpoint_stands", "has a checkpoint of txg 17", rings(checkpointed)),
    Bad("no_force_is_needed", "oss77 used", labels(hostid=77, hostname="oss77", state=0)),
    Bad("the_pool_is_imported_for_writing", "not for writing", properties(readonly="on")),
    Bad(
        "the_rewind_is_short_enough",
        "a rewind for good goes back",
        rings(gone_on),
    ),
    Bad("this_zfs_can_go_back", "cannot go back before a label was written", node(zfs_module=OLD_MODULE)),
    # --- the disk that blocks it
    Bad("it_alone_tells_another_story", "With more than one suspect a person must decide", ahead),
    Bad("it_is_back_or_out", "so something is in it", both(is_away("old_wwid"), bay(status="OK"))),
    Bad("it_is_gone_from_the_kernel", "The kernel still shows", comes_back("wwid", "old_wwid")),
    Bad("it_is_out_of_its_bay", "so something is in it", bay(status="OK")),
    Bad("it_may_be_looked_for", "is imported on", both(add_pool(), bay(status="OK"))),
    Bad("its_vdev_can_do_without_it", "Taking another away does not help", listed_leaves(state="UNAVAIL")),
    Bad("nothing_else_needs_it", "mounted on /srv", disk(*OLD, in_use=("mounted on /srv",))),
    Bad("the_pool_lacks_exactly_this_disk", "Find out what else is away", one_sibling(state="UNAVAIL")),
    Bad("two_kinds_of_evidence_name_it", "One kind of evidence is not enough", node(timelines=())),
    Bad("what_the_others_end_with", "Nothing sets", both(labels(txg=4000, hostid=None, hostname=None), node(timelines=()))),
)


UNSURE = (
    Bad("no_trial_acquits_it", "are not known", node(timelines=UNREAD)),
    Bad("the_other_members_are_still_here", "are not known", node(disks=UNREAD)),
    Bad("what_can_be_imported_is_fresh", "s is the limit", stale),
    Bad("a_rewind_is_offered", "is not known", node(pools=UNREAD)),
    Bad("enough_of_its_disks_are_here", "shows no vdevs", listed(tops=())),
    Bad("no_disk_tells_another_story", "are not known", node(timelines=UNREAD)),
    Bad("no_imported_pool_has_its_name", "is not known", node(pools=UNREAD)),
    Bad("no_other_node_has_or_may_have_it", "oss09 sees disks of it", beside(age_seconds=4000.0)),
    Bad("no_other_node_imports_it_by_itself", "what it imports at its next boot is not known", beside(cached=UNREAD)),
    Bad("no_other_system_writes_to_it", "is not known", node(importable=UNREAD)),
    Bad("the_listing_shows_the_pool_once", "does not list it", node(importable=())),
    Bad("the_node_has_a_hostid", "is not known", node(hostid=UNREAD)),
    Bad("the_pool_can_be_read", "are not known", node(pools=UNREAD)),
    Bad("the_pool_is_imported_here", "is not known", node(pools=UNREAD)),
    Bad("the_pool_is_not_imported_here", "is not known", node(pools=UNREAD)),
    Bad("the_pool_is_read_only", "is not known", pool(properties=UNREAD)),
    Bad("this_software_can_read_it", "is not known", node(importable=UNREAD)),
    # --- going back
    Bad("enough_disks_hold_it", "are not known", node(timelines=UNREAD)),
    Bad("every_disk_is_imaged", "How many disks there are is not known", node(timelines=UNREAD)),
    Bad("every_disk_told_its_uberblocks", "look again", rings(silence, first_only=True)),
    Bad("it_came_in_at_the_point_chosen", "is not known", node(loads=UNREAD)),
    Bad("it_does_not_come_in_as_it_is", "is not known", node(importable=UNREAD)),
    Bad("it_has_passed_what_it_left_behind", "is not known", node(kstats=UNREAD)),
    Bad("it_lies_behind_the_newest", "are not known", node(timelines=UNREAD)),
    Bad("it_lost_no_more_than_was_agreed", "is not known", node(loads=UNREAD)),
    Bad("its_disks_agree_on_when_it_was", "are not known", node(timelines=UNREAD)),
    Bad("no_checkpoint_stands", "are not known", node(timelines=UNREAD)),
    Bad("no_force_is_needed", "is not known", node(hostid=UNREAD)),
    Bad("it_is_still_imported", "compared with the images", node(pools=())),
    Bad("the_log_says_where_it_came_in", "is not known", node(loads=UNREAD)),
    Bad("the_pool_is_imported_for_writing", "is not known", pool(properties=UNREAD)),
    Bad("the_rewind_is_short_enough", "are not known", node(timelines=UNREAD)),
    Bad("this_zfs_can_go_back", "is not known", node(zfs_module=UNREAD)),
    Bad("this_zfs_can_go_back", "not every label says when", both(node(zfs_module=OLD_MODULE), labels(txg=None))),
    Bad("this_zfs_can_go_back", "not every label says when", both(node(zfs_module=OLD_MODULE), every_disk(labels=()))),
    # --- the disk that blocks it
    Bad("it_alone_tells_another_story", "are not known", node(timelines=UNREAD)),
    Bad("it_is_back_or_out", "are not known", node(disks=UNREAD)),
    Bad("it_is_gone_from_the_kernel", "are not known", node(disks=UNREAD)),
    Bad("it_is_out_of_its_bay", "is empty is not known", bay(status=UNREAD)),
    Bad("it_may_be_looked_for", "is not known", node(pools=UNREAD)),
    Bad("its_bay_is_known", "is not known for certain", disk(*OLD, bay=UNREAD)),
    Bad("its_vdev_can_do_without_it", "is not known", node(importable=UNREAD)),
    Bad("its_vdev_can_do_without_it", "What is not listed may be what it cannot do without", listed(tops=each_top_but_one_leaf)),
    Bad("its_vdev_can_do_without_it", "How many disks", node(expected=UNREAD)),
    Bad("nothing_else_needs_it", "is not known", disk(*OLD, in_use=UNREAD)),
    Bad("the_pool_lacks_exactly_this_disk", "are not known", pool(tops=UNREAD)),
    Bad("two_kinds_of_evidence_name_it", "are not known", node(timelines=UNREAD)),
    Bad("what_the_others_end_with", "are not known", node(timelines=UNREAD)),
)
