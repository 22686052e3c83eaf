"""What each runbook's steps are, without their texts: kinds, guards, operations, where they lead, what they open and close."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.frozen.record import Record, Texts
from workflows.engine.core import Runbook, Step
from workflows.runbooks import RUNBOOKS

GROUP = "runbooks"
PLAIN = (
    *("kind", "operation", "effect", "destructive", "param", "approvals", "deadline_seconds", "sources", "then", "branches", "again"),
    *("takes_out", "puts_in", "learned", "fails_to", "closes", "unattended", "undoes", "needs_approval", "at_the_rack"),
)
ABSENT = {"approvals": 1}  # as kept of every step when all kinds had one type
WORDS = ("title", "why", "asks", "phrase_hint", "fails_means")


def record() -> tuple[Record, Texts]:
    return {GROUP: {slug: dict(_of(book)) for slug, book in RUNBOOKS.items()}}, {
        GROUP: {slug: _texts(book) for slug, book in RUNBOOKS.items()}
    }


def _of(book: Runbook) -> Iterator[tuple[str, str]]:
    yield "steps", " ".join(step.slug for step in book.steps)
    yield "parameters", " ".join(sorted(book.params))
    yield "point of no return", book.point_of_no_return
    yield "undo", book.undo
    for step in book.steps:
        yield f"step {step.slug}", json.dumps(_step(step), sort_keys=True)


def _step(step: Step) -> dict[str, Any]:
    found = {name: getattr(step, name, ABSENT.get(name)) for name in PLAIN}
    guards = {name: [guard.__name__ for guard in _listed(getattr(step, name, None))] for name in ("guards", "until", "needed", "alarm")}
    loop = {"opens": step.opens.slug, "over": step.opens.over.__name__} if step.opens else {}
    return {name: value for name, value in (found | guards | loop).items() if value not in ("", (), [], None, False)}


def _listed(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,) if value else ()


def _texts(book: Runbook) -> set[str]:
    steps = (text for step in book.steps for text in (getattr(step, name, "") for name in WORDS))
    return {text for text in (book.title, book.purpose, *book.params.values(), *steps) if text}
