"""Every moment at which a story's walk had the engine ask guards, kept so that it can be asked once more with other facts.

The walks are real: the story's situation, twins, people and operations. A moment asked again is the same run at the same step with
the same event, at the same time; only the facts differ. So a refusal that is found here is one that somebody could have met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workflows.engine import events as ev
from workflows.engine.core import Runbook, Step, Verdict
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import RunState
from workflows.tests.bends import Bend

Outcome = Decision | Refused


@dataclass(frozen=True, eq=False)
class Moment:
    runbook: Runbook
    state: RunState
    kind: type
    fields: dict[str, Any]

    @property
    def step(self) -> Step:
        return self.runbook.step(self.state.step)

    @property
    def params(self) -> dict[str, str]:
        """As the guards are given them: with what is chosen or typed just now."""
        now = self.fields.get("value") or self.fields.get("evidence")
        return {**self.state.params, **({self.step.param: now} if self.step.param and now else {})}

    @property
    def asks(self) -> dict[str, Any]:
        """The guards of the step by name; those that are asked of a plan are asked with the plan, and not here."""
        return guards_of(self.step)

    def again(self, bend: Bend) -> Outcome:
        return decide(self.runbook, self.state, self.kind(**{**self.fields, "facts": bend(self.fields["facts"], self.params)}))


def guards_of(step: Step) -> dict[str, Any]:
    return {guard.__name__: guard for guard in (*step.guards, *filter(None, (getattr(step, "until", None), getattr(step, "alarm", None))))}


def verdicts(outcome: Outcome) -> tuple[Verdict, ...]:
    """Every answer that the engine told; that of an alarm stands in what it has recorded."""
    if isinstance(outcome, Refused):
        return outcome.verdicts
    alarms = [Verdict(*entry) for e in outcome.effects if isinstance(e, ev.Record) and e.type == "run.alarm" for entry in _records_of(e)]
    return (*alarms, *outcome.state.verdicts)


def _records_of(record: ev.Record) -> Iterator[tuple[str, str, str]]:
    return ((outcome, reason, guard) for guard, outcome, reason in record.body["verdicts"])


def asking(moments: tuple[Moment, ...], guard: str) -> Iterator[Moment]:
    return (moment for moment in moments if guard in moment.asks)
