"""What each button of the run page means: its form becomes one event for the engine.

Each entry takes the posted form and gives `event(by, at, facts)`; the service layer fills these in under the run's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workflows import events as ev
from workflows.facts import FleetFacts

Form = Mapping[str, str]
EventAt = Callable[[str, float, FleetFacts], ev.Event]
WORDS_MAX = 500


def _text(form: Form, name: str) -> str:
    return form.get(name, "")[:WORDS_MAX]


ACTS: Mapping[str, Callable[[Form], EventAt]] = {
    "choose": lambda form: lambda by, at, facts: ev.Chosen(by=by, at=at, value=_text(form, "value"), facts=facts),
    "check": lambda form: lambda by, at, facts: ev.CheckAsked(by=by, at=at, facts=facts),
    "plan": lambda form: lambda by, at, facts: ev.PlanAsked(by=by, at=at, facts=facts),
    "confirm": lambda form: lambda by, at, facts: ev.Confirmed(by=by, at=at, text=_text(form, "text")),
    "approve": lambda form: lambda by, at, facts: ev.Approved(by=by, at=at, plan_digest=_text(form, "plan_digest")),
    "deny": lambda form: lambda by, at, facts: ev.Denied(by=by, at=at, plan_digest=_text(form, "plan_digest"), reason=_text(form, "reason")),
    "execute": lambda form: lambda by, at, facts: ev.ExecuteAsked(by=by, at=at, facts=facts),
    "hands": lambda form: lambda by, at, facts: ev.HandsDone(by=by, at=at, evidence=_text(form, "evidence"), facts=facts),
    "settle": lambda form: lambda by, at, facts: ev.Settled(by=by, at=at, outcome=_text(form, "outcome"), reason=_text(form, "reason")),
    "back": lambda form: lambda by, at, facts: ev.WentBack(by=by, at=at, step=_text(form, "step")),
    "abort": lambda form: lambda by, at, facts: ev.Aborted(by=by, at=at, reason=_text(form, "reason")),
}
