"""Which situations are found, and what the facts are, in every genuine capture and every simulated node; and what triage reads in each text.

Facts are recorded as a digest per field of the node, without the words that say why something is not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from agents.collectors.base import Unparsed
from tests.frozen.names import of_field
from tests.frozen.record import Record, Texts, add
from tests.frozen.unknowns import names_of
from twin import stories
from workflows.engine.core import Situation
from workflows.facts import FleetFacts, Unknown
from workflows.facts.tests.played import fleet
from workflows.situations import detect_all
from workflows.tests.test_scenarios import seen
from workflows.triage import triage
from workflows.triage.json_answer import answer

CAPTURES = Path(stories.__file__).resolve().parents[1] / "agents/tests/captures"
GROUP, FACTS, TRIAGE = "situations", "facts", "triage"
DIGITS = 12


def of_capture(name: str, folder: Path) -> tuple[Record, Texts]:
    return _of(f"capture {name}", fleet(name))


def of_twin(name: str, folder: Path) -> tuple[Record, Texts]:
    folder.mkdir(parents=True)
    return _of(f"twin {name}", seen(name, folder))


def _of(where: str, facts: FleetFacts) -> tuple[Record, Texts]:
    found = detect_all(facts)
    record: Record = {}
    add(record, {GROUP: {where: {f"{number:02} {one.key}": _situation(one) for number, one in enumerate(found)} or {"none": ""}}})
    add(record, {FACTS: {f"{where}, {node}": dict(_facts(held)) for node, held in facts.nodes.items()}})
    return record, {GROUP: _sentences(found)}


def _situation(one: Situation) -> str:
    return json.dumps(
        {
            "slug": one.slug,
            "severity": one.severity,
            "subject": dict(one.subject),
            "sure": one.sure,
            "cause": one.cause,
            "gate": one.gate,
            "vdevs": list(one.vdevs),
            "answers": [[answer.runbook, dict(answer.params)] for answer in one.answers],
            "cures": [[cure.kind, [list(argv) for argv in cure.argv], cure.releases, cure.runbook] for cure in one.cures],
            "evidence": sha256(repr([(e.node, e.source, e.digest, e.line) for e in one.evidence]).encode()).hexdigest()[:DIGITS],
        },
        sort_keys=True,
    )


def _sentences(found: tuple[Situation, ...]) -> dict[str, set[str]]:
    texts: dict[str, set[str]] = {}
    for one in found:
        cures = [text for cure in one.cures for text in (cure.text, cure.needs, cure.save_first)]
        texts.setdefault(one.slug, set()).update(filter(None, (one.title, one.meaning, *cures, *(a.why for a in one.answers))))
    return texts


def _facts(node: Any) -> Iterator[tuple[str, str]]:
    for name in names_of(type(node)):
        plain = json.dumps(_plain(getattr(node, name)), sort_keys=True)
        yield of_field(type(node).__name__, name), plain if len(plain) <= DIGITS else sha256(plain.encode()).hexdigest()[:DIGITS]


def _plain(value: Any) -> Any:
    """Values by the kept names of their fields; why something is not known is a text."""
    if isinstance(value, (Unknown, Unparsed)):
        return "unknown"
    if is_dataclass(value):
        kind = type(value).__name__
        return {of_field(kind, name): _plain(getattr(value, name)) for name in names_of(type(value))}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(json.dumps(_plain(item), sort_keys=True) for item in value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"{type(value).__name__} has no plain form; say here how it is recorded")


# --- triage


def pastes() -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(CAPTURES).as_posix() for path in CAPTURES.glob("*/*.txt")))


def of_paste(name: str, folder: Path) -> tuple[Record, Texts]:
    found = triage([(Path(name).name, (CAPTURES / name).read_text())])
    body = answer(found)
    values = {
        "good": json.dumps(body["good"]),
        "read": json.dumps([[r.first, r.last, r.outcome, r.source, r.key, r.node] for r in found.reads]),
        "situations": json.dumps([[one.slug, one.severity, dict(one.subject)] for one in found.situations], sort_keys=True),
        "pools": _digest(body["pools"]),
        "disks": _digest(body["disks"]),
    }
    return {TRIAGE: {name: values}}, {}


def _digest(value: Any) -> str:
    return f"{len(value)}, {sha256(json.dumps(_without_reasons(value), sort_keys=True).encode()).hexdigest()[:DIGITS]}"


def _without_reasons(value: Any) -> Any:
    """`unknown` holds, by the name of a field, why it is not known."""
    if isinstance(value, dict):
        return {key: sorted(item) if key == "unknown" else _without_reasons(item) for key, item in value.items()}
    return [_without_reasons(item) for item in value] if isinstance(value, list) else value
