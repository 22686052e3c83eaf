"""What is equally urgent is ordered by what it leaves of its pools; not knowing counts as nothing left."""

from dataclasses import replace

import pytest

from app.fleet.models import NO_POOL
from app.fleet.severity import margin
from twin.stories import shelf_lost
from workflows.engine.core import Situation
from workflows.facts import FleetFacts, Unknown
from workflows.tests.incident import FLEET, NODE
from workflows.tests.stage import Stage


def seen(**subject):
    return Situation("disk-missing", "k", NODE.node, "act", "", "", (), subject=subject)


@pytest.mark.parametrize(
    ("subject", "left"),
    [
        ({}, NO_POOL),
        ({"pool": "ost_0"}, 1),
        ({"pools": "ost_0 not_imported"}, 1),
        ({"pool": "not_imported"}, 0),
    ],
)
def test_it_counts_the_worst_of_the_pools_it_concerns(subject, left):
    assert margin(seen(**subject), FLEET) == left


@pytest.mark.parametrize("nodes", [{}, {NODE.node: replace(NODE, pools=Unknown("zpool hangs"))}])
def test_pools_that_nobody_can_read_count_as_without_redundancy(nodes):
    assert margin(seen(pool="ost_0"), FleetFacts(nodes)) == 0


def test_a_pool_whose_disks_are_gone_comes_before_one_that_has_lost_none_too_many(tmp_path):
    facts = Stage(tmp_path, {NODE.node: shelf_lost(0.0)}).facts()
    assert margin(seen(pool="ost_0"), facts) < 0
