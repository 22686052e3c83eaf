"""foreign-pool-in-cachefile is found where a boot would try to import what another host has, or had last, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors.zdb_config import CachedPool
from workflows.facts import FleetFacts, Unknown
from workflows.facts.tests.played import played
from workflows.situations import foreign_pool_in_cachefile as situation

AFTER, BEFORE = "other-host/3-forced", "other-host/1-last-used-by-oss01"
OFF = 10694689121425967020  # the labels of it that oss03 reads name oss01
FILE = CachedPool("tank", OFF, 4, 0x5B2F9C03, "oss03", None)
HERE = replace(played(BEFORE), node="oss03", hostname="oss03", cached=(FILE,), zfs_module="2.1.16-1")
HOLDER = replace(played(AFTER), node="oss02", cached=())


def of(*nodes):
    return situation.detect(FleetFacts({node.node: node for node in nodes}))


def test_a_pool_that_another_host_had_last_is_imported_unasked_before_2_2():
    (found,) = of(HERE)
    assert (found.severity, found.sure) == ("act", True)
    assert found.title == "The next boot of oss03 tries to import tank, which oss01 (hostid 5b2f9c01) had last and never exported"
    assert "it is imported without being asked for -f" in found.meaning
    assert [one.source.partition("/")[0] for one in found.evidence] == ["zdb_config", "zdb_label"]
    assert found.cures[-1].argv == (("mv", "/etc/zfs/zpool.cache", "/etc/zfs/zpool.cache.old"),)


@pytest.mark.parametrize(
    ("release", "severity", "sure", "words"),
    [
        ("2.2.0-1", "watch", True, "refuses while the other host has not exported it"),
        ("2.4.1-1", "watch", True, "refuses while the other host has not exported it"),
        (Unknown("It was not read."), "act", False, "is not known"),
    ],
)
def test_the_release_decides_and_one_that_is_not_known_is_taken_for_the_worse(release, severity, sure, words):
    (found,) = of(replace(HERE, zfs_module=release))
    assert (found.severity, found.sure, words in found.meaning) == (severity, sure, True)


def test_a_node_that_has_it_is_named():
    (found,) = of(replace(HERE, disks=()), HOLDER)
    assert found.title == f"The next boot of oss03 tries to import {FILE.name}, which oss02 has imported"
    assert (found.subject["other_node"], [one.node for one in found.evidence]) == ("oss02", ["oss03", "oss02"])


def test_a_file_that_another_host_wrote_is_called_so():
    (found,) = of(replace(HERE, cached=(replace(FILE, hostid=0xABCDEF, hostname="oss09"),)))
    assert "was written by oss09 (hostid abcdef)" in found.meaning


@pytest.mark.parametrize("properties", [Unknown("They were not read."), {"cachefile": "/etc/own.cache"}])
def test_a_file_that_names_a_pool_of_this_node_is_never_moved_away(properties):
    (pool,) = (one for one in HOLDER.pools if one.guid == OFF)
    own = replace(pool, name="own", guid=77, properties=properties)
    (found,) = of(replace(HERE, pools=(own,), cached=(FILE, replace(FILE, name="own", guid=77))))
    assert found.cures[-1].argv == (("zpool", "get", "cachefile"),)
    assert not any("mv" in argv for cure in found.cures for argv in cure.argv)


def test_with_another_pool_in_the_file_zfs_writes_it_anew():
    (pool,) = (one for one in HOLDER.pools if one.guid == OFF)
    own = replace(pool, name="own", guid=77, properties={"cachefile": "-"})
    (found,) = of(replace(HERE, pools=(own,)))
    assert found.cures[-1].argv == (("zpool", "set", "cachefile=/etc/zfs/zpool.cache", "own"),)


@pytest.mark.parametrize(
    "node",
    [
        replace(HERE, cached=()),
        replace(HERE, cached=Unknown("It was not read.")),
        replace(HERE, pools=Unknown("They were not read.")),
        replace(HERE, hostname="oss01"),
        replace(HERE, hostid=Unknown("It was not read.")),
        replace(HERE, cached=(replace(FILE, guid=1),)),
    ],
    ids=["no file", "file not read", "pools not read", "its own under another hostid", "hostid not known", "of no disk here"],
)
def test_nothing_is_concluded_from_what_is_not_known(node):
    assert of(node) == ()


def test_a_pool_that_is_imported_here_is_none():
    (pool,) = (one for one in HOLDER.pools if one.guid == OFF)
    assert of(replace(HERE, pools=(pool,)), HOLDER) == ()
