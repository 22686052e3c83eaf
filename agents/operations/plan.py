"""Say what an operation would do here and now, and change nothing.

The answer is the node's plan: exact argv, what goes out, what comes in, the tree before and after, and the facts
that must still be equal when it runs. A plan whose own guards do not pass is answered as refused, with the plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agents.host.host import Host
from agents.operations.base import Answer, check_names
from agents.operations.catalogue import CHANGING

NAME = "plan"
EFFECT = "pure"
DESTRUCTIVE = False
PARAMS = ("operation", "params")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS)
    if bad:
        return bad
    operation = _operation(params["operation"])
    if operation is None:
        return f"{params['operation']!r} is no operation that changes a node."
    inner = _inner(params)
    if inner is None:
        return "The parameter params is no JSON object of strings."
    return str(operation.check(inner))


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ()


def run(host: Host, params: Mapping[str, str]) -> Answer:
    operation, inner = _operation(params["operation"]), _inner(params)
    plan = {
        "operation": operation.NAME,
        "params": dict(inner),
        "argv": list(operation.argv(inner)),
        **operation.describe(host, inner),
    }
    reasons = [reason for outcome, reason in operation.guards(plan["preconditions"], inner) if outcome != "pass"]
    return Answer(plan, (), "refused" if reasons else "succeeded", " ".join(reasons))


def _operation(name: str) -> Any:
    operation = CHANGING.get(name)
    return None if operation is None or operation.EFFECT == "pure" else operation


def _inner(params: Mapping[str, str]) -> dict[str, str] | None:
    try:
        inner = json.loads(params["params"])
    except (ValueError, RecursionError):
        return None
    if not isinstance(inner, dict) or not all(isinstance(value, str) for value in inner.values()):
        return None
    return inner
