"""A pool on LUKS containers: no runbook gives it a disk as it is, and the refusal has the way by hand."""

from __future__ import annotations

from dataclasses import replace

from workflows.facts import Unknown
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.target import TARGET_GUARDS
from workflows.runbooks import RUNBOOKS
from workflows.tests.incident import BLANK_WWID, DISKS, FLEET, LOST_LEAF, MEMBERS, NODE, PARAMS, by_id, fleet, with_leaf

ONE = next(leaf.wwid for leaf in MEMBERS)


def on_luks():
    return fleet(
        replace(NODE, disks=tuple(replace(one, in_use=("held by dm-3 (LUKS ost_0-4)",)) if one.wwid == ONE else one for one in DISKS))
    )


def test_a_pool_on_its_disks_passes():
    assert the_pool_is_not_encrypted_below(FLEET, PARAMS).outcome == "pass"


def test_the_lost_member_is_taken_to_be_as_those_that_are_seen_and_the_container_is_made_first():
    verdict = the_pool_is_not_encrypted_below(on_luks(), PARAMS | {"wwid": BLANK_WWID})
    assert verdict.outcome == "refuse"
    assert "ost_0-4" in verdict.reason
    steps = [
        f"luksFormat {by_id(BLANK_WWID)}`",
        f"open {by_id(BLANK_WWID)} NAME`",
        "/etc/crypttab",
        f"{PARAMS['vdev_guid']} /dev/mapper/NAME`",
    ]
    places = [verdict.reason.index(step) for step in steps]
    assert places == sorted(places)


def test_a_disk_of_something_else_on_luks_does_not_matter():
    members = {leaf.wwid for leaf in MEMBERS}
    strangers = tuple(one if one.wwid in members else replace(one, in_use=("held by dm-3 (LUKS home)",)) for one in DISKS)
    assert the_pool_is_not_encrypted_below(fleet(replace(NODE, disks=strangers)), PARAMS).outcome == "pass"


def test_of_mapped_members_whose_disks_are_not_seen_it_is_not_known():
    away = tuple(replace(leaf, name="/dev/mapper/luks-4") for leaf in MEMBERS)
    facts = with_leaf(replace(LOST_LEAF, was="/dev/mapper/luks-3"), *away)
    facts = replace(facts, nodes={name: replace(node, disks=()) for name, node in facts.nodes.items()})
    assert the_pool_is_not_encrypted_below(facts, PARAMS).outcome == "unknown"


def test_one_mapped_member_that_serves_and_whose_disk_is_not_matched_leaves_it_not_known():
    leaf = replace(MEMBERS[0], name="/dev/mapper/luks-4", wwid=Unknown("No disk of this node is behind it."))
    verdict = the_pool_is_not_encrypted_below(with_leaf(LOST_LEAF, leaf, *MEMBERS[1:]), PARAMS)
    assert verdict.outcome == "unknown"
    assert "/dev/mapper/luks-4" in verdict.reason


def test_whatever_brings_a_disk_into_a_pool_asks_it():
    bring = ("zpool_replace", "zpool_replace_serving", "zpool_replace_partition", "zpool_attach", "zpool_add", "zpool_add_class")
    without = {
        f"{book.slug}: {step.slug}"
        for book in RUNBOOKS.values()
        for step in book.steps
        if getattr(step, "operation", "") in bring
        if the_pool_is_not_encrypted_below not in step.guards
    }
    assert not without
    assert the_pool_is_not_encrypted_below in TARGET_GUARDS
