"""What makes each guard of wipe-disk refuse, and not know; wipe-destroyed-member asks some of them too."""

from __future__ import annotations

from dataclasses import replace

from workflows.engine.core import Params
from workflows.facts import FleetFacts, ImportableFacts, VdevFacts, known
from workflows.tests.bends import A_LABEL, LONG_AGO, UNREAD, Bad, beside, disk, each, is_away, node, pool, siblings


def listed_for_import(facts: FleetFacts, params: Params) -> FleetFacts:
    """`zpool import` lists a pool with this disk as its member."""
    leaf = VdevFacts(1, f"/dev/disk/by-id/wwn-0x{params.get('wwid', '')[4:]}-part1", "disk", 0, "ONLINE", UNREAD, "")
    return node(importable=(ImportableFacts("scratch9", 4711, "ONLINE", "", "", (("data", leaf),)),))(facts, params)


def a_member_elsewhere(facts: FleetFacts, params: Params) -> FleetFacts:
    """A pool that another node imported has this disk."""
    here = facts.nodes.get(params.get("node", ""))
    if here is None or not here.pools_read:
        return facts
    leaf = VdevFacts(1, "sdg1", "disk", 0, "ONLINE", UNREAD, "", wwid=params.get("wwid", ""))
    return beside(pools=(replace(here.pools_read[0], name="scratch9", guid=4711, tops=(("data", leaf),)),))(facts, params)


def a_second_carrier(facts: FleetFacts, params: Params) -> FleetFacts:
    """Another disk with the very label."""
    here = facts.nodes.get(params.get("node", ""))
    same = [one for one in here.disks if one.wwid == params.get("wwid", "-")] if here is not None and known(here.disks) else []
    copy = tuple(replace(one, wwid="naa:5000c500a65bfff1") for one in same)
    return node(disks=lambda disks: (*disks, *copy))(facts, params)


def spares(**changes: object):
    def bend(facts: FleetFacts, params: Params) -> FleetFacts:
        guid = int(params.get("vdev_guid", 0))
        leaf = VdevFacts(guid, "sdg1", "disk", 0, "AVAIL", UNREAD, "")
        return pool(spares=(replace(leaf, **changes),))(facts, params)

    return bend


def labels(**changes: object):
    return disk("wwid", labels=each(**changes))


def first_child(made):
    """The first member of the first vdev that has members becomes `made` of it; a pool without one stays as it is."""

    def worse(tops):
        if not tops or not tops[0][1].children:
            return tops
        role, top = tops[0]
        return ((role, replace(top, children=(made(top.children[0]), *top.children[1:]))), *tops[1:])

    return pool(tops=worse)


def still_a_member(facts: FleetFacts, params: Params) -> FleetFacts:
    """The pool lists it, and calls it gone: it is only missing."""
    guid = int(params.get("vdev_guid", 0))
    return first_child(lambda leaf: replace(leaf, guid=guid, state="UNAVAIL", wwid=UNREAD))(facts, params)


a_replacement_stands = first_child(lambda leaf: replace(leaf, kind="replacing", name="replacing-0", children=(leaf,)))


REFUSED = (
    Bad("no_node_has_the_disk_in_a_pool", "lists scratch9 for import", listed_for_import),
    Bad("no_node_has_the_disk_in_a_pool", "imported on oss09", a_member_elsewhere),
    Bad("no_node_reads_another_label", "reads a label of member 4711 of scratch9", disk("wwid", labels=(A_LABEL,))),
    Bad("its_label_names_a_pool_in_use", "says that its pool is exported", labels(state=1)),
    Bad("its_label_names_a_pool_in_use", "says that its pool is destroyed", labels(state=2)),
    Bad("no_node_reads_another_label", "carries the label of member", a_second_carrier),
    Bad("the_pool_let_go_of_the_member", "is UNAVAIL. A member is never wiped", still_a_member),
    Bad("the_pool_let_go_of_the_member", "Take it out with remove-auxiliary", spares()),
    Bad("its_label_is_older_than_its_vdev", "it is not older than its pool", labels(txg=4000)),
    Bad("its_label_is_older_than_its_vdev", "it is not older than its pool", labels(txg=9_999_999)),
    Bad("the_pool_needs_no_older_copy", "is DEGRADED", pool(state="DEGRADED")),
    Bad("the_pool_needs_no_older_copy", "has a checkpoint", pool(checkpoint=True)),
    Bad("the_pool_needs_no_older_copy", "being replaced: replacing-0", a_replacement_stands),
    Bad("only_zfs_made_its_partitions", "which ZFS did not make", disk("wwid", paths=each(partitions=("sdg1", "sdg2", "sdg9")))),
    Bad("only_zfs_made_its_partitions", "2 paths lead to", disk("wwid", paths=lambda paths: (*paths, *paths))),
    Bad("the_disk_has_the_serial_number_of_the_run", "and this run is about", disk("wwid", serial="OTHER123")),
    Bad("the_disk_is_blank", "still carries a label", disk("wwid", labels=(A_LABEL,))),
    Bad("the_disk_is_blank", "The kernel still shows sdg9", disk("wwid", paths=each(partitions=("sdg9",)))),
)
UNSURE = (
    Bad("every_node_near_the_disk_reported", "oss09 may see", beside(age_seconds=LONG_AGO)),
    Bad("every_node_near_the_disk_reported", "has no agent", beside(brought=True)),
    Bad("every_node_near_the_disk_reported", "may see the same disks", beside(disks=UNREAD)),
    Bad("every_node_near_the_disk_reported", "oss09 may see", beside(disks=(), bays=UNREAD, age_seconds=LONG_AGO)),
    Bad("every_node_near_the_disk_reported", "oss09 may see", beside(disks=(), age_seconds=LONG_AGO)),
    Bad("no_node_has_the_disk_in_a_pool", "could import is not known", beside(importable=UNREAD)),
    Bad("no_node_has_the_disk_in_a_pool", "is a member of a pool of oss09 is not known", beside(pools=UNREAD)),
    Bad("no_node_reads_another_label", "carries 0 labels", disk("wwid", labels=())),
    Bad("no_node_reads_another_label", "carries 2 labels", disk("wwid", labels=lambda labels: (*labels, A_LABEL))),
    Bad("no_node_reads_another_label", "It was not read", beside(disks=each(labels=UNREAD))),
    Bad("its_label_names_a_pool_in_use", "carries 0 labels", disk("wwid", labels=())),
    Bad("the_pool_let_go_of_the_member", "are not known", pool(tops=UNREAD)),
    Bad("its_label_is_older_than_its_vdev", "has no txg", labels(txg=None)),
    Bad("its_label_is_older_than_its_vdev", "which ost_0 does not have", labels(top_guid=4711)),
    Bad("its_label_is_older_than_its_vdev", "No label of an ONLINE member", siblings(state="OFFLINE")),
    Bad("the_pool_needs_no_older_copy", "It was not read", pool(checkpoint=UNREAD)),
    Bad("only_zfs_made_its_partitions", "does not see the disk", is_away("wwid")),
    Bad("the_disk_has_the_serial_number_of_the_run", "The serial number of", disk("wwid", serial=UNREAD)),
    Bad("the_disk_is_blank", "It was not read", disk("wwid", labels=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {  # (guard, outcome) that cannot be -> why
    ("every_node_near_the_disk_reported", "refuse"): "A report that is missing or old is not known; nothing it says is against the disk.",
}
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
