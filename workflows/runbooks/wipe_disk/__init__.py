"""Wipe a disk that its pool let go of, so that it can be used as a new one.

    a former member is there -> checked -> planned -> confirmed -> approved -> wiped -> read back

No pool may need what is on it: the label must be older than its pool, which is ONLINE here and does not list the member any more, and every node that
may see the disk must have reported lately. From `wipe` on there is no way back. The plan keeps what was on the disk.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import disk_wipe
from workflows.engine.core import CheckStep, ConfirmStep, Params, Runbook
from workflows.facts import FleetFacts
from workflows.guards import facts_are_fresh
from workflows.guards.candidate import (
    nothing_contradicts_who_the_disk_is,
    nothing_else_uses_the_disk,
    the_disk_answers_to_its_wwid,
    the_disk_is_seen_and_running,
)
from workflows.guards.mass import every_member_serves
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.target import (
    no_expansion_is_under_way,
    no_removal_is_under_way,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._orders import named, order, verify
from workflows.runbooks.wipe_disk.guards import (
    every_node_near_the_disk_reported,
    its_label_is_older_than_its_vdev,
    its_label_names_a_pool_in_use,
    no_node_has_the_disk_in_a_pool,
    no_node_reads_another_label,
    only_zfs_made_its_partitions,
    the_disk_has_the_serial_number_of_the_run,
    the_disk_is_blank,
    the_pool_let_go_of_the_member,
    the_pool_needs_no_older_copy,
    what_the_disk_is,
    whether_it_is_used_again,
)

GUARDS = (
    facts_are_fresh,
    every_node_near_the_disk_reported,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    every_member_serves,
    no_removal_is_under_way,
    no_expansion_is_under_way,
    the_pool_needs_no_older_copy,
    the_disk_is_seen_and_running,
    the_disk_answers_to_its_wwid,
    nothing_contradicts_who_the_disk_is,
    the_disk_has_the_serial_number_of_the_run,
    nothing_else_uses_the_disk,
    no_node_has_the_disk_in_a_pool,
    no_node_reads_another_label,
    its_label_names_a_pool_in_use,
    the_pool_let_go_of_the_member,
    its_label_is_older_than_its_vdev,
    only_zfs_made_its_partitions,
)
WIPE_WHY = (
    "The node opens the disk for itself alone, compares its identity and its label through that very descriptor, writes zeros over the labels and the "
    "partition table, and reads them back. There is no way back."
)

VERIFIED = verify(
    "verify",
    "Verify that it is blank",
    "The node reads the disk again: no label and no partition may be left.",
    (the_disk_is_blank,),
    ("zdb_label", "block"),
)


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    return (f"pool:{params['pool_guid']}", f"disk:{params['wwid']}")


def what_is_wiped(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Whoever gives the order and whoever approves it accept these words, with the pool and the serial number."""
    text = f"The disk with the serial number {params['serial']}, a former member of {params['pool']}, is wiped: what was on it can be read by no tool of ZFS again."
    return {"accept": text, **after_it(facts, params)}


def after_it(facts: FleetFacts, params: Params) -> Mapping[str, Any]:
    return {"used_again": whether_it_is_used_again(facts, params)}


def pool_and_serial(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['pool']} {plan['leaving']['serial']}"


RUNBOOK = Runbook(
    slug="wipe-disk",
    title="Wipe a disk that its pool let go of",
    purpose="A disk was replaced, and still carries the label of its pool, so no runbook takes it as a new disk. This shows that no pool on any node needs "
    "it, keeps what is on it, and wipes its labels and its partition table. A disk of a pool that is down or exported is not wiped, and that of a destroyed "
    "pool by wipe-destroyed-member.",
    states="a former member is there -> checked -> planned -> confirmed -> approved -> wiped -> read back",
    point_of_no_return="wipe",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid on the disk's label",
        "wwid": "the disk",
        "serial": "the disk's serial number",
    },
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that no pool needs the disk",
            why="The labels on all nodes are compared, within the disk's own pool and vdev. Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(disk_wipe), released(disk_wipe)),
            warns=(what_the_disk_is, whether_it_is_used_again),
        ),
        *order(
            "wipe",
            "Wipe the disk",
            disk_wipe,
            named(*disk_wipe.PARAMS),
            GUARDS,
            WIPE_WHY,
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm which disk is wiped",
                why="Disks of a shelf look alike. You type the pool that it was in and its serial number, as the node read it for the plan.",
                phrase=pool_and_serial,
                phrase_hint="Type the pool's name, a space, and the serial number of the disk.",
            ),
            approvals=1,
            adds=what_is_wiped,
        ),
        VERIFIED,
    ),
)
