"""What every guard answers in every story, with every fact and with each field unknown; what the story does is recorded beside it.

An answer is an outcome and a letter: two texts of one guard in one section have the same letter when they are the same text. So a
reworded sentence changes nothing here, and a guard that answers for another reason than before does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from agents.operations import OPERATIONS
from agents.operations.base import UNKNOWN
from agents.portal.wire import digest_of
from tests.frozen.record import Record, Texts, add, add_texts
from tests.frozen.unknowns import each_unknown
from workflows.engine import events as ev
from workflows.engine.core import Step, Verdict
from workflows.engine.state import ENDED
from workflows.facts import FleetFacts
from workflows.guards import GUARDS
from workflows.runbooks import RUNBOOKS
from workflows.tests.stories import STORIES
from workflows.tests.walks import Story, Walk

GROUP = "guards"
Guards = dict[str, Callable[..., Verdict]]


def of_step(step: Step) -> Guards:
    loops = [step.opens.over] if step.opens else []
    return {
        guard.__name__: guard
        for guard in (*step.guards, *filter(None, (getattr(step, "until", None), getattr(step, "alarm", None), step.needed)), *loops)
    }


def every_guard() -> Guards:
    """By name; where one name is several guards, with the step that asks it."""
    found: dict[str, dict[int, tuple[str, Any]]] = {}
    for book in RUNBOOKS.values():
        for step in book.steps:
            for name, guard in of_step(step).items():
                found.setdefault(name, {}).setdefault(id(guard), (f"{name} @ {book.slug}/{step.slug}", guard))
    for guard in GUARDS.values():
        found.setdefault(guard.__name__, {}).setdefault(id(guard), (guard.__name__, guard))
    return {label if len(same) > 1 else name: guard for name, same in found.items() for label, guard in same.values()}


class Answers:
    """The answers of some guards to some facts, by guard."""

    def __init__(self, guards: Guards, params: Mapping[str, str]) -> None:
        self.guards, self.params = guards, params
        self.letters: dict[str, dict[str, str]] = {name: {} for name in guards}
        self.found: dict[str, dict[str, list[str]]] = {name: {} for name in guards}  # guard -> answer -> conditions

    def ask(self, facts: FleetFacts, condition: str = "") -> None:
        for name, guard in self.guards.items():
            verdict = guard(facts, self.params)
            letters = self.letters[name]
            letter = letters.setdefault(verdict.reason, letter_of(len(letters)))
            self.found[name].setdefault(f"{verdict.outcome}{' at a cost' if verdict.costs else ''} {letter}", []).append(condition)

    @property
    def section(self) -> dict[str, str]:
        return {name: _line(answers) for name, answers in self.found.items()}

    @property
    def texts(self) -> dict[str, set[str]]:
        return {name.partition(" @ ")[0]: set(letters) for name, letters in self.letters.items()}


def letter_of(number: int) -> str:
    """a to z, then aa, ab, and so on."""
    high, low = divmod(number, len(ascii_lowercase))
    return (letter_of(high - 1) if high else "") + ascii_lowercase[low]


def _line(answers: Mapping[str, list[str]]) -> str:
    (first, *_), *rest = [(answer, [c for c in conditions if c]) for answer, conditions in answers.items()]
    return "; ".join((first, *(f"{answer}: {' '.join(conditions)}" for answer, conditions in rest)))


def asked(guards: Guards, facts: FleetFacts, params: Mapping[str, str]) -> Answers:
    answers = Answers(guards, params)
    answers.ask(facts)
    for condition, less in each_unknown(facts):
        answers.ask(less, condition)
    return answers


# --- a story


class Recorded(Walk):
    """A walk that keeps what it stood before at each step, and every order."""

    def __init__(self, story: Story) -> None:
        self.orders: list[tuple[str, ev.Seal]] = []
        super().__init__(story)

    def _carry_out(self, seal: ev.Seal, crash: str) -> None:
        self.orders.append((self.state.step, seal))
        super()._carry_out(seal, crash)


def of_story(title: str, _folder: Path) -> tuple[Record, Texts]:
    walk = Recorded(STORIES[title])
    begun, moments = walk.facts(), {}
    while walk.state.status not in ENDED:
        if walk.state.step not in moments:
            moments[walk.state.step] = (of_step(walk.step), walk.facts(), dict(walk.state.params))
        walk.go()
    moments["all guards as it begins"] = (every_guard(), begun, dict(walk.state.params))
    record: Record = {}
    texts: Texts = {}
    for moment, (guards, facts, params) in moments.items():
        if guards:
            answers = asked(guards, facts, params)
            add(record, {GROUP: {f"{title} | {moment}": answers.section}})
            add_texts(texts, {GROUP: answers.texts})
    add(record, {"stories": {title: dict(_history(walk))}, "orders": dict(_orders(title, walk))})
    return record, texts


def _history(walk: Recorded) -> Iterator[tuple[str, str]]:
    """Its ledger events in their order, and the commands that its nodes ran."""
    for number, (kind, body) in enumerate(walk.records):
        yield f"event {number:03}", f"{kind} {json.dumps(_without_texts(body), sort_keys=True)}"
    for name, host in walk.hosts.items():
        for number, line in enumerate(host.store.logged()):
            yield f"command {number:03} on {name}", json.dumps(line["argv"])
    yield "status", walk.state.status


SENTENCES = ("reason", "note", "why", "what", "text", "title", "warnings", "undo", "evidence", "alarm", "said", "typed", "shown")


def _without_texts(value: Any) -> Any:
    """What a person reads is left out; that it is there is not."""
    if isinstance(value, Mapping):
        return {k: _kind_of(v) if k in SENTENCES else _verdicts(v) if k == "verdicts" else _without_texts(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_texts(item) for item in value]
    return value


def _kind_of(value: Any) -> str:
    return f"<{type(value).__name__}{'' if value else ', empty'}>"


def _verdicts(found: Any) -> dict[str, int]:
    """How many of each outcome; which guard answers what stands in the group of the guards."""
    return dict(Counter(outcome for _, outcome, *_ in found))


def _orders(title: str, walk: Recorded) -> Iterator[tuple[str, dict[str, str]]]:
    """Each order's argv and facts, and what the node's own guards answer with each fact missing."""
    for number, (step, seal) in enumerate(walk.orders):
        operation, params, facts = OPERATIONS[seal.operation], dict(seal.params), dict(seal.preconditions)
        yield (
            f"{title} | {step} | {number}",
            {
                "operation": seal.operation,
                "argv": json.dumps(list(seal.argv)),
                "params": json.dumps(params, sort_keys=True),
                "facts": " ".join(sorted(facts)),
                "digest": digest_of({"argv": list(seal.argv), "params": params, "preconditions": facts}),
                "node's guards": _outcomes(operation, facts, params),
                **{f"node's guards without {name}": _outcomes(operation, {**facts, name: f"{UNKNOWN}no answer"}, params) for name in facts},
            },
        )


def _outcomes(operation: Any, facts: Mapping[str, str], params: Mapping[str, str]) -> str:
    return " ".join(outcome for outcome, _ in operation.guards(facts, params))
