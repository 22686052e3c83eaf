"""What a run holds while it changes a node, as its runbook names it."""

from workflows.engine.core import Runbook
from workflows.engine.manual_answers import bad_param
from workflows.engine.state import RunState
from workflows.facts import FleetFacts


def needed(runbook: Runbook, state: RunState, facts: FleetFacts) -> tuple[str, ...]:
    """Sorted lock keys; () where it is not known exactly what to lock."""
    keys = tuple(sorted(runbook.locks(facts, state.params))) if runbook.locks else ()
    return keys if all(_names_something(key) for key in keys) else ()


def _names_something(key: str) -> bool:
    kind, _, what = key.partition(":")
    return bool(kind) and not bad_param(what)
