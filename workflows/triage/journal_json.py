"""Lines of `journalctl -o json` as `journalctl -o short-iso` prints them (journal export fields: systemd.journal-fields(7))."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

SIGN = '"__REALTIME_TIMESTAMP"'
LINE_MAX = 16_384  # characters; a longer one stays as it is


def spelt_out(line: str) -> str:
    """The line as text; one that is no entry, or has no time or no message, stays as it is."""
    if SIGN not in line or not line.startswith("{") or len(line) > LINE_MAX:
        return line
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return line
    at, message = entry.get("__REALTIME_TIMESTAMP"), entry.get("MESSAGE")
    if not isinstance(at, str) or not (at.isdecimal() and at.isascii()) or not isinstance(message, str):
        return line
    try:
        stamp = datetime.fromtimestamp(int(at) / 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return line
    first = message.partition("\n")[0]
    return f"{stamp:%Y-%m-%dT%H:%M:%S.%f}+0000 {_word(entry, '_HOSTNAME', 'host')} {_program(entry)}: {first}"


def _program(entry: Mapping[str, object]) -> str:
    """The kernel's own lines have no process."""
    name, pid = _word(entry, "SYSLOG_IDENTIFIER", "unknown"), entry.get("_PID")
    return f"{name}[{pid}]" if isinstance(pid, str) and pid.isdecimal() else name


def _word(entry: Mapping[str, object], field: str, otherwise: str) -> str:
    value = entry.get(field)
    return value if isinstance(value, str) and value and not any(map(str.isspace, value)) else otherwise
