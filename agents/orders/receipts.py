"""What an agent says about an order when it is over: one canonical text, the same bytes however often it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.collectors.base import Capture, Listable, decode
from agents.host.host import Ran
from agents.operations.base import Probe
from agents.portal.wire import canonical

OUTPUT_CHARS_MAX = 64 * 1024


def receipt(
    order_id: str,
    digest: str,
    outcome: str,
    reason: str,
    *,
    argv: Sequence[str] = (),
    ran: Ran | None = None,
    started_at: str = "",
    ended_at: str = "",
    probe: Probe | None = None,
    result: Mapping[str, Any] | None = None,
    captures: Sequence[Capture] = (),
) -> str:
    """`argv` is what was run; it is empty when nothing ran."""
    # One text per source: where a probe read one, its conclusion rests on that reading.
    evidence = tuple({(c.source, c.key): c for c in (*captures, *(probe.evidence if probe else ()))}.values())
    value = {
        "order": order_id,
        "digest": digest,
        "outcome": outcome,
        "reason": reason,
        "argv": list(argv),
        "exit_code": None if ran is None or ran.exit_code is None else str(ran.exit_code),
        "stdout": _bounded(ran.stdout) if ran else "",
        "stderr": _bounded(ran.stderr) if ran else "",
        "started_at": started_at,
        "ended_at": ended_at,
        "probe": None if probe is None else {"result": probe.result, "reason": probe.reason},
        "result": result,
        "captures": listed(evidence),
        "bodies": {capture.digest: capture.body() for capture in evidence},
    }
    return canonical(value).decode("utf-8")


def listed(captures: Sequence[Listable]) -> list[dict[str, str]]:
    return [{"source": c.source, "key": c.key, "digest": c.digest, "seconds": f"{c.seconds:.3f}"} for c in captures]


def _bounded(raw: bytes) -> str:
    text = decode(raw)
    if len(text) <= OUTPUT_CHARS_MAX:
        return text
    return text[:OUTPUT_CHARS_MAX] + f"\n[cut here; {len(text) - OUTPUT_CHARS_MAX} more characters]"
