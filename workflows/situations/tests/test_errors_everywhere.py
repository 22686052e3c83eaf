"""Errors on every disk of a vdev are one situation that gates; errors of one disk stay what they were."""

from dataclasses import replace

import pytest

from workflows.situations import detect_all, errors_everywhere
from workflows.tests.incident import leaf, vdev, with_pool

CALM = leaf(11, "/dev/disk/by-id/wwn-0x5000c500a65b201b-part1")
OTHER = leaf(12, "/dev/disk/by-id/wwn-0x5000c500a65b202b-part1")


def counting(*errors, **changes):
    leaves = [replace(one, errors=counts) for one, counts in zip((CALM, OTHER), errors, strict=True)]
    return with_pool(state="ONLINE", tops=(("data", vdev(7, "mirror-0", "mirror", 0, *leaves)),), **changes)


@pytest.mark.parametrize("errors", [((0, 0, 4), (0, 0, 9)), ((3, 0, 0), (0, 2, 0)), ((1, 0, 2), (0, 0, 1))])
def test_errors_of_one_kind_on_all_are_one_situation(errors):
    found = detect_all(counting(*errors))
    assert [(one.slug, one.severity, one.gate) for one in found] == [("errors-everywhere", "act", True)]
    assert found[0].vdevs == ("11", "12")


@pytest.mark.parametrize("errors", [((0, 0, 4), (0, 0, 0)), ((9, 0, 0), (0, 0, 9))])
def test_a_sick_disk_is_not_what_all_share(errors):
    """One that cannot be read, beside one that gets wrong data of it."""
    assert errors_everywhere.detect(counting(*errors)) == ()
    assert {one.slug for one in detect_all(counting(*errors))} == {"disk-errors"}


def test_a_vdev_of_one_disk_is_not_all_of_them():
    alone = with_pool(state="ONLINE", tops=(("data", replace(CALM, errors=(0, 0, 4))),))
    assert errors_everywhere.detect(alone) == ()


def test_of_a_pool_that_is_suspended_or_down_it_says_nothing():
    assert errors_everywhere.detect(counting((0, 0, 4), (0, 0, 9), suspended=True)) == ()
    down = counting((0, 0, 4), (0, 0, 9)).nodes["oss01"].pools[0]
    assert errors_everywhere.detect(with_pool(tops=down.tops, state="FAULTED")) == ()


def test_damaged_data_on_all_disks_gates_by_its_own_situation():
    found = detect_all(counting((0, 0, 4), (0, 0, 9), errors="3 data errors, use '-v' for a list"))
    assert [(one.slug, one.gate) for one in found if not one.cause] == [("data-errors", True)]
