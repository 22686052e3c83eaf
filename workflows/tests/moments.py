"""Every moment at which a story's walk had the engine ask guards, kept so that it can be asked once more with other facts.

The walks are real: the story's situation, twins, people and operations. A moment asked again is the same run at the same step with
the same event, at the same time; only the facts differ. So a refusal that is found here is one that somebody could have met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflows.engine import events as ev
from workflows.engine.core import Runbook, Step, Verdict
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import ENDED, RunState
from workflows.tests.bends import Bend
from workflows.tests.walks import Story, Walk

Outcome = Decision | Refused


@dataclass(frozen=True)
class Moment:
    story: str
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


class Recorded(Walk):
    """A walk that keeps its moments; its forks keep theirs in the same place."""

    def __init__(self, story: Story, folder: Path) -> None:
        self.moments: list[Moment] = []
        super().__init__(story, folder)

    def send(self, kind: type, **fields: Any) -> Outcome:
        before = self.state
        outcome = super().send(kind, **fields)
        if "facts" in fields and before.status != "new" and kind.__name__ != "PlanArrived":
            self.moments.append(Moment(self.story.title, self.runbook, before, kind, {"at": self.clock.at, **fields}))
        return outcome


def walked(story: Story, folder: Path) -> tuple[Moment, ...]:
    """To the good end, and back from the first and the last step at which each different set of loops is open."""
    walk = Recorded(story, folder / "walk")
    turns: dict[tuple[frozenset[str], str], Walk] = {}
    while walk.state.status not in ENDED:
        loops = frozenset(open_.loop for open_ in walk.state.loops)
        if loops and not walk.state.ending:
            which = "last" if (loops, "first") in turns else "first"
            turns[loops, which] = walk.fork(folder / f"at-{walk.state.step}-{len(walk.moments)}")
        walk.go()
    for other in turns.values():
        other.abort()
        other.to_the_end()
    return tuple(walk.moments)


def asking(moments: tuple[Moment, ...], guard: str) -> Iterator[Moment]:
    return (moment for moment in moments if guard in moment.asks)
