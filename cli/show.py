"""Tables and texts for 80 columns. What comes from nodes and people is stripped of what a terminal would obey."""

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

WIDTH_MIN, WIDTH_MAX = 40, 120
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def width() -> int:
    return min(max(shutil.get_terminal_size((80, 24)).columns, WIDTH_MIN), WIDTH_MAX)


def put(words: str) -> None:
    """Prints it. When `| head` has read enough, the rest is dropped, and the exit code stays that of the answer."""
    try:
        print(words, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def clean(value: object) -> str:
    return OBEYED.sub("�", "" if value is None else str(value))


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> str:
    """Columns as wide as they need; the last one takes what is left and goes on below itself."""
    lines = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
    if not lines:
        return empty
    widths = [max(len(head), *(len(line[at]) for line in lines)) for at, head in enumerate(heads)]
    left = max(width() - sum(widths[:-1]) - 2 * (len(heads) - 1), 16)
    texts = []
    for line in [list(heads), *lines]:
        last = _wrap(line[-1], left) or [""]
        front = "  ".join(cell.ljust(size) for cell, size in zip(line[:-1], widths, strict=False))
        texts.append(f"{front}  {last[0]}".rstrip() if front else last[0])
        texts += [" " * (len(front) + 2 if front else 0) + more for more in last[1:]]
    return "\n".join(texts)


def _wrap(words: str, size: int) -> list[str]:
    """Names are broken nowhere but where they do not fit at all: half a device path is another one."""
    return textwrap.wrap(words, size, break_on_hyphens=False)


def pairs(values: Mapping[str, object]) -> str:
    size = max(map(len, values))
    return "\n".join(
        textwrap.fill(
            clean(value), width(), initial_indent=f"{name.ljust(size)}  ", subsequent_indent=" " * (size + 2), break_on_hyphens=False
        )
        for name, value in values.items()
        if value not in ("", None)
    )


def text(words: object, indent: str = "") -> str:
    return textwrap.fill(clean(words), width(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def when(at: str | None) -> str:
    """UTC to the second, as the ledger writes it."""
    if not at:
        return "never"
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def ago(at: str | None) -> str:
    if not at:
        return "never"
    seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
