"""JSON of which the end was not pasted: what stands before the cut, with its brackets closed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workflows.triage.cut_off import Whole

DEPTH_MAX = 64  # deeper than any tool nests
_OF_JSON = re.compile(r"\s*(?:[\"{}\[\],]|-?[0-9]|true\b|false\b|null\b|$)")
_CLOSE = {"{": "}", "[": "]"}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_MARK = re.compile(r'["{}\[\],]')
PART_OF_SMARTCTL = re.compile(
    r' {2}"(?:scsi_[a-z_]{3,40}|ata_[a-z_]{3,40}|nvme_[a-z_]{3,60}|smart_status|smart_support|logical_unit_id|power_on_time)" ?: '
)
BEHEADED = "its JSON begins in the middle, so what stood before is not known, nor of which disk it is"
MISSING = "its JSON ends in the middle, so of what would have followed nothing is known"


def head(lines: Sequence[str]) -> Whole:
    """The text up to the last value that is whole; as it is where no end is missing, or it is no JSON."""
    if not lines or not lines[0].startswith("{"):
        return Whole(list(lines), "")
    kept = list(lines[: next((i for i, line in enumerate(lines) if not _OF_JSON.match(line)), len(lines))])
    text = "\n".join(kept)
    place, open_ = _last_whole(text)
    if not open_ or text[:place].strip() == "{":
        return Whole(list(lines), "")
    return Whole((text[:place] + "".join(_CLOSE[mark] for mark in reversed(open_))).split("\n"), MISSING)


def is_json(line: str) -> bool:
    return bool(line.strip()) and _OF_JSON.match(line) is not None


def body_of_smartctl(lines: Sequence[str]) -> Whole:
    """A report of smartctl of which the beginning was not pasted: from the first of its own parts on, as they stand at the second column."""
    if not lines or not PART_OF_SMARTCTL.match(lines[0]):
        return Whole(list(lines), "")
    return Whole(head(["{", '"smartctl": {},', *lines]).lines, BEHEADED)


def _last_whole(text: str) -> tuple[int, str]:
    """Where the last whole value ends, and the brackets that are open there; "" of them where the text is whole, or is no JSON."""
    open_, at = "", 0
    last = (0, "")
    while found := _MARK.search(text, at):
        mark, at = found.group(), found.end()
        if mark == '"':
            string = _STRING.match(text, found.start())
            if string is None:
                return last
            at = string.end()
        elif mark == ",":
            last = (found.start(), open_)
        elif mark in _CLOSE:
            open_ += mark
            last = (at, open_)
            if len(open_) > DEPTH_MAX:
                return 0, ""
        elif not open_ or _CLOSE[open_[-1]] != mark:
            return 0, ""
        else:
            open_ = open_[:-1]
            last = (at, open_)
            if not open_:
                return last
    return last
