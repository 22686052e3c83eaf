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
from agents.zfs_releases import BY_HAND_ONLY, PASS

NAME = "plan"
EFFECT = "pure"
DESTRUCTIVE = False
PARAMS = ("operation", "params")
BY_HAND = "by"  # a third one, "hand": a person will give the command, so an entry that forbids the order on this release does not refuse


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, (*PARAMS, BY_HAND) if BY_HAND in params else PARAMS)
    if bad:
        return bad
    if params.get(BY_HAND, "hand") != "hand":
        return f"A plan is carried out by an order or by hand, and not by {params[BY_HAND]!r}."
    operation = _operation(params["operation"])
    if operation is None:
        return f"{params['operation']!r} is no operation that changes a node."
    inner = inner_of(params["params"])
    if inner is None:
        return "The parameter params is no JSON object of strings."
    return str(operation.check(inner))


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ()


def run(host: Host, params: Mapping[str, str]) -> Answer:
    operation, inner = _operation(params["operation"]), inner_of(params["params"]) or {}
    plan = {
        "operation": operation.NAME,
        "params": dict(inner),
        "argv": list(operation.argv(inner)),
        **operation.describe(host, inner),
    }
    good = (PASS, BY_HAND_ONLY) if BY_HAND in params else (PASS,)
    reasons = [reason for outcome, reason in operation.guards(plan["preconditions"], inner) if outcome not in good]
    return Answer(plan, (), "refused" if reasons else "succeeded", " ".join(reasons))


def _operation(name: str) -> Any:
    operation = CHANGING.get(name)
    return None if operation is None or operation.EFFECT == "pure" else operation


def inner_of(text: str) -> dict[str, str] | None:
    """A JSON object of strings; None where it is none."""
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(inner, dict) or not all(isinstance(value, str) for value in inner.values()):
        return None
    return inner
