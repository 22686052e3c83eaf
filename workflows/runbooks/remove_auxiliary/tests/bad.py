"""What makes each guard that remove-auxiliary alone asks refuse, and not know."""

from __future__ import annotations

from dataclasses import replace

from workflows.engine.core import Params
from workflows.facts import FleetFacts, VdevFacts, known
from workflows.tests.bends import UNREAD, Bad, pool


def called_data(facts: FleetFacts, params: Params) -> FleetFacts:
    """What has the guid stands among the data. Where the run's pool is not known, all is as it was."""
    meant = _of_guid(facts, params)
    if meant is None:
        return facts
    guid = params.get("vdev_guid")
    return pool(tops=lambda tops: (*(pair for pair in tops if str(pair[1].guid) != guid), ("data", meant)))(facts, params)


def still_there(facts: FleetFacts, params: Params) -> FleetFacts:
    """A spare of the pool has the guid of what was removed."""
    meant = _of_guid(facts, params)
    return facts if meant is None else pool(spares=lambda spares: (*spares, meant))(facts, params)


def _of_guid(facts: FleetFacts, params: Params) -> VdevFacts | None:
    node = facts.nodes.get(params.get("node", ""))
    pools = [one for one in node.pools_read if str(one.guid) == params.get("pool_guid")] if node is not None else []
    leaves = [leaf for one in pools for _, top in one.tops_read for leaf in top.leaves() if known(leaf.guid)]
    return replace(leaves[0], guid=int(params.get("vdev_guid") or 1), state="AVAIL", children=()) if leaves else None


REFUSED = (
    Bad("it_holds_no_data", "It is not removed by this runbook", called_data),
    Bad("nothing_blocks_a_removal", "has a checkpoint, and ZFS removes nothing", pool(checkpoint=True)),
    Bad("it_is_out_of_the_pool", "see what the command answered", still_there),
    Bad("the_pool_goes_on_without_it", "Look at its situations before anything else", pool(state="SUSPENDED")),
)
UNSURE = (
    Bad("it_holds_no_data", "are not known", pool(tops=UNREAD)),
    Bad("nothing_blocks_a_removal", "Whether ost_0 has a checkpoint is not known", pool(checkpoint=UNREAD)),
    Bad("it_is_out_of_the_pool", "are not known", pool(tops=UNREAD)),
    Bad("the_pool_goes_on_without_it", "The pool guid of a pool on", pool(guid=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
