"""shared-hostid is found where two nodes that report have one hostid, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.facts import FleetFacts, Unknown
from workflows.facts.tests.played import played
from workflows.situations import shared_hostid

HOLDER = replace(played("other-host/3-forced"), node="oss02", age_seconds=1.0)
PARTNER = replace(HOLDER, node="oss03", pools=(), hostid=HOLDER.hostid)  # it reads the labels of the same disks
APART = replace(PARTNER, disks=())


def of(*nodes):
    return shared_hostid.detect(FleetFacts({node.node: node for node in nodes}))


def test_where_both_reach_disks_of_one_pool_a_person_is_needed_now():
    (found,) = of(PARTNER, HOLDER)
    assert (found.severity, found.title) == ("act", f"oss02 and oss03 have the hostid {HOLDER.hostid}")
    assert HOLDER.pools[0].name in found.meaning
    assert "does not ask for -f" in found.meaning
    assert [(one.node, one.line, bool(one.digest)) for one in found.evidence] == [
        ("oss02", f"hostid: {HOLDER.hostid}", True),
        ("oss03", f"hostid: {HOLDER.hostid}", True),
    ]
    assert (("zgenhostid", "-f"),) in [cure.argv for cure in found.cures]


def test_where_no_pool_is_reached_by_both_it_is_watched():
    (found,) = of(HOLDER, APART)
    assert found.severity == "watch"
    assert "No disk of one pool is known to be reached by two of them" in found.meaning


def test_two_without_a_hostid_are_of_matter_only_where_they_share_disks():
    unset = [replace(node, hostid="00000000") for node in (HOLDER, PARTNER, APART)]
    (found,) = of(*unset[:2])
    assert found.title == "oss02 and oss03 have no hostid"
    assert (("zgenhostid",),) in [cure.argv for cure in found.cures]
    assert of(unset[0], unset[2]) == ()


def test_of_three_nodes_it_is_enough_that_two_reach_one_pool():
    (found,) = of(HOLDER, PARTNER, replace(APART, node="oss04"))
    assert (found.severity, "Two of them reach disks of" in found.meaning) == ("act", True)


@pytest.mark.parametrize(
    "other",
    [
        replace(PARTNER, hostid="0badf00d"),
        replace(PARTNER, hostid=Unknown("It was not read.")),
        replace(PARTNER, age_seconds=600.0),  # the record of a host that is gone, or of this one under an older name
        replace(PARTNER, brought=True),
    ],
    ids=["another hostid", "not known", "silent", "brought by a person"],
)
def test_it_is_not_called_so_otherwise(other):
    assert of(HOLDER, other) == ()
