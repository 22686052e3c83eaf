"""docs/disks.md: every runbook that touches a disk, walked on every kind of disk. What is ordered today stays ordered, and a refusal says what to do."""

from __future__ import annotations

import pytest

from agents.operations import OPERATIONS
from workflows import disks_page
from workflows.rehearsal.kinds_of_disk.rows import ROWS
from workflows.rehearsal.kinds_of_disk.walked import ON_DISKS, ORDERED, cell, columns

# Operations that name a pool, a snapshot or a setting, or only look.
ON_NO_DISK = frozenset(
    (
        *("look", "plan", "probe_by_hand", "set_tunable", "zdb_without", "zfs_destroy_snapshot", "zpool_clear", "zpool_remove_vdev"),
        *("zpool_export_readonly", "zpool_export_unused", "zpool_import_dry_run", "zpool_import_fenced", "zpool_import_ordinary"),
        *("zpool_import_readonly", "zpool_import_rewind", "zpool_import_txg", "zpool_import_without_log", "zpool_import_writable"),
        *("zpool_resilver", "zpool_rewind", "zpool_scrub", "zpool_scrub_pause", "zpool_scrub_stop"),
    )
)

# What is not ordered of a kind, by design: the page has the reason of each.
NOT_ORDERED = {
    "sas-no-shelf": frozenset(("device-delete-reimport",)),
    "sata": frozenset(("device-delete-reimport", "drive-mode-audit")),
    "sata-no-wwn": frozenset(("device-delete-reimport", "drive-mode-audit")),
    "nvme-eui": frozenset(("device-delete-reimport", "drive-mode-audit", "many-disks-offline")),
    "nvme-nguid": frozenset(("device-delete-reimport", "drive-mode-audit", "many-disks-offline")),
    "nvme-serial": frozenset(("device-delete-reimport", "drive-mode-audit", "many-disks-offline")),
    "multipath": frozenset(
        ("device-delete-reimport", "drive-mode-audit", "replace-boot-member", "slow-disk-triage", "wipe-destroyed-member", "wipe-disk")
    ),
    "boot-member": frozenset(
        (
            "add-redundancy",
            "blink-and-replace",
            "device-delete-reimport",
            "replace-in-place",
            "wipe-destroyed-member",
            "wwid-mismatch-replace",
        )
    ),
    "partuuid": frozenset(
        (
            "add-redundancy",
            "blink-and-replace",
            "device-delete-reimport",
            "replace-boot-member",
            "replace-in-place",
            "wipe-destroyed-member",
            "wwid-mismatch-replace",
        )
    ),
    "luks": frozenset(
        (
            "add-auxiliary",
            "add-redundancy",
            "add-special",
            "blink-and-replace",
            "device-delete-reimport",
            "drive-mode-audit",
            "replace-boot-member",
            "replace-in-place",
            "wipe-destroyed-member",
            "wwid-mismatch-replace",
        )
    ),
    "virtio": frozenset(
        (
            "add-auxiliary",
            "add-redundancy",
            "add-special",
            "blink-and-replace",
            "device-delete-reimport",
            "drive-mode-audit",
            "finish-replacement",
            "many-disks-offline",
            "remove-auxiliary",
            "replace-boot-member",
            "replace-in-place",
            "slow-disk-triage",
            "spare-return",
            "wipe-destroyed-member",
            "wipe-disk",
            "wwid-mismatch-replace",
        )
    ),
    "usb": frozenset(
        (
            "add-auxiliary",
            "add-redundancy",
            "add-special",
            "blink-and-replace",
            "device-delete-reimport",
            "drive-mode-audit",
            "replace-boot-member",
            "replace-in-place",
            "slow-disk-triage",
            "wipe-destroyed-member",
            "wipe-disk",
            "wwid-mismatch-replace",
        )
    ),
    "alike": frozenset(
        (
            "add-auxiliary",
            "add-redundancy",
            "add-special",
            "blink-and-replace",
            "device-delete-reimport",
            "drive-mode-audit",
            "replace-boot-member",
            "replace-in-place",
            "slow-disk-triage",
            "wipe-destroyed-member",
            "wipe-disk",
            "wwid-mismatch-replace",
        )
    ),
}


def test_every_operation_is_known_to_touch_a_disk_or_none():
    assert set(OPERATIONS) == ON_DISKS | ON_NO_DISK
    assert not ON_DISKS & ON_NO_DISK


@pytest.mark.parametrize("row", ROWS)
def test_what_is_ordered_of_a_kind_of_disk_stays_ordered(row):
    refused = {book.slug: cell(row, book.slug).reasons for book in columns() if cell(row, book.slug).outcome != ORDERED}
    assert set(refused) == NOT_ORDERED.get(row, frozenset()), refused


@pytest.mark.parametrize("row", ROWS)
def test_where_nothing_is_ordered_there_is_a_reason(row):
    for book in columns():
        one = cell(row, book.slug)
        assert one.outcome == ORDERED or all(reason.strip() for reason in one.reasons or ("",)), book.slug


def test_the_page_is_what_the_walks_show():
    assert disks_page.PAGE.read_text(encoding="utf-8") == disks_page.page(), "run: python -m workflows.disks_page"
