"""Every tunable of scrub and resilver, value by value: what each release and platform calls it, has by default and may be set to.

The rows were taken from the sources and manuals of OpenZFS, FreeBSD and illumos, apart from the table that the product uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from agents.collectors import sysctl
from agents.collectors.base import Capture
from agents.domain.tunables import MIB, TUNABLES
from workflows.facts import known, node_facts
from workflows.facts.read.tunables import DEFAULTS, _defaults
from workflows.situations import tunables_left_raised

RELEASES = ((0, 6, 5), (0, 7, 13), (0, 8, 6), (2, 0, 7), (2, 1, 5), (2, 1, 15), (2, 2, 9), (2, 3, 4), (2, 4, 0), (2, 4, 1))


@dataclass(frozen=True)
class Row:
    """`since` and `gone` are of Linux; `defaults` says from which release on each holds; `illumos` whether it has it."""

    name: str
    since: tuple[int, ...]
    gone: tuple[int, ...] | None
    defaults: dict[tuple[int, ...], int]  # from which release on
    freebsd: str
    freebsd_old: str
    illumos: bool
    safe: tuple[int, int] | None
    successors: tuple[str, ...] = ()


FIRST, SEQUENTIAL = (0, 6, 3), (0, 8, 0)
ROWS = (
    Row("zfs_scrub_delay", FIRST, SEQUENTIAL, {FIRST: 4}, "", "vfs.zfs.scrub_delay", True, (0, 4), ("zfs_vdev_scrub_max_active",)),
    Row("zfs_resilver_delay", FIRST, SEQUENTIAL, {FIRST: 2}, "", "vfs.zfs.resilver_delay", True, (0, 2), ("zfs_vdev_scrub_max_active",)),
    Row("zfs_scan_idle", FIRST, SEQUENTIAL, {FIRST: 50}, "", "vfs.zfs.scan_idle", True, None),
    Row("zfs_top_maxinflight", FIRST, SEQUENTIAL, {FIRST: 32}, "", "vfs.zfs.top_maxinflight", True, (32, 128), ("zfs_scan_vdev_limit",)),
    Row(
        "zfs_scan_min_time_ms",
        FIRST,
        SEQUENTIAL,
        {FIRST: 1000},
        "",
        "vfs.zfs.scan_min_time_ms",
        True,
        (1000, 5000),
        ("zfs_scrub_min_time_ms",),
    ),
    Row("zfs_scrub_min_time_ms", SEQUENTIAL, None, {FIRST: 1000, (2, 4, 1): 750}, "vfs.zfs.scrub_min_time_ms", "", True, (500, 5000)),
    Row(
        "zfs_resilver_min_time_ms",
        FIRST,
        None,
        {FIRST: 3000, (2, 4, 1): 1500},
        "vfs.zfs.resilver_min_time_ms",
        "vfs.zfs.resilver_min_time_ms",
        True,
        (500, 5000),
    ),
    Row(
        "zfs_scan_vdev_limit",
        SEQUENTIAL,
        None,
        {FIRST: 4 * MIB, (2, 1, 12): 16 * MIB},
        "vfs.zfs.scan_vdev_limit",
        "",
        True,
        (4 * MIB, 64 * MIB),
    ),
    Row("zfs_scan_legacy", SEQUENTIAL, None, {FIRST: 0}, "vfs.zfs.scan_legacy", "", True, None),
    Row("zfs_scan_mem_lim_fact", SEQUENTIAL, None, {FIRST: 20}, "vfs.zfs.scan_mem_lim_fact", "", True, None),
    Row("zfs_rebuild_vdev_limit", (2, 1), None, {FIRST: 32 * MIB, (2, 1, 12): 64 * MIB}, "vfs.zfs.rebuild_vdev_limit", "", False, None),
    Row("zfs_vdev_scrub_min_active", FIRST, None, {FIRST: 1}, "vfs.zfs.vdev.scrub_min_active", "", True, None),
    Row("zfs_vdev_scrub_max_active", FIRST, None, {FIRST: 2, (2, 0, 1): 3}, "vfs.zfs.vdev.scrub_max_active", "", True, (1, 8)),
    Row("zfs_vdev_rebuild_min_active", (2, 0), None, {FIRST: 1}, "vfs.zfs.vdev.rebuild_min_active", "", False, None),
    Row("zfs_vdev_rebuild_max_active", (2, 0), None, {FIRST: 3}, "vfs.zfs.vdev.rebuild_max_active", "", False, None),
    Row("zfs_vdev_nia_delay", (2, 0, 1), None, {FIRST: 5}, "vfs.zfs.vdev.nia_delay", "", False, (1, 5)),
    Row("zfs_vdev_nia_credit", (2, 0, 1), None, {FIRST: 5}, "vfs.zfs.vdev.nia_credit", "", False, (2, 20)),
    Row("zfs_vdev_sync_read_max_active", FIRST, None, {FIRST: 10}, "vfs.zfs.vdev.sync_read_max_active", "", True, None),
    Row("zfs_vdev_sync_write_min_active", FIRST, None, {FIRST: 10}, "vfs.zfs.vdev.sync_write_min_active", "", True, None),
    Row("zfs_vdev_async_read_max_active", FIRST, None, {FIRST: 3}, "vfs.zfs.vdev.async_read_max_active", "", True, None),
    Row("zfs_vdev_async_write_max_active", FIRST, None, {FIRST: 10}, "vfs.zfs.vdev.async_write_max_active", "", True, None),
    Row("zfs_vdev_max_active", FIRST, None, {FIRST: 1000}, "vfs.zfs.vdev.max_active", "", True, None),
    Row("zio_dva_throttle_enabled", (0, 7, 0), None, {FIRST: 1}, "vfs.zfs.zio.dva_throttle_enabled", "", True, None),
    Row(
        "zfs_dirty_data_sync",
        FIRST,
        SEQUENTIAL,
        {FIRST: 64 * MIB},
        "",
        "vfs.zfs.dirty_data_sync",
        False,
        None,
        ("zfs_dirty_data_sync_percent",),
    ),
    Row("zfs_dirty_data_sync_percent", SEQUENTIAL, None, {FIRST: 20}, "vfs.zfs.dirty_data_sync_percent", "", False, None),
    Row("zfs_prefetch_disable", FIRST, None, {FIRST: 0}, "vfs.zfs.prefetch.disable", "vfs.zfs.prefetch_disable", True, None),
    Row("zfs_dbgmsg_enable", (0, 6, 5), None, {(0, 8): 1}, "vfs.zfs.dbgmsg_enable", "", False, None),
    Row("zfs_resilver_disable_defer", SEQUENTIAL, None, {FIRST: 0}, "vfs.zfs.resilver_disable_defer", "", False, None),
    Row("zfs_resilver_defer_percent", (2, 3), None, {FIRST: 10}, "vfs.zfs.resilver_defer_percent", "", False, None),
    Row("zfs_scan_suspend_progress", SEQUENTIAL, None, {FIRST: 0}, "vfs.zfs.scan_suspend_progress", "", False, None),
    Row("zfs_no_scrub_io", FIRST, None, {FIRST: 0}, "vfs.zfs.no_scrub_io", "vfs.zfs.no_scrub_io", True, None),
    Row("zfs_no_scrub_prefetch", FIRST, None, {FIRST: 0}, "vfs.zfs.no_scrub_prefetch", "vfs.zfs.no_scrub_prefetch", True, None),
)
BY_NAME = [pytest.param(row, id=row.name) for row in ROWS]


@pytest.mark.parametrize("row", BY_NAME)
def test_it_is_in_the_releases_that_have_it(row):
    for release in RELEASES:
        there = row.since <= release and (row.gone is None or release < row.gone)
        assert TUNABLES[row.name].is_in(release) == there, release


@pytest.mark.parametrize("row", BY_NAME)
def test_its_defaults_are_those_of_the_release(row):
    """Distributions carry values over from the next patch release, so a near one may count as a default too; the right one always does."""
    for release in (r for r in RELEASES if row.since <= r and (row.gone is None or r < row.gone) and min(row.defaults) <= r):
        right = [value for since, value in sorted(row.defaults.items()) if since <= release][-1]
        assert right in _defaults(row.name, release), release
    assert {value for _, values in DEFAULTS[row.name] for value in values} >= set(row.defaults.values())


@pytest.mark.parametrize("row", BY_NAME)
def test_it_has_the_names_that_each_platform_gives_it(row):
    tunable = TUNABLES[row.name]
    assert (tunable.freebsd, tunable.freebsd_old, tunable.illumos) == (row.freebsd, row.freebsd_old, row.illumos)
    for oid in filter(None, (row.freebsd, row.freebsd_old)):
        assert sysctl.Sysctl(oid, "0").linux_name == row.name


@pytest.mark.parametrize("row", BY_NAME)
def test_it_may_be_set_within_its_range_and_what_is_gone_names_what_took_over(row):
    tunable = TUNABLES[row.name]
    assert tunable.safe == row.safe
    assert bool(tunable.safe) != bool(tunable.why_not), "either it may be set, or it is said why not"
    assert set(row.successors) <= set(tunable.successors)
    assert all(TUNABLES[name].gone is None for name in tunable.successors)
    assert all(tunable.safe[0] <= step <= tunable.safe[1] for step in tunable.steps)


@pytest.mark.parametrize("harm", sorted(tunables_left_raised.HARMS))
def test_what_stops_or_blinds_scans_is_seen_on_freebsd_too(harm):
    text = f"{TUNABLES[harm].freebsd}: 1\n"
    fields = {
        "sysctl": Capture("sysctl", "", "data", text),
        "parameters": Capture("parameters", "", "nothing", "", "no Linux"),
        "node": Capture("node", "", "data", "/sys/module/zfs/version:2.2.4\n"),
    }
    node = node_facts("bsd01", fields, 1.0, ())
    assert known(node.tunables), node.tunables
    assert [(t.name, t.value) for t in node.tunables.known_names] == [(harm, "1")]
