"""What makes each guard that remove-vdev alone asks refuse, and not know."""

from __future__ import annotations

from dataclasses import replace

from workflows.engine.core import Params
from workflows.facts import FleetFacts, VdevFacts, known
from workflows.tests.bends import UNREAD, Bad, pool

PARITY = "raidz2-9"


def _vdev(facts: FleetFacts, params: Params) -> VdevFacts | None:
    pools = [one for here in facts.nodes.values() for one in here.pools_read if str(one.guid) == params.get("pool_guid")]
    leaves = [leaf for one in pools for _, top in one.tops_read for leaf in top.leaves() if known(leaf.guid)]
    return replace(leaves[0], guid=int(params.get("vdev_guid") or 1), children=(), kind="disk") if leaves else None


def of_a_raidz(facts: FleetFacts, params: Params) -> FleetFacts:
    """What has the guid is a raidz by itself."""
    meant = _vdev(facts, params)
    return facts if meant is None else pool(tops=(("data", replace(meant, kind="raidz", name=PARITY)),))(facts, params)


def beside_a_raidz(facts: FleetFacts, params: Params) -> FleetFacts:
    meant = _vdev(facts, params)
    if meant is None:
        return facts
    return pool(tops=(("data", meant), ("data", replace(meant, guid=9, kind="raidz", name=PARITY))))(facts, params)


def still_there(facts: FleetFacts, params: Params) -> FleetFacts:
    meant = _vdev(facts, params)
    return facts if meant is None else pool(tops=(("data", meant),), removing=False)(facts, params)


REFUSED = (
    Bad("it_is_a_whole_data_vdev", "and ZFS takes none out of a pool", of_a_raidz),
    Bad("the_others_can_take_its_data", "ZFS takes no data vdev out of a pool with a raidz", beside_a_raidz),
    Bad("it_left_the_pool", "is still in", still_there),
    Bad("the_removal_goes_on", "the removal was called off", still_there),
)
UNSURE = (
    Bad("it_is_a_whole_data_vdev", "was not read", pool(tops=UNREAD)),
    Bad("the_others_can_take_its_data", "was not read", pool(tops=UNREAD)),
    Bad("it_left_the_pool", "was not read", pool(tops=UNREAD)),
    Bad("the_removal_goes_on", "was not read", pool(tops=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
