"""How long an import listens for another host: counted down by the kernel, else computed as OpenZFS does, else not known and said so."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from agents.collectors.kstat_pools import Importing
from agents.collectors.zdb_uberblocks import Uberblock
from workflows.analysis import import_wait
from workflows.facts import FleetFacts, Unknown
from workflows.facts.read.kstats import KstatFacts
from workflows.facts.read.tunables import TunableFacts, TunablesFacts
from workflows.tests.cast import NODE

GUID = "42"
PARAMS = {"node": "oss01", "pool_guid": GUID}
NOT_READ = Unknown("It was not read.")


def settings(interval="1000", times="20"):
    found = (("zfs_multihost_interval", interval), ("zfs_multihost_import_intervals", times))
    return TunablesFacts(tuple(TunableFacts(name, value, None, (1,)) for name, value in found), ())


def uberblock(txg=9, multihost=True, interval=1000, fails=10, delay_ns=0):
    return Uberblock(0, txg, 1795248315, 1, (0, 1, 2, 3), multihost, 0, interval, fails, delay_ns)


def timeline(*newest, state=0, hostid=0xC0FFEE):
    disks = tuple(SimpleNamespace(newest=one, label=SimpleNamespace(state=state, hostid=hostid)) for one in newest)
    return (SimpleNamespace(pool_guid=int(GUID), disks=disks),)


def reason_of(**facts) -> str:
    [line] = import_wait.lines(FleetFacts({"oss01": replace(NODE, **facts)}), PARAMS)
    return line


def test_what_the_kernel_counts_down_comes_first():
    def counting(load_state):
        kstats = KstatFacts(NOT_READ, (Importing(int(GUID), load_state, 14, None, "ost_0"),), NOT_READ)
        return reason_of(kstats=kstats, timelines=timeline(uberblock()), tunables=settings())

    assert "14 s more" in counting("tryimport")
    assert "once more for as long" in counting("tryimport")
    assert "14 s more" in counting("import")
    assert "once more" not in counting("import")


def test_it_is_computed_from_what_the_host_that_had_the_pool_wrote_into_it():
    line = reason_of(timelines=timeline(uberblock()), tunables=settings("100", "10"))
    assert line.startswith("Multihost is on for this pool, the import listens for another host twice")
    assert "20 to 25 s each time" in line
    assert "40 to 50 s" in reason_of(timelines=timeline(uberblock(fails=20)))
    assert "80 to 100 s" in reason_of(timelines=timeline(uberblock(fails=20, interval=2000)))


def test_the_newest_uberblock_of_all_disks_counts():
    newest = uberblock(txg=10, fails=20)
    assert "40 to 50 s" in reason_of(timelines=timeline(uberblock(), newest, uberblock(txg=8, multihost=False)))


def test_where_that_host_never_gives_up_or_does_not_say_this_nodes_settings_are_the_least():
    assert "20 to 25 s" in reason_of(timelines=timeline(uberblock(fails=0)), tunables=settings())
    assert "60 to 75 s" in reason_of(timelines=timeline(uberblock(fails=0, interval=2000, delay_ns=10**9)), tunables=settings())
    assert "60 to 75 s" in reason_of(timelines=timeline(uberblock(interval=None, fails=None)), tunables=settings("2000", "30"))
    assert "not known" in reason_of(timelines=timeline(uberblock(fails=0)))


def test_a_pool_without_multihost_does_not_wait():
    assert "does not listen" in reason_of(timelines=timeline(uberblock(multihost=False)), tunables=settings())


@pytest.mark.parametrize("free", [{"state": 1}, {"hostid": 0x5B2F9C01}])
def test_a_pool_that_was_exported_or_last_had_here_does_not_wait(free):
    assert "does not listen" in reason_of(timelines=timeline(uberblock(), **free), hostid="5b2f9c01")
    both = (SimpleNamespace(pool_guid=int(GUID), disks=(*timeline(uberblock(), **free)[0].disks, *timeline(uberblock())[0].disks)),)
    assert "twice" in reason_of(timelines=both, hostid="5b2f9c01")


def test_no_hostid_is_nobodys():
    assert "twice" in reason_of(timelines=timeline(uberblock(), hostid=0), hostid="00000000")


@pytest.mark.parametrize("facts", [{}, {"timelines": timeline(uberblock(fails=0))}, {"tunables": settings("many")}])
def test_what_is_not_known_is_said(facts):
    assert "not known" in reason_of(**facts)


def test_not_knowing_whether_multihost_is_on_is_said_with_the_time_it_would_take():
    line = reason_of(tunables=settings())
    assert line.startswith("If multihost is on for this pool (the node's uberblocks were not read)")
    assert "20 to 25 s each time" in line


def test_a_node_that_never_reported_is_named():
    [line] = import_wait.lines(FleetFacts({}), PARAMS)
    assert "oss01" in line


@pytest.mark.parametrize(
    ("module", "state", "hostid", "listens"),
    [
        ("2.3.5-1", 0, 0xC0FFEE, False),  # this host had it last
        ("2.3.6-1", 0, 0xC0FFEE, True),
        ("2.3.5-1", 1, 0xBAD, False),  # another host exported it
        ("2.4.1-1", 1, 0xBAD, True),
        ("2.4.4-1", 1, 0xC0FFEE, False),  # this host exported it
        ("2.4.0-1", 0, 0xC0FFEE, False),
    ],
)
def test_since_2_3_6_only_the_host_that_exported_it_does_not_listen(module, state, hostid, listens):
    facts = {"timelines": timeline(uberblock(), state=state, hostid=hostid), "hostid": "00c0ffee", "zfs_module": module}
    lines = import_wait.lines(FleetFacts({"oss01": replace(NODE, **facts)}), PARAMS)
    assert ("does not listen" in lines[0]) != listens
    assert any("writes a claim to the disks 10 times" in line for line in lines) == listens
