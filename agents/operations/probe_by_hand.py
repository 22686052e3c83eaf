"""Whether a command that a person gave by hand took place: what its snippet recorded, and the operation's own probe of the effect.

Nothing is changed. The record says that it was run, on which boot of which host; the probe says what came of it, read now from the pool and
the disk. While the command is still at work the probe is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.collectors import by_hand, node
from agents.collectors.base import Unparsed
from agents.host import running_commands
from agents.host.host import Host
from agents.operations.base import Answer, Probe, check_names, good_ends
from agents.operations.catalogue import CHANGING
from agents.operations.plan import inner_of

NAME = "probe_by_hand"
EFFECT = "pure"
DESTRUCTIVE = False
PARAMS = ("operation", "params", "preconditions", "nonce")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS)
    if bad:
        return bad
    operation = CHANGING.get(params["operation"])
    if operation is None:
        return f"{params['operation']!r} is no operation that changes a node."
    inner, pre = inner_of(params["params"]), inner_of(params["preconditions"])
    if inner is None or pre is None:
        return "The parameters params and preconditions must be JSON objects of strings."
    if by_hand.NONCE.fullmatch(params["nonce"]) is None:
        return f"{params['nonce']!r} is no nonce."
    return str(operation.check(inner))


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ()


def run(host: Host, params: Mapping[str, str]) -> Answer:
    """`result`: hostid and boot_id of the node now; of the record all that is known of it; probe, and why; whether its exit code is a good one."""
    operation = CHANGING[params["operation"]]
    inner, pre = inner_of(params["params"]) or {}, inner_of(params["preconditions"]) or {}
    captures = (*by_hand.collect(host), *node.collect(host))
    probe = _probe(host, operation, inner, pre)
    result: dict[str, Any] = {"nonce": params["nonce"], "probe": probe.result, "reason": probe.reason}
    result |= {"record": _record(captures[0], params["nonce"], good_ends(operation)), **_identity(captures)}
    return Answer(result, (*captures, *probe.evidence))


def _probe(host: Host, operation: Any, inner: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    command = operation.argv(inner)
    running = running_commands.still_running(host, command)
    if running:
        return Probe("cannot_tell", (), f"`{' '.join(command)}` is still running as process {running}.")
    probe: Probe = operation.probe(host, inner, pre)
    return probe


def _record(capture: Any, nonce: str, good: tuple[int, ...]) -> dict[str, str]:
    """{} where nothing was recorded under this nonce, or what was recorded cannot be read."""
    marks = by_hand.parse(capture.text) if capture.outcome == "data" else ()
    mark = next((one for one in marks if one.nonce == nonce), None) if not isinstance(marks, Unparsed) else None
    if mark is None:
        return {}
    ended = mark.exit_code is not None and mark.ended_at is not None
    how = ("well" if int(mark.exit_code or "1") in good else "badly") if ended else ""
    return {"ended": how, **{name: value for name, value in vars(mark).items() if value is not None}}


def _identity(captures: tuple[Any, ...]) -> dict[str, str]:
    """ "" for what the node does not say now."""
    text = next((one.text for one in captures if one.source == node.NAME and one.outcome == "data"), "")
    info = node.parse(text)
    if isinstance(info, Unparsed):
        return {"hostid": "", "boot_id": ""}
    return {"hostid": info.hostid or "", "boot_id": info.boot_id or ""}
