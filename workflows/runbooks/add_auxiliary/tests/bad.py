"""What makes each guard that add-auxiliary alone asks refuse, and not know."""

from __future__ import annotations

from dataclasses import replace

from workflows.engine.core import Params
from workflows.facts import FleetFacts
from workflows.tests.bends import A_LABEL, UNREAD, Bad, disk, pool, vdevs


def as_data(facts: FleetFacts, params: Params) -> FleetFacts:
    """The disk is a member of a data vdev. Where the run's pool is not known, all is as it was."""
    node = facts.nodes.get(params.get("node", ""))
    pools = [one for one in node.pools_read if str(one.guid) == params.get("pool_guid")] if node is not None else []
    guids = [leaf.guid for one in pools for _, top in one.tops_read for leaf in top.leaves()]
    if not guids:
        return facts
    return vdevs(lambda vdev, params: vdev.guid == guids[0], wwid=params.get("wwid", ""))(facts, params)


def gone(facts: FleetFacts, params: Params) -> FleetFacts:
    return pool(spares=(), caches=(), tops=lambda tops: tuple(pair for pair in tops if pair[0] != "log"))(facts, params)


REFUSED = (
    Bad("it_can_be_removed_again", "what is added now cannot be removed", pool(checkpoint=True)),
    Bad("the_disk_carries_no_label_at_all", "choose a disk without a label", disk("wwid", labels=(A_LABEL,))),
    Bad(
        "the_disk_carries_no_label_at_all", "a spare or cache device of some pool", disk("wwid", labels=(replace(A_LABEL, pool_name=None),))
    ),
    Bad("the_disk_is_fit_for_its_role", "Choose a disk with smaller blocks", disk("wwid", logical_block_bytes=8192)),
    Bad("the_disk_is_fit_for_its_role", "could not stand in for that one", disk("wwid", size_bytes=1000)),
    Bad("the_pool_lists_it_in_its_role", "see what the command answered", gone),
    Bad("the_data_is_as_it_was", "which holds data", as_data),
)
UNSURE = (
    Bad("it_is_added_beside_the_data", "The pool guid of a pool on", pool(guid=UNREAD)),
    Bad("it_can_be_removed_again", "has a checkpoint is not known", pool(checkpoint=UNREAD)),
    Bad("the_disk_carries_no_label_at_all", "are not known", disk("wwid", labels=UNREAD)),
    Bad("the_disk_is_fit_for_its_role", "Have the node look again", disk("wwid", size_bytes=UNREAD)),
    Bad("the_pool_lists_it_in_its_role", "are not known", pool(tops=UNREAD)),
    Bad("the_data_is_as_it_was", "are not known", pool(tops=UNREAD)),
)
NEVER: dict[tuple[str, str], str] = {  # (guard, outcome) that cannot be -> why
    ("it_is_added_beside_the_data", "refuse"): "What a run is begun with is spare, log or cache; a test gives it another word.",
}
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
