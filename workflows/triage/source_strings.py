"""Texts that stand as a string of several lines in a program: fixtures of tests, mostly. The code around them is no part of them.

Read are the quotes that several lines may stand in: of C# `@"`, of Rust `r#"`, of Go, JavaScript and others a back-quote, of Python and Kotlin three
quotes, of PHP, Perl and shells a plain double quote. A quote counts as opened only where what follows it is a line of a pool's text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workflows.triage.fields import HEADER, KEY

LINES_MAX = 400  # of one string
CODE_MAX = 200  # characters before the quote
_OPENED = re.compile(r"""(?:[@$fbu]{1,2}"|r#{0,3}"|"{3}|'{3}|[`"])(?=[ \t\\]{0,10}(?:$|[A-Za-z]))""")
_CODE = re.compile(r"(?:=>|[=(:,\[+]|\breturn|\bConst|<<<)\s{0,4}$")
_SHUT = re.compile(r"""["'`#]{1,5}(?:[;,.)\]}]|\s|$)""")
_ABOVE = re.compile(r" {0,6}(?:pool|id|state|errors): ")


def ends(lines: Sequence[str]) -> dict[int, str]:
    """Place of a line -> what stands there of the string: its first line without the code before it, its last without the code behind it.

    A string whose end is not here is left as it is.
    """
    found: dict[int, str] = {}
    place = 0
    while place < len(lines):
        begun = _begun(lines, place)
        last = _last(lines, place, begun[1]) if begun else 0
        if not begun or not last:
            place += 1
            continue
        found[place] = begun[0]
        found[last] = lines[last][: lines[last].index(begun[1])]
        place = last + 1
    return found


def _begun(lines: Sequence[str], place: int) -> tuple[str, str] | None:
    """What stands behind a quote that opens here, and the quote with which it is shut."""
    line = lines[place]
    for opened in _OPENED.finditer(line[: CODE_MAX + 8]):
        rest, code = line[opened.end() :], line[: opened.start()]
        if (code.strip() and not _CODE.search(code)) or _shut_by(opened.group()) in rest:
            continue
        text = rest.removeprefix("\\")
        first = text if text.strip() else next(iter(lines[place + 1 : place + 2]), "")
        if _ABOVE.match(first) or HEADER.match(first) or KEY.match(first):
            return text, _shut_by(opened.group())
    return None


def _shut_by(opened: str) -> str:
    return f'"{"#" * opened.count("#")}' if opened.startswith("r") else opened.lstrip("@$fbu")


def _last(lines: Sequence[str], place: int, quote: str) -> int:
    """The place of the line with the quote that shuts it; 0 where it is not shut, or something else stands behind it."""
    for at in range(place + 1, min(place + LINES_MAX, len(lines))):
        where = lines[at].find(quote)
        if where >= 0:
            return at if _SHUT.match(lines[at][where:]) else 0
    return 0
