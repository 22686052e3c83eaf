"""Wipe a disk of a pool that was destroyed, so that it can be used as a new one.

    a disk of a destroyed pool is there -> checked -> planned -> confirmed -> approved -> wiped -> read back

The pool must still be destroyed: every label of it that can be read says so, no node has it imported or lists it for import, and every node that may
see the disk must have reported lately. From `wipe` on there is no way back, and `zpool import -D` does not find this disk again.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import disk_wipe_destroyed
from workflows.engine.core import CheckStep, ConfirmStep, Params, Runbook
from workflows.facts import FleetFacts
from workflows.guards import facts_are_fresh
from workflows.guards.candidate import (
    nothing_contradicts_who_the_disk_is,
    nothing_else_uses_the_disk,
    the_disk_answers_to_its_wwid,
    the_disk_is_seen_and_running,
)
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.runbooks._orders import named, order
from workflows.runbooks.wipe_destroyed_member.guards import (
    every_label_of_the_pool_is_of_a_destroyed_one,
    its_label_names_a_destroyed_pool,
    no_node_has_the_destroyed_pool,
    what_ends_with_it,
)
from workflows.runbooks.wipe_disk import VERIFIED, WIPE_WHY, after_it, what_must_be_held
from workflows.runbooks.wipe_disk.guards import (
    every_node_near_the_disk_reported,
    no_node_has_the_disk_in_a_pool,
    no_node_reads_another_label,
    only_zfs_made_its_partitions,
    the_disk_has_the_serial_number_of_the_run,
    what_the_disk_is,
    whether_it_is_used_again,
)

GUARDS = (
    facts_are_fresh,
    every_node_near_the_disk_reported,
    no_node_has_the_destroyed_pool,
    every_label_of_the_pool_is_of_a_destroyed_one,
    the_disk_is_seen_and_running,
    the_disk_answers_to_its_wwid,
    nothing_contradicts_who_the_disk_is,
    the_disk_has_the_serial_number_of_the_run,
    nothing_else_uses_the_disk,
    no_node_has_the_disk_in_a_pool,
    no_node_reads_another_label,
    its_label_names_a_destroyed_pool,
    only_zfs_made_its_partitions,
)


def what_is_wiped(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Whoever gives the order and whoever approves it accept the first, with the pool, its guid and the serial number; both stand in the plan."""
    disk, pool = f"The disk with the serial number {params['serial']}", f"{params['pool']} (guid {params['pool_guid']})"
    accept = f"{disk}, a member of the destroyed pool {pool}, is wiped: `zpool import -D` does not find it again."
    return {"accept": accept, "given_up": what_ends_with_it(facts, params), **after_it(facts, params)}


def pool_end_of_guid_and_serial(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['pool']} {plan['params']['pool_guid'][-6:]} {plan['leaving']['serial']}"


RUNBOOK = Runbook(
    slug="wipe-destroyed-member",
    title="Wipe a disk of a destroyed pool",
    purpose="A pool was destroyed, and its disks still carry its labels, so no runbook takes them as new disks. This shows that the pool was not brought "
    "back, keeps what is on the disk, and wipes its labels and its partition table. Until then `zpool import -D` may bring the pool back; this ends it.",
    states="a disk of a destroyed pool is there -> checked -> planned -> confirmed -> approved -> wiped -> read back",
    point_of_no_return="wipe",
    params={
        "node": "a node that sees the disk",
        "pool": "the destroyed pool's name",
        "pool_guid": "the destroyed pool's guid",
        "vdev_guid": "the guid on the disk's label",
        "wwid": "the disk",
        "serial": "the disk's serial number",
    },
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that the pool is still destroyed",
            why="The labels on all nodes are compared, within the disk's own pool. Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(disk_wipe_destroyed), released(disk_wipe_destroyed)),
            warns=(what_ends_with_it, what_the_disk_is, whether_it_is_used_again),
        ),
        *order(
            "wipe",
            "Wipe the disk",
            disk_wipe_destroyed,
            named(*disk_wipe_destroyed.PARAMS),
            GUARDS,
            WIPE_WHY,
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm which disk of which pool is wiped",
                why="Several destroyed pools may have had one name, and disks of a shelf look alike. You type all three, as the node read them for the plan.",
                phrase=pool_end_of_guid_and_serial,
                phrase_hint="Type the destroyed pool's name, the last 6 digits of its guid, and the disk's serial number, with a space between.",
            ),
            approvals=1,
            adds=what_is_wiped,
        ),
        VERIFIED,
    ),
)
