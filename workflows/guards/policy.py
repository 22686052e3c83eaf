"""Does the node's own policy file let the order run? Asked before anybody plans, confirms and approves what the node would then refuse."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import ModuleType

from agents.domain.listed_disks import FREEBSD, ILLUMOS
from agents.operations.base import needs_approval
from agents.orders.policy import Policy
from workflows.by_hand.commands import can_be_given
from workflows.engine.core import Guard, Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, NodeFacts, known, lookup, need
from workflows.facts.read.policies import OLDER

ORDERED_ON: Mapping[str, tuple[str, ...]] = {FREEBSD: ("set_tunable",), ILLUMOS: ()}
REHEARSE = "Rehearsed from its situation, this runbook shows every command."


@cache
def allowed(*operations: ModuleType) -> Guard:
    """Of these operations. The rule is the node's own: `agents/orders/policy.py`."""

    @guard
    def the_policy_of_the_node_allows_it(facts: FleetFacts, params: Params) -> Verdict:
        """An agent that does not report its policy passes with a remark: the node applies its policy itself before anything runs."""
        node = need(lookup.node(facts, params.get("node", "")))
        if not params.get("pool_guid"):
            return unknown("The run names no pool guid, so whether the node's policy allows it is not known.")
        system = node.system if known(node.system) else ""
        given = all(can_be_given(one.NAME, system) for one in operations)
        if node.brought:
            return replace(refuse(f"{node.node} has no agent, so no order is made out to it. {REHEARSE}"), by_hand=given)
        if system and any(one.NAME not in ORDERED_ON.get(system, ()) for one in operations):
            ordered = (
                "a tunable alone is ordered: what the others rest" if ORDERED_ON.get(system) else "nothing is ordered: what orders rest"
            )
            why = f"{node.node} runs {node.system}, where {ordered} on there was read in its source, and tried nowhere."
            return replace(refuse(f"{why} {REHEARSE}"), by_hand=given)
        if node.policy == OLDER and any(needs_approval(one.EFFECT, destructive=False) for one in operations):
            return refuse(f"{node.node}: {OLDER.reason} Update the agent first (run the install line again on the node), then begin here.")
        if not known(node.policy):
            return ok(
                f"Whether {node.node} lets this run is not known before it is asked: {node.policy.reason} `slotlight-agent policy` there says it."
            )
        against = {one.NAME: why for one in operations if (why := node.policy.refusal(one.NAME, one.EFFECT, params))}
        if not against:
            return _in_its_hours(facts, node, node.policy, operations)
        return replace(
            refuse(f"{node.node}: {next(iter(against.values()))} {REHEARSE}"), by_hand=all(can_be_given(name, system) for name in against)
        )

    return the_policy_of_the_node_allows_it


@cache
def allowed_with_light(light: ModuleType, *operations: ModuleType) -> Guard:
    """Of these operations, and of the one that lights a bay where the run lights one."""

    def the_policy_of_the_node_allows_it(facts: FleetFacts, params: Params) -> Verdict:
        places = {params.get("slot", ""), params.get("new_slot", "")} - {"", lookup.NO_BAY}
        return allowed(*operations, *((light,) if places else ()))(facts, params)

    return the_policy_of_the_node_allows_it


def _in_its_hours(facts: FleetFacts, node: NodeFacts, policy: Policy, operations: tuple[ModuleType, ...]) -> Verdict:
    """Hours bind the run by hand as well: what loads the pool then is the same."""
    at = facts.at if known(facts.at) else None
    outside = next((why for one in operations if (why := policy.outside_hours(one.NAME, at))), "")
    return refuse(f"{node.node}: {outside}") if outside else ok(f"The policy of {node.node} lets this run.")
