"""ZFS's tunables on illumos, as `mdb -k` prints them to a person. No agent asks for them: the debugger is not for that.

`NAME/D` prints decimal and `NAME/X` hexadecimal digits, and what is printed looks the same: 10 or sixteen. So a number counts only where
the text shows what was asked for; a value that was written (`/W`) is printed with its 0x. `NAME ::print -d` prints the value alone on the
next line, decimal, with 0t before it from ten on; without -d it is hexadecimal with 0x.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import decimal, hexadecimal, whole_lines
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "mdb"
EVERY_SECONDS = 3600


@dataclass(frozen=True)
class Tunable:
    name: str
    value: int
    was: int | None = None  # before it was written, where it was


def collect(host: Host) -> tuple[Capture, ...]:
    return (Capture(NAME, "", "nothing", "", "the agent does not run the illumos kernel debugger; paste its text instead"),)


_PIPED = r"(?:['\"]? {0,8}\| {0,8}mdb -kw?)?\s*"
_ASKED = re.compile(rf"(?:[^/\n]{{0,80}}[\s>'\"])?(\w{{1,80}})/([DEX]){_PIPED}")
_WROTE = re.compile(rf"[^/\n]{{0,80}}\b\w{{1,80}}/[WZ](?:0t|0x)?[0-9a-f]{{1,16}}{_PIPED}")
_VALUE = re.compile(r"(\w{1,80}):\s*([0-9a-f]{1,16})\s*")
_CHANGED = re.compile(r"(\w{1,80}):\s*(0x[0-9a-f]{1,16})\s+=\s+(0x[0-9a-f]{1,16})\s*")
_PRINTS = re.compile(rf"(?:[^:\n]{{0,80}}[\s>'\"])?(\w{{1,80}}) {{0,8}}::print( -d)?{_PIPED}")
_PRINTED = re.compile(r"(?:(0t)|0x)?([0-9a-f]{1,16})\s*")


def parse(text: str) -> tuple[Tunable, ...] | Unparsed:
    """Every tunable with its last value, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    asked: dict[str, str] = {}
    found: dict[str, Tunable] = {}
    printing: re.Match[str] | None = None  # the ::print whose value the next line is
    for line in lines:
        before, printing = printing, _PRINTS.fullmatch(line)
        if printing:
            continue
        tunable = _tunable(line, asked) if before is None else _printed(before, line)
        if isinstance(tunable, Unparsed):
            return tunable
        if tunable is not None:
            found[tunable.name] = tunable
    return tuple(found.values())


def _tunable(line: str, asked: dict[str, str]) -> Tunable | Unparsed | None:
    value_line, changed, question = _VALUE.fullmatch(line), _CHANGED.fullmatch(line), _ASKED.fullmatch(line)
    if changed:
        was, now = hexadecimal(changed.group(2)), hexadecimal(changed.group(3))
        return Unparsed("a written value cannot be read", line) if was is None or now is None else Tunable(changed.group(1), now, was)
    if question:
        asked[question.group(1)] = question.group(2)
        return None
    if value_line:
        return _number(value_line.group(1), value_line.group(2), asked.get(value_line.group(1), ""), line)
    if not line.strip() or _WROTE.fullmatch(line) or re.fullmatch(r"\w+:\s*", line):
        return None
    return Unparsed("this is no line of mdb about a tunable", line)


def _printed(question: re.Match[str], line: str) -> Tunable | Unparsed:
    """The value that stands alone below `NAME ::print`."""
    printed, decimally = _PRINTED.fullmatch(line), question.group(2) is not None
    if printed is None or (printed.group(1) is not None) > decimally:
        return Unparsed(f"the value of {question.group(1)} cannot be read", line)
    value = decimal(printed.group(2)) if decimally else int(printed.group(2), 16)
    return Unparsed("a decimal value has other digits", line) if value is None else Tunable(question.group(1), value)


def _number(name: str, digits: str, form: str, line: str) -> Tunable | Unparsed:
    if not form:
        return Unparsed(f"the text does not show how {name} was asked for, so its digits may be decimal or hexadecimal", line)
    value = int(digits, 16) if form == "X" else decimal(digits)
    return Unparsed("a decimal value has other digits", line) if value is None else Tunable(name, value)
