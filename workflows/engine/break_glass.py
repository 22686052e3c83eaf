"""Breaking the glass: going on with a plan without the approvals that are missing. For one person, one plan, and not for long.

Whether it is allowed at all the portal asks first; here stands only what it does to a run.
"""

from dataclasses import replace

from workflows.engine import events as ev
from workflows.engine import plan_losses
from workflows.engine.core import Runbook, Step
from workflows.engine.state import Glass, RunState
from workflows.engine.transitions import Decision, Refused, finish, with_hand

SECONDS = 600  # who goes on alone does so now, or asks again


def broken(runbook: Runbook, state: RunState, step: Step, event: ev.GlassBroken) -> Decision | Refused:
    """In place of the approvals that this step waits for. Who breaks it is also who carries the plan out."""
    reason = event.reason.strip()
    if not state.plan_digest or event.plan_digest != state.plan_digest:
        return Refused("The plan has changed since it was shown. Reload and read the new one.")
    if any(a.by == event.by for a in state.approvals):
        return Refused("You have approved this plan. Who approves it does not also break the glass.")
    if not reason:
        return Refused("Say why no other person can approve this now. Another person will review it afterwards.")
    alone = replace(with_hand(state, event.by), glass=Glass(event.by, event.plan_digest, reason, event.at))
    record = ev.Record(
        "run.glass-broken",
        {"step": step.slug, "plan_digest": event.plan_digest, "reason": reason, **plan_losses.on_record(state.plan or {})},
    )
    return finish(runbook, alone, event, f"{event.by} broke the glass: {reason}", (), record)


def missing(state: RunState, event: ev.ExecuteAsked | ev.ByHandAsked, given: int, needed: int) -> str:
    """Why too few stand behind the plan; "" when who asks broke the glass for it just now."""
    glass = state.glass
    if glass is None:
        return f"{given} of {needed} people have approved this plan. Ask for the rest."
    if (glass.by, glass.plan_digest) == (event.by, state.plan_digest) and 0 <= event.at - glass.at <= SECONDS:
        return ""
    minutes = SECONDS // 60
    return f"The glass was broken by {glass.by}, and no other person may use that; it is valid for {minutes} minutes. Ask for a new plan."
