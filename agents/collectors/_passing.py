"""What of a text passes by itself, and what of it is a state that a person will ask about later.

A collector with `lasting(text)` says which part of its text is state; one with `VOLATILE = True` has no such part, only
numbers that move. Where nothing lasting changed, the portal need not write down every single reading at once.
"""

from __future__ import annotations

import json
import re
from typing import Any

_IN_PROGRESS = re.compile(r"(?m)^(?P<began> *(?:scan|remove|expand):[^\n]*in progress[^\n]*\n)(?:(?:\t| {4})[^\n]*\n)+")
_PROGRESS = ("scan_stats", "removal_stats", "raidz_expand_stats")
_STATE_OF_PROGRESS = ("function", "state", "start_time", "end_time", "errors")
_PASSING = ("scan_processed",)


def without_progress(text: str) -> str:
    """`zpool status` without how far a scan, removal or expansion has come. The tree with its states and counters stays."""
    return _IN_PROGRESS.sub(lambda match: match["began"], text)


def json_without_progress(text: str) -> str:
    """The same for `zpool status -j`. A text that is no JSON stays as it is."""
    try:
        return json.dumps(_lasting(json.loads(text)), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _state_of(item) if key in _PROGRESS else _lasting(item) for key, item in value.items() if key not in _PASSING}
    return [_lasting(item) for item in value] if isinstance(value, list) else value


def _state_of(value: Any) -> Any:
    return {key: value.get(key) for key in _STATE_OF_PROGRESS} if isinstance(value, dict) else value
