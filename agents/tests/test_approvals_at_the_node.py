"""What needs another person needs that person's approval on the node too: walked over every operation of the catalogue.

The operation runs on a node that does what it is told, so that what refuses is the missing approval and nothing else.
"""

from __future__ import annotations

import pytest

from agents.operations import OPERATIONS
from agents.operations.base import needs_approval
from agents.tests import rig
from agents.tests.test_every_operation_dies import WRITING, Node
from agents.tests.test_operations import GOOD

SELF_APPROVED = (rig.event("run.approved", "ann", {"step": "approve", "plan_digest": "p" * 64}),)
# Said here a second time, by hand: an operation that is added, or whose effect changes, is decided on by a person.
ALONE = {
    *(
        "look",
        "plan",
        "probe_by_hand",
        "locate_led",
        "fault_led_off",
        "zpool_online",
        "zpool_export_readonly",
        "zpool_export_unused",
        "disk_rescan",
        "set_tunable",
    ),
    *("smart_self_test", "zpool_bring_back", "zpool_scrub", "zpool_scrub_pause", "zpool_resilver", "zpool_set_path", "zdb_without"),
}
TOGETHER = {
    *("zpool_replace", "zpool_offline", "zpool_detach", "zpool_import_readonly", "zpool_import_dry_run", "zpool_import_rewind"),
    *(
        "zpool_import_txg",
        "zpool_import_writable",
        "zpool_import_ordinary",
        "zpool_import_fenced",
        "zpool_import_without_log",
        "zpool_rewind",
        "disk_delete",
        "disk_wipe",
        "disk_wipe_destroyed",
        "set_drive_mode",
        "zpool_clear",
    ),
    *(
        "zpool_replace_serving",
        "zpool_detach_new_half",
        "zpool_remove",
        "zpool_add",
        "zpool_add_class",
        "zpool_attach",
        "zfs_destroy_snapshot",
        "zpool_scrub_stop",
        "zpool_remove_vdev",
        "partition_copy",
        "zpool_replace_partition",
        "proxmox_boot_init",
    ),
}


@pytest.fixture
def node(tmp_path, request, monkeypatch):
    node = Node(tmp_path, request.param, monkeypatch)
    yield node
    node.stage.journal.close()


def reseal(node, behind=None, **fields):
    name = node.operation.NAME
    body = {"operation": name, "effect": node.operation.EFFECT, "params": GOOD[name], "argv": list(node.argv)}
    node.sealed = rig.seal(behind, **{**body, "preconditions": {"fact": "as planned"}, **fields})


def test_the_rule_is_the_registered_effect_and_nothing_else():
    assert {name for name, operation in OPERATIONS.items() if needs_approval(operation.EFFECT, operation.DESTRUCTIVE)} == TOGETHER
    assert set(OPERATIONS) == ALONE | TOGETHER
    assert needs_approval("a word that nobody knows", False)


@pytest.mark.parametrize("node", WRITING, indirect=True)
@pytest.mark.parametrize("behind", [None, SELF_APPROVED], ids=["nobody's", "the giver's own"])
def test_what_needs_another_person_never_runs_without_one(node, behind):
    reseal(node, behind, **({} if behind else {"approvals": []}))
    node.hand_over()
    together = node.operation.NAME in TOGETHER
    assert node.given == ([] if together else [node.argv])
    assert node.receipt["outcome"] == ("refused" if together else "succeeded")
    if together and behind is None:
        assert node.receipt["reason"] == (
            f"{node.operation.NAME} needs another person's approval, and the order names none. Make a new plan and have it approved;"
            " where the portal does not ask for approval, update the portal first, then plan again."
        )


@pytest.mark.parametrize("node", sorted(TOGETHER), indirect=True)
def test_with_another_persons_approval_it_runs_and_the_portal_is_told_which_was_proven(node):
    node.hand_over()
    assert node.given == [node.argv]
    words = dict(node.stage.portal.asked)
    assert words["claim"]["approvals"] == list(node.stage.order(node.sealed).approvals) != []
