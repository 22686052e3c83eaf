"""What the sources that print tables of numbers about pools share: asking, and numbers that are exact or refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.collectors.base import Capture, ask
from agents.host.host import Host

NO_POOLS = "no pools available"
_WHOLE = re.compile(r"[0-9]{1,20}")


class Rounded(ValueError):
    """A column that is neither a whole number nor a dash. Never leaves `parse`."""


def ask_pools(host: Host, source: str, argv: Sequence[str], timeout_seconds: float) -> Capture:
    """Ask about all pools. Where there is none, `zpool list` and `get` are silent and `iostat` exits 1 and says so."""
    capture = ask(host, source, argv, timeout_seconds, data_exits=(0, 1))
    if capture.outcome == "data" and capture.exit_code == 1 and NO_POOLS not in capture.stderr + capture.text:
        message = capture.stderr.strip().split("\n")[0]
        return replace(capture, outcome="failed", reason=f"{' '.join(argv)} exited {capture.exit_code}: {message or 'it printed nothing'}")
    return capture


def whole(text: str) -> int | None:
    """The number as it is, None for a dash. Raises Rounded for "1.2K", "3%" and whatever else is not exact."""
    if text == "-":
        return None
    if not _WHOLE.fullmatch(text):
        raise Rounded(text)
    return int(text)
