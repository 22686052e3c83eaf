"""What makes each guard that wipe-destroyed-member alone asks refuse, and not know."""

from __future__ import annotations

from dataclasses import replace

from workflows.engine.core import Params
from workflows.facts import FleetFacts, ImportableFacts, known
from workflows.tests.bends import UNREAD, Bad, a_pool, add_pool, beside, disk, each, is_away, node


def labels(**changes: object):
    return disk("wwid", labels=each(**changes))


def listed_again(facts: FleetFacts, params: Params) -> FleetFacts:
    """`zpool import` lists it, and not as destroyed."""
    listed = ImportableFacts(params.get("pool", ""), int(params.get("pool_guid", 0)), "ONLINE", "", "", ())
    return node(importable=(listed,))(facts, params)


def has_it_elsewhere(facts: FleetFacts, params: Params) -> FleetFacts:
    return beside(pools=(a_pool(params, name="renamed"),))(facts, params)


def the_other_half_is_in_use(facts: FleetFacts, params: Params) -> FleetFacts:
    """The pool was brought back while this disk was away: only the labels of its other disks say so."""
    guid, wwid = params.get("pool_guid", ""), params.get("wwid", "")

    def worse(disks):
        return tuple(
            replace(one, labels=tuple(replace(label, state=0) if str(label.pool_guid) == guid else label for label in one.labels))
            if known(one.labels) and one.wwid != wwid
            else one
            for one in disks
        )

    return node(disks=worse)(facts, params)


def the_other_half_is_not_read(facts: FleetFacts, params: Params) -> FleetFacts:
    """It may have been brought back with the pool, while this disk was away."""
    guid, wwid = params.get("pool_guid", ""), params.get("wwid", "")

    def silent(disks):
        return tuple(
            replace(one, labels=UNREAD)
            if known(one.labels) and one.wwid != wwid and any(str(label.pool_guid) == guid for label in one.labels)
            else one
            for one in disks
        )

    return node(disks=silent)(facts, params)


REFUSED = (
    Bad("its_label_names_a_destroyed_pool", "its pool is in use or not exported", labels(state=0)),
    Bad("its_label_names_a_destroyed_pool", "its pool is exported", labels(state=1)),
    Bad("no_node_has_the_destroyed_pool", "oss01 has the pool imported", add_pool()),
    Bad("no_node_has_the_destroyed_pool", "oss09 has the pool imported, as renamed", has_it_elsewhere),
    Bad("no_node_has_the_destroyed_pool", "so it is not destroyed any more", listed_again),
    Bad("every_label_of_the_pool_is_of_a_destroyed_one", "does not say that it was destroyed: sdh of oss01", the_other_half_is_in_use),
)
UNSURE = (
    Bad("its_label_names_a_destroyed_pool", "carries 0 labels", disk("wwid", labels=())),
    Bad("no_node_has_the_destroyed_pool", "so it may be this pool", add_pool(guid=UNREAD)),
    Bad("every_label_of_the_pool_is_of_a_destroyed_one", "does not see the disk", is_away("wwid")),
    Bad("every_label_of_the_pool_is_of_a_destroyed_one", "is not known, and may be of this pool", the_other_half_is_not_read),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
