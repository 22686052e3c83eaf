"""No page tells anybody to throw a pool away."""

import pytest

from agents.tests.scenarios import STEPS
from workflows.analysis import zfs_advice
from workflows.facts import known
from workflows.facts.tests.played import played


@pytest.mark.parametrize(
    "action",
    [
        "Destroy and re-create the pool from\n\ta backup source.",
        "Access the pool on a system that supports the required feature(s), or recreate the pool from backup.",
    ],
)
def test_it_leaves_out_what_would_destroy_the_pool(action):
    assert zfs_advice.shown(action) == zfs_advice.LEFT_OUT


@pytest.mark.parametrize("name", STEPS)
def test_every_other_advice_of_the_captures_is_shown_as_it_was_said(name):
    facts = played(name)
    for pool in facts.pools if known(facts.pools) else ():
        assert zfs_advice.shown(pool.action) == pool.action
