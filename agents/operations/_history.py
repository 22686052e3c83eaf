"""What the pool itself remembers of a command: `zpool history`, which the kernel writes into the pool when a command has succeeded.

It says that the command took effect, and when, and how often. That it is not there proves nothing: the record is written after the effect,
and whoever lost power in between has the one without the other. So it stands beside a probe's answer and does not make it.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.collectors import zpool_history
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host


def of(host: Host, pool: str, argv: Sequence[str]) -> tuple[Capture, str]:
    """The history, and a sentence on whether it has this very command."""
    capture = zpool_history.collect_one(host, pool)
    return capture, _text_of(capture, " ".join(argv))


def _text_of(capture: Capture, command: str) -> str:
    if capture.outcome != "data":
        return f"`zpool history` could not be read: {capture.reason}."
    history = zpool_history.parse(capture.text)
    if isinstance(history, Unparsed):
        return f"`zpool history` could not be read: {history.reason}."
    when = [entry.at for entry in history.entries if entry.kind == "command" and entry.text == command]
    if not when:
        return "`zpool history` does not have the command."
    if len(when) == 1:
        return f"`zpool history` has the command once, at {when[-1]} UTC."
    return f"`zpool history` has the command {len(when)} times, the last at {when[-1]} UTC."
