"""What a node's plan must be before a person is asked to judge it, its digest, and how two plans differ."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agents.portal.wire import canonical

# A kernel name may be another disk by now; no write command may carry one.
_KERNEL_NAME = re.compile(
    r"(?:^|/)(?:sd[a-z]{1,8}|nvme[0-9]{1,8}n[0-9]{1,8}|dm-[0-9]{1,8})(?:p?[0-9]{1,8})?$"
    r"|(?:^|/)c[0-9]{1,4}(?:t[0-9]{1,5})?d[0-9]{1,5}(?:[sp][0-9]{1,2})?$"  # of illumos, without a WWN
    r"|(?:^|/dev/)(?:a?da|nda|nvd|mfid|mfisyspd|vtbd)[0-9]{1,4}(?:[ps][0-9]{1,4}[a-h]?)?$"  # of FreeBSD
)
_HCTL = re.compile(r"^\[?[0-9]+:[0-9]+:[0-9]+:[0-9]+\]?$")


def digest(plan: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(dict(plan))).hexdigest()


def ask_params(operation: str, params: Mapping[str, str], by_hand: bool = False) -> dict[str, str]:
    """The parameters of the node's `plan` operation. `by_hand`: of a command that a person will give."""
    return {"operation": operation, "params": json.dumps(dict(params), sort_keys=True), **({"by": "hand"} if by_hand else {})}


def problems(plan: Mapping[str, Any], operation: str, params: Mapping[str, str]) -> tuple[str, ...]:
    """Why this plan cannot be used; empty when it can. Total for whatever a node sends."""
    try:
        text = canonical(dict(plan))
    except (TypeError, ValueError) as bad:
        return (f"The node's plan has no canonical form: {bad}. Report this as a fault of the agent.",)
    except RecursionError:
        return ("The node's plan is nested too deeply to be read. Report this as a fault of the agent.",)
    if b"\\u0000" in text:
        return ("The node's plan holds a character that cannot be kept. Report this as a fault of the agent.",)
    return tuple(_problems(plan, operation, params))


def _problems(plan: Mapping[str, Any], operation: str, params: Mapping[str, str]) -> Iterator[str]:
    if plan.get("operation") != operation:
        yield f"The node planned {plan.get('operation')!r} where {operation!r} was asked. Ask for a new plan."
    if plan.get("params") != dict(params):
        yield "The node planned with other parameters than were asked. Ask for a new plan."
    yield from argv_problems(plan.get("argv"))
    yield from _precondition_problems(plan.get("preconditions"))


def argv_problems(argv: Any) -> Iterator[str]:
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) and word for word in argv):
        yield "The plan has no command. Ask for a new plan."
        return
    for word in argv[1:]:  # the first is the tool, and `sdparm` is no disk
        if _KERNEL_NAME.search(word) or _HCTL.match(word):
            yield f"The planned command names a disk as {word}, which may be another disk by now. Report this as a fault of the agent."


def _precondition_problems(preconditions: Any) -> Iterator[str]:
    if not isinstance(preconditions, dict) or not preconditions:
        yield "The plan names no preconditions, so nothing would hold the node to it. Ask for a new plan."
        return
    for name, value in preconditions.items():
        if not isinstance(value, str):
            yield f"The precondition {name} is not text. Ask for a new plan."
        elif value.startswith("unknown:"):
            yield f"The node could not read {name}: {value.removeprefix('unknown:').strip()}. Clear that up, then ask for a new plan."


def differences(before: Any, after: Any, where: str = "") -> tuple[tuple[str, str, str], ...]:
    """Fact by fact: (what, before, after). Lists are compared as a whole, as people read them."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        found: list[tuple[str, str, str]] = []
        for key in sorted(set(before) | set(after)):
            found += differences(before.get(key), after.get(key), f"{where}.{key}" if where else key)
        return tuple(found)
    return () if before == after else ((where, _text(before), _text(after)),)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value)
