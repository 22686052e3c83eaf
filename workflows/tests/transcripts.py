"""Each runbook's walk to its good end, told line by line: what people do, what the engine says, what is recorded, what a node runs.

`python -m workflows.tests.transcripts` walks the first story of every runbook on its twin and writes docs/transcripts/<runbook>.md;
the tests hold those pages to the code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflows.engine import events as ev
from workflows.engine.core import Step, Verdict
from workflows.engine.decide import Decision, Refused
from workflows.runbooks import RUNBOOKS
from workflows.situations import detect_all
from workflows.tests.moments import guards_of
from workflows.tests.stories import STORIES
from workflows.tests.walks import Story, Walk

FOLDER = Path(__file__).resolve().parents[2] / "docs/transcripts"
HEAD = """\
<!-- Made by `python -m workflows.tests.transcripts` from a walk through the engine. Change the runbook, not this page. -->

# {title}: a run to its good end

{situation}
`ann` asks, `bob` approves. The engine, the guards and the operations are the real ones; the node is a twin. Times are seconds since the run
began. Lines that begin with `ledger` are what was recorded for ever; `+` is a check that passed, with what it found.

```
"""
PERSON = {
    ev.CheckAsked: "asks for the checks",
    ev.PlanAsked: "asks the node for a plan",
    ev.ExecuteAsked: "gives the order",
    ev.Approved: "approves the plan",
    ev.Start: "begins the run",
}


class Transcript(Walk):
    """A walk that tells what happens while it happens."""

    def __init__(self, story: Story) -> None:
        self.lines: list[str] = []
        self.looks, self.given, self.began = 0, 0, None
        super().__init__(story)

    def send(self, kind: type, **fields: Any) -> Decision | Refused:
        self._commands()
        at, title = self.state.step, self._title()
        outcome = super().send(kind, **fields)
        self.began = self.clock.at if self.began is None else self.began
        if kind is ev.FactsArrived and self.state.step == at and self.state.status not in ("done",):
            self.looks += 1
            return outcome
        self._event(kind, fields, at, title)
        self._checks(kind, at, fields)
        for record in (e for e in self.effects if isinstance(e, ev.Record)):
            self._write(f"ledger  {' '.join(_lines_of(record))}")
        return outcome

    def _write(self, line: str) -> None:
        self.lines.append(f"{self.clock.at - (self.began or self.clock.at):8.0f}  {line}")

    def _title(self) -> str:
        return f"“{self.step.title}”" if self.state.step else "the run"

    def _event(self, kind: type, fields: dict[str, Any], at: str, title: str) -> None:
        by = fields.get("by") or "the portal"
        if kind in PERSON:
            self._write(f"{by} {PERSON[kind]}" + ("" if kind is ev.Start else f" at {title}"))
        elif kind is ev.Chosen:
            self._write(f"{by} chooses {fields['value']} at {title}")
        elif kind is ev.HandsDone:
            self._write(f"{by} has done by hand {title} and says: {_indented(fields['evidence'])}")
        elif kind is ev.Confirmed:
            self._write(f"{by} types {fields['text']} at {title}")
        elif kind is ev.PlanArrived:
            self._write(f"{self.state.params['node']} has planned: {' '.join(fields['plan']['argv'])}")
            for warned in (self.state.plan or {}).get("warnings", ()):
                self._write(f"! a warning: {warned}")
        elif kind is ev.FactsArrived:
            note = next(done.note for done in reversed(self.state.finished) if done.step == at)
            self._write(f"{self.state.params['node']} is looked at, time {self.looks + 1}, and {title} is over: {note}")
            self.looks = 0

    def _checks(self, kind: type, at: str, fields: dict[str, Any]) -> None:
        """Where a step is about nothing but its checks they are told each; elsewhere they are counted."""
        step = self.runbook.step(at) if at else None
        if step is None or "facts" not in fields or kind is ev.PlanArrived:
            return
        if step.kind in ("CHECK", "VERIFY"):
            for verdict in self._asked(step, fields):
                self._write(f"+ {verdict.reason}")
        elif step.guards:
            self._write(f"+ {len(step.guards)} {'check passes' if len(step.guards) == 1 else 'checks pass'}")

    def _asked(self, step: Step, fields: dict[str, Any]) -> Iterator[Verdict]:
        yield from (guard(fields["facts"], self.state.params) for guard in guards_of(step).values())

    def _commands(self) -> None:
        for name, host in self.hosts.items():
            logged = host.store.logged()
            for line in logged[self.given :] if name == self.state.params.get("node") else ():
                self._write(f"{name} runs {' '.join(line['argv'])}")
                self.given += 1


def _indented(text: str) -> str:
    """Of many lines each below the first."""
    return "\n".ljust(BELOW + 1).join(text.strip().splitlines())


def _lines_of(record: ev.Record) -> Iterator[str]:
    yield record.type
    yield from (str(record.body[name]) for name in ("step", "status", "loop") if record.body.get(name))


BELOW = 12  # columns: those of the time, and two


def first_story(slug: str) -> Story:
    return next(story for story in STORIES.values() if story.runbook == slug)


def page(slug: str) -> str:
    walk = Transcript(first_story(slug))
    begun = walk.facts()
    walk.to_the_end()
    found = [s for s in detect_all(begun) if any(answer.runbook == slug for answer in s.answers)]
    situation = f"The situation: {found[0].title}.\n" if found else "No situation asks for it; a person begins it from the node's page.\n"
    head = HEAD.format(title=RUNBOOKS[slug].title, situation=situation)
    return "\n".join([head.rstrip("\n"), *walk.lines, "```", "", f"The run is {walk.state.status}.", ""])


def main() -> int:
    for slug in RUNBOOKS:
        (FOLDER / f"{slug}.md").write_text(page(slug))
    print(f"{len(RUNBOOKS)} pages are written to {FOLDER}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
