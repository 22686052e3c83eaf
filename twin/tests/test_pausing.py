"""A scrub that is paused keeps its place, and one that does not run cannot be paused."""

from __future__ import annotations

import pytest

from agents.collectors import zpool_status
from twin.model import Scan
from twin.scenarios import Clock, host, tiny
from twin.tests.test_writes import status


@pytest.mark.parametrize("release", ["2.1.15", "2.2.4", "2.3.2"])
def test_a_paused_scrub_keeps_its_place_and_goes_on_there(release, tmp_path):
    node = tiny()
    node.zfs_module = node.zfs_userland = release
    node.pool("ost_0").scan = Scan("scrub", "running", 1000.0, 1000.0, 10**12, 0)
    clock = Clock(1400.0)
    twin = host(tmp_path, node, clock)
    assert twin.run(("zpool", "scrub", "-p", "ost_0"), 5.0).exit_code == 0
    again = twin.run(("zpool", "scrub", "-p", "ost_0"), 5.0)
    assert (again.exit_code, b"use 'zpool scrub' to resume" in again.stderr) == (1, True)
    clock.at += 5000
    (pool,) = zpool_status.parse(status(twin))
    assert (pool.scans[0].state, pool.scans[0].percent) == ("paused", "40.00")
    assert twin.run(("zpool", "scrub", "ost_0"), 5.0).exit_code == 0
    clock.at += 300
    (pool,) = zpool_status.parse(status(twin))
    assert pool.scans[0].state == "running"
    assert 69 < float(pool.scans[0].percent) < 71


def test_without_a_scrub_there_is_nothing_to_pause(tmp_path):
    answer = host(tmp_path, tiny(), Clock(1400.0)).run(("zpool", "scrub", "-p", "ost_0"), 5.0)
    assert (answer.exit_code, b"there is no active scrub" in answer.stderr) == (1, True)
