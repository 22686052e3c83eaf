"""Setting one tunable and putting it back, as runbooks carry it: "NAME BEFORE VALUE" in the run parameter `setting`."""

from collections.abc import Mapping
from typing import Any

from agents.operations import set_tunable
from workflows.engine.core import ExecuteStep, Guard, Loop, Params, PlanStep, Step, Verdict, ok, refuse, unknown
from workflows.facts import FleetFacts, known
from workflows.guards import tuning
from workflows.guards.releases import released
from workflows.runbooks._orders import verify

SET_SOURCES = ("parameters", "sysctl")  # where a tunable is read back


def set_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return _params(facts, params, "before", "value")


def put_back_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """The same operation with the two values exchanged."""
    return _params(facts, params, "value", "before")


def _params(facts: FleetFacts, params: Params, before: str, value: str) -> Mapping[str, str]:
    setting, tunables = tuning.the_setting(params), tuning.the_tunables(facts, params)
    given = {"pool": params["pool"], "pool_guid": params["pool_guid"]}
    if not known(setting) or not known(tunables):
        return {**given, "platform": "", "name": "", "before": "", "value": ""}
    values = {"before": str(getattr(setting, before)), "value": str(getattr(setting, value))}
    return {**given, "platform": tunables.platform, "name": setting.tunable.name, **values}


def plan_is_for_this_setting(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
    return (_plan_starts_from(params, plan, "before"),)


def plan_is_for_putting_back(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Back from what we set; from the value before as well, for it may be back already."""
    verdicts = [_plan_starts_from(params, plan, which) for which in ("value", "before")]
    return (next((v for v in verdicts if v.outcome == "pass"), verdicts[0]),)


def _plan_starts_from(params: Params, plan: Mapping[str, Any], which: str) -> Verdict:
    setting, outgoing = tuning.the_setting(params), plan.get("outgoing")
    if not known(setting):
        return unknown(setting.reason)
    value = outgoing.get("value") if isinstance(outgoing, dict) else None
    wanted = str(getattr(setting, which))
    if value == wanted:
        return ok(f"Node and portal agree that {setting.tunable.name} is {wanted} now.")
    return refuse(f"The node says that {setting.tunable.name} is {value!r} now, and the run says {wanted}. Go back and choose again.")


def what_stands_open(params: Params) -> str:
    setting = tuning.the_setting(params)
    if not known(setting):
        return setting.reason
    return f"{setting.tunable.name} on {params['node']} is {setting.value}; before it was {setting.before}."


def raised() -> Loop:
    return Loop(
        slug="raised",
        what=what_stands_open,
        undo="Write the value before to /sys/module/zfs/parameters/NAME (FreeBSD: sysctl), or reboot the node.",
        over=tuning.the_tunable_is_back,
    )


def way_back(guards: tuple[Guard, ...], closes: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """Put back what the run set. No person is asked, as this only takes back what the run did: the portal goes on by itself."""
    ours: dict[str, Any] = {
        "guards": (*guards, released(set_tunable)),
        "operation": set_tunable.NAME,
        "params": put_back_params,
        "unattended": True,
        "undoes": "raised",
    }
    return (
        PlanStep(
            slug="plan-back",
            title="Plan to put it back",
            why="The value before is recorded in this run. No confirmation is asked, as this only undoes what the run did.",
            agrees=plan_is_for_putting_back,
            **ours,
        ),
        ExecuteStep(
            slug="put-back",
            title="Put it back",
            why="Only while the node still has the value that this run set. A value that another person set since is left alone.",
            effect="idempotent",
            **ours,
        ),
        verify(
            "verify-back",
            "Verify that it is as it was",
            "The node looks again, and shows the value before.",
            (tuning.the_tunable_is_back,),
            SET_SOURCES,
            undoes="raised",
            closes=closes,
        ),
    )
