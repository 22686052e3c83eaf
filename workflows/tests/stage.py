"""Walks that a test leads by hand: twins that are changed on the way, one step at a time, and what the engine says to each.

Everything is `walks.Walk`; here a step that is refused is an answer, not the end of the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from twin.model import Node
from twin.scenarios import Clock
from workflows.engine import events as ev
from workflows.engine.core import Option, Runbook, blockers
from workflows.engine.decide import Decision, Refused
from workflows.engine.state import RunState
from workflows.facts import FleetFacts, NodeFacts
from workflows.tests.reports import History
from workflows.tests.walks import ANN, Story, Stuck, Walk, twin_of

WAIT_SECONDS = 600.0


class Stage:
    """The nodes, their clock, and what they said before."""

    def __init__(self, folder: Path, nodes: Mapping[str, Node]) -> None:
        self.clock, self.history = Clock(), History()
        self.hosts = {name: twin_of(node, self.clock) for name, node in nodes.items()}
        self.seen: dict[str, tuple[object, NodeFacts]] = {}

    def facts(self, bend: Callable[[NodeFacts], NodeFacts] = lambda node: node) -> FleetFacts:
        """`bend` makes a node say less than it does."""
        found = _Looking(self).facts()
        return replace(found, nodes={name: bend(node) for name, node in found.nodes.items()})

    def change(self, name: str, how: Callable[[Node], Any]) -> None:
        with self.hosts[name].store.changing() as node:
            how(node)

    def node(self, name: str = "oss01") -> Node:
        return self.hosts[name].view().node

    def written(self, name: str = "oss01") -> list[list[str]]:
        return [line["argv"] for line in self.hosts[name].store.logged()]


class _Looking(Walk):
    """A walk's way of looking, without a run."""

    def __init__(self, stage: Stage) -> None:
        self.clock, self.hosts, self.history, self._seen = stage.clock, stage.hosts, stage.history, stage.seen


class Run(_Looking):
    """`answers` are what people pick and type, by step; `meanwhile` is what happens on the nodes at a step, once."""

    def __init__(self, stage: Stage, runbook: Runbook, params: Mapping[str, str], **answers: str) -> None:
        super().__init__(stage)
        self.stage, self.runbook = stage, runbook
        self.story = Story(runbook.slug, dict, lambda facts: params)
        self.answers = {slug.replace("_", "-"): value for slug, value in answers.items()}
        self.meanwhile: dict[str, Callable[[], Any]] = {}
        self.records, self.moments, self.done_at, self.kept = [], [], set(), {}
        self.state = RunState(params=dict(params), requester=ANN)
        self.must(ev.Start, by=ANN)

    def send(self, kind: type[ev.Event], **fields) -> Decision | Refused:
        self.outcome = super().send(kind, **fields)
        return self.outcome

    def to(self, step: str) -> Run:
        """Until the run stands at this step; to its end where it never comes by."""
        self.comes_by(step)
        return self

    def end(self) -> Run:
        self.to_the_end()
        return self

    def go(self) -> None:
        if change := self.meanwhile.pop(self.state.step, None):
            change()
        super().go()

    def go_on(self) -> Decision | Refused:
        """Do what the step asks, once; while it waits, that is one look ten minutes later."""
        if self.step.kind == "WAIT":
            self.clock.sleep(WAIT_SECONDS)
            self.look()
            return self.outcome
        try:
            self.go()
        except Stuck:
            pass  # what was said against it is in the outcome and in the run
        return self.outcome

    def crash(self, when: str) -> Run:
        self.crash_here(when)
        return self

    def _choice(self) -> str:
        options: tuple[Option, ...] = self.step.options(self.facts(), self.state.params)
        fit = [option.value for option in options if not blockers(option.verdicts)]
        return self.answers.get(self.state.step) or next(iter(fit or [option.value for option in options]), "")

    def _hand(self) -> str:
        return self.answers.get(self.state.step, "It was done.")


def reasons(outcome: Decision | Refused) -> str:
    """What a person reads: the refusal and everything that speaks against it."""
    assert isinstance(outcome, Refused), outcome
    return " ".join((outcome.reason, *(v.reason for v in blockers(outcome.verdicts))))
