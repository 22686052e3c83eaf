"""May this be ordered on the node's release of OpenZFS, of this pool? The table is the node's own: `agents/zfs_releases.py`."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import ModuleType

from agents.zfs_releases import CHECKED, MULTIHOST, ON_ANY, PREPARES, SLOT_POWER, TABLE, WARNED, Ruling, State, asks, numbers, ruling
from workflows.analysis import import_wait
from workflows.by_hand.commands import can_be_given
from workflows.engine.core import Guard, Params, Verdict, Warns, ask, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, NodeFacts, Unknown, known, lookup, need
from workflows.guards.policy import REHEARSE, allowed
from workflows.guards.subject import number, the_pool
from workflows.situations import pool_suspended


def gates(*operations: ModuleType) -> tuple[Guard, ...]:
    """Nothing is asked of those that are ordered on any release."""
    asked = tuple(operation for operation in operations if operation.NAME not in ON_ANY)
    return (released(*asked),) if asked else ()


def tellings(operation: ModuleType) -> tuple[Warns, ...]:
    warns = any(entry.outcome == WARNED or entry.since in SITE for entry in TABLE[operation.NAME])
    return (warning_for(operation),) if warns else ()


@cache
def released(*operations: ModuleType) -> Guard:
    """Of these operations."""

    @guard
    def it_may_be_ordered_on_this_release_of_openzfs(facts: FleetFacts, params: Params) -> Verdict:
        """What a command does and prints differs by release: docs/releases.md lists the differences and their sources."""
        node = need(lookup.node(facts, params.get("node", "")))
        for operation in operations:
            judged = need(_ruling(facts, node, params, operation))
            if judged.outcome == "unknown":
                return unknown(f"Whether {node.node} is given this order is not known. {judged.reason}")
            if judged.outcome != "pass":
                return replace(
                    refuse(f"{node.node} is not given this order. {judged.reason} {REHEARSE}"),
                    by_hand=judged.by_hand and can_be_given(operation.NAME, node.system if known(node.system) else ""),
                )
        return ok(f"{node.node}: {judged.reason}")

    return it_may_be_ordered_on_this_release_of_openzfs


@cache
def only_ordered(operation: ModuleType) -> Guard:
    """Of an operation that no person can give: its step is passed over where the node is given no order, as the run could not go past it."""

    def the_agent_alone_does_it_and_may(facts: FleetFacts, params: Params) -> Verdict:
        by_outcome = {verdict.outcome: verdict for verdict in reversed(ask((allowed(operation), *gates(operation)), facts, params))}
        if against := by_outcome.get("refuse"):
            return refuse(f"The agent alone can do this, and it is given no order: {against.reason}")
        if not_known := by_outcome.get("unknown"):
            return unknown(f"The agent alone can do this. Whether it is given the order is not known: {not_known.reason}")
        return ok("The agent alone can do this, and it is given the order.")

    return the_agent_alone_does_it_and_may


@cache
def warning_for(operation: ModuleType) -> Warns:
    def this_release_of_openzfs_does_more_than_the_command_says(facts: FleetFacts, params: Params) -> str:
        """By docs/releases.md, and by what its site has put on the node: a script for new disks, a variable that has slots switched on."""
        node = lookup.node(facts, params.get("node", ""))
        judged = _ruling(facts, node, params, operation) if known(node) else node
        if not known(node) or not known(judged):
            return f"What more this release of OpenZFS does is not known: {judged.reason if isinstance(judged, Unknown) else ''}"
        return " ".join((*judged.warnings, *_of_the_site(node, operation)))

    return this_release_of_openzfs_does_more_than_the_command_says


SITE = (PREPARES, SLOT_POWER)


def _of_the_site(node: NodeFacts, operation: ModuleType) -> Iterator[str]:
    here = numbers(node.zfs_module) if known(node.zfs_module) else None
    begins = [entry.since for entry in TABLE[operation.NAME] if here and entry.since and entry.covers(here)]
    if PREPARES in begins and known(node.prepares):
        yield (
            f"{node.node} has {node.prepares}, which ZFS runs as root on the new disk before it is labelled. Ask its owner what it does; where it fails, "
            "the disk is refused. Whoever approves this plan approves it, too; to do without, its owner takes it away first."
        )
    if SLOT_POWER in begins and known(node.powers):
        yield (
            f"{node.powers} on {node.node} sets ZPOOL_AUTO_POWER_ON_SLOT: given by hand, `zpool online` and `zpool clear` switch the power of slots "
            "on. An order does not, as its environment is the agent's."
        )


def _ruling(facts: FleetFacts, node: NodeFacts, params: Params, operation: ModuleType) -> Known[Ruling]:
    tools, module = node.zfs_userland, node.zfs_module
    if not known(tools):
        return Unknown(f"The ZFS versions of {node.node} are not known: {tools.reason}")
    if not known(module):
        return Unknown(f"The ZFS versions of {node.node} are not known: {module.reason}")
    pool = {MULTIHOST: _guarded(facts, node, params), CHECKED: _checked(node, params) if asks(CHECKED, module) else False}
    return ruling(operation.NAME, tools, module, pool)


def _guarded(facts: FleetFacts, node: NodeFacts, params: Params) -> State:
    """Whether it is suspended with multihost on. What is not known to be I/O errors is taken for multihost."""
    pool = the_pool(facts, params)
    if not known(pool):
        return pool.reason
    if not known(pool.suspended):
        return pool.suspended.reason
    if not pool.suspended:
        return False
    if pool_suspended.kind_of(node, pool) != pool_suspended.IO:
        return True
    multihost = pool_suspended.multihost(pool)
    return multihost == "on" if multihost in ("on", "off") else f"`zpool get multihost {pool.name}` was not read."


def _checked(node: NodeFacts, params: Params) -> State:
    guid = number(params, "pool_guid")
    if not known(guid):
        return guid.reason
    found = import_wait.is_checked(node, guid)
    return found if known(found) else found.reason
