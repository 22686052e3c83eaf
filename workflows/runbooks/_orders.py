"""An order as steps: PLAN, what people say to it, EXECUTE. And a VERIFY that has the node look again."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from workflows.by_hand.commands import can_be_given
from workflows.engine.core import (
    ApproveStep,
    ConfirmStep,
    ExecuteStep,
    Guard,
    Loop,
    Params,
    PlanStep,
    Step,
    Verdict,
    VerifyStep,
    Warns,
    ok,
    refuse,
)
from workflows.facts import FleetFacts
from workflows.guards.policy import allowed
from workflows.guards.releases import gates, only_ordered, tellings

Build = Callable[[FleetFacts, Params], Mapping[str, str]]
APPROVE_WHY = "A person who took no part in this run reads the plan. The approval is for this plan only; a new plan needs a new one."
PLAN_WHY = (
    "The node reads everything again and reports exactly what it would do. It changes nothing, and holds itself to these facts later."
)
POOL_SOURCES = ("zpool_status", "zpool_status_guid", "zdb_label")


def order(
    slug: str,
    title: str,
    operation: ModuleType,
    params: Build,
    guards: tuple[Guard, ...],
    why: str,
    *,
    also: tuple[ModuleType, ...] = (),  # what the node must allow too, as the way back needs it
    then: tuple[ModuleType, ...] = (),  # what its policy must allow too, and what its release says of that is asked when it comes to it
    confirm: ConfirmStep | None = None,
    approvals: int = 0,
    needed: Guard | None = None,
    adds: Callable[[FleetFacts, Params, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    agrees: Callable[[FleetFacts, Params, Mapping[str, Any]], tuple[Verdict, ...]] | None = None,
    opens: Loop | None = None,
    closes: tuple[str, ...] = (),
    undoes: str = "",
    learns: Callable[[str], Mapping[str, str]] | None = None,
    learned: tuple[str, ...] = (),
    fails_to: str = "",
    fails_means: str = "",
    warns: tuple[Warns, ...] = (),
) -> tuple[Step, ...]:
    guards = (*guards, allowed(operation, *also, *then), *gates(operation, *also))
    plan = PlanStep(
        slug=f"plan-{slug}",
        title=f"Have the node plan it: {title[0].lower()}{title[1:]}",
        why=PLAN_WHY,
        guards=guards,
        warns=(*warns, *tellings(operation)),
        operation=operation.NAME,
        params=params,
        needed=needed or (None if can_be_given(operation.NAME) else only_ordered(operation)),
        adds=adds,
        agrees=agrees or argv_is_ours(operation, params),
        undoes=undoes,
    )
    approve = ApproveStep(f"approve-{slug}", "Have another person approve the plan", APPROVE_WHY, approvals=approvals)
    execute = ExecuteStep(
        slug=slug,
        title=title,
        why=why,
        guards=guards,
        operation=operation.NAME,
        effect=operation.EFFECT,
        destructive=operation.DESTRUCTIVE,
        params=params,
        opens=opens,
        closes=closes,
        undoes=undoes,
        learns=learns,
        learned=learned,
        fails_to=fails_to,
        fails_means=fails_means,
    )
    return (plan, *((confirm,) if confirm else ()), *((approve,) if approvals else ()), execute)


def verify(
    slug: str,
    title: str,
    why: str,
    guards: tuple[Guard, ...],
    sources: tuple[str, ...] = POOL_SOURCES,
    *,
    then: str = "",
    closes: tuple[str, ...] = (),
    undoes: str = "",
) -> VerifyStep:
    return VerifyStep(slug=slug, title=title, why=why, guards=guards, sources=sources, then=then, closes=closes, undoes=undoes)


def argv_is_ours(operation: ModuleType, params: Build) -> Callable[[FleetFacts, Params, Mapping[str, Any]], tuple[Verdict, ...]]:
    """Node and portal build the command each for itself, from the same parameters."""

    def the_command_is_the_one_we_would_give(facts: FleetFacts, run: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
        wanted = dict(params(facts, run))
        if bad := operation.check(wanted):
            return (refuse(bad),)
        if plan.get("argv") != list(operation.argv(wanted)):
            return (refuse(f"The node would run {plan.get('argv')!r}. Have it look again, then ask for a new plan."),)
        return (ok("Node and portal agree on the command."),)

    return the_command_is_the_one_we_would_give


def named(*names: str) -> Build:
    """Run parameters that an operation takes under the same names."""

    def by_name(facts: FleetFacts, params: Params) -> Mapping[str, str]:
        return {name: params.get(name, "") for name in names}

    return by_name


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """For `Runbook.locks` where the pool is all that a run touches."""
    return (f"pool:{params['pool_guid']}",)
