"""How long an import listens for another host: counted down by the kernel, else computed, else not known and said so."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from agents.collectors.kstat_pools import Importing
from workflows import importwait
from workflows.facts import FleetFacts, Unknown
from workflows.facts.kstats import KstatFacts
from workflows.facts.tunables import TunableFacts, TunablesFacts
from workflows.tests.cast import NODE

GUID = "42"
PARAMS = {"node": "oss01", "pool_guid": GUID}
NOT_READ = Unknown("It was not read.")


def settings(interval="1000", times="20"):
    found = (("zfs_multihost_interval", interval), ("zfs_multihost_import_intervals", times))
    return TunablesFacts(tuple(TunableFacts(name, value, None, (1,)) for name, value in found), ())


def timeline(multihost: bool):
    disk = SimpleNamespace(newest=SimpleNamespace(multihost=multihost))
    return (SimpleNamespace(pool_guid=int(GUID), disks=(disk,)),)


def said(**facts) -> str:
    [line] = importwait.lines(FleetFacts({"oss01": replace(NODE, **facts)}), PARAMS)
    return line


def test_what_the_kernel_counts_down_comes_first():
    counting = KstatFacts(NOT_READ, (Importing(int(GUID), "OPEN", 14, None, "ost_0"),), NOT_READ)
    assert "14 s more" in said(kstats=counting, timelines=timeline(True), tunables=settings())


def test_it_is_computed_from_the_nodes_own_settings():
    assert "Multihost is on for this pool" in said(timelines=timeline(True), tunables=settings())
    assert "for 20 to 25 s" in said(timelines=timeline(True), tunables=settings())
    assert "for 60 to 75 s" in said(timelines=timeline(True), tunables=settings("2000", "30"))


def test_a_pool_without_multihost_does_not_wait():
    assert "does not listen" in said(timelines=timeline(False), tunables=settings())


@pytest.mark.parametrize("facts", [{}, {"timelines": timeline(True)}, {"tunables": settings("many")}])
def test_what_is_not_known_is_said(facts):
    assert "not known" in said(**facts)


def test_not_knowing_whether_multihost_is_on_is_said_with_the_time_it_would_take():
    line = said(tunables=settings())
    assert line.startswith("If multihost is on for this pool (zdb_uberblocks was not collected)")
    assert "for 20 to 25 s" in line


def test_a_node_that_never_reported_is_named():
    [line] = importwait.lines(FleetFacts({}), PARAMS)
    assert "oss01" in line
