"""Pasted text as the terminal once showed it: without e-mail's quote marks, chat's fences, colours and foreign line ends."""

from __future__ import annotations

import re
from textwrap import dedent

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_QUOTE = re.compile(r"(?:> ?)+")
_ODD = {0xA0: " ", 0x2007: " ", 0x202F: " ", 0x200B: None, 0xFEFF: None, 0x00: None}


def lines(text: str) -> list[str]:
    """Every line of `text`, cleaned; their number stays the same, so that a line can be named by its place."""
    text = _COLOUR.sub("", text).translate(_ODD).replace("\r\n", "\n").replace("\r", "\n")
    found = [line.expandtabs(8).rstrip() for line in text.split("\n")]
    found = ["" if line.lstrip().startswith("```") else line for line in found]
    return dedent("\n".join(_unquoted(found))).split("\n")


def _unquoted(found: list[str]) -> list[str]:
    """Without the marks of a quoted mail, if most lines carry one."""
    said = [line for line in found if line]
    quoted = [line for line in said if line.startswith(">")]
    return [_QUOTE.sub("", line, count=1) for line in found] if 2 * len(quoted) > len(said) else found
