"""What may stand before or around one line: quote marks, names, stamps, a file's name, quotes. Each form takes it off one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from agents.collectors._kernel_lines import classify
from agents.collectors._log_stamps import stamped
from workflows.triage.fields import FIELDS


class Worn(NamedTuple):
    """One line with its wrapper taken off. Lines of one `kind` that follow each other are a run."""

    kind: str
    rest: str
    node: str = ""
    blank: bool = False  # whether a blank behind the mark may be a part of it


Form = Callable[[str], "Worn | None"]


# Marks before each line


def _marked(line: str) -> Worn | None:
    """A mail's quote marks, and bars that stand for them."""
    body = line.lstrip(" ")
    if not body or len(line) - len(body) > 3:
        return None
    mark = body[0]
    if mark == ">":
        return Worn(">", _QUOTE.sub("", body, count=1), blank=True)
    if mark in _BARS:
        closed = body[1:].rstrip()
        return Worn(mark, _cells(closed[:-1], mark) if closed.endswith(mark) else body[1:], blank=True)
    if mark in "+|" or mark in _CORNERS:
        if not set(body.rstrip()) - set("+-|=: ") - _CORNERS:
            return Worn("|", "", blank=True)
        framed = (
            mark in _CORNERS and body[1:2].isalnum()
        )  # the first and the last row of a pane, whose corners stand in the text's own rows
        return Worn("\u2502", body[1:].rstrip().rstrip("\u2502").rstrip(), blank=True) if framed else None
    return None


_QUOTE = re.compile(r">(?: ?>)*")
_BARS = frozenset("|\u2502\u2503\u2551\u2588\u258c")
_CORNERS = frozenset(
    "\u2500\u2501\u2550\u250c\u2510\u2514\u2518\u251c\u2524\u252c\u2534\u253c\u2554\u2557\u255a\u255d\u256d\u256e\u256f\u2570"
)


def _cells(row: str, bar: str) -> str:
    """A table's row with two blanks between its cells; nothing of the line below its heading."""
    if not set(row) - set("-|:= +") and (bar in row or "+" in row):
        return ""
    return row if bar not in row else "  ".join(cell.strip() if place else cell.rstrip() for place, cell in enumerate(row.split(bar)))


def _bordered(line: str) -> Worn | None:
    """The right border alone, as of a pane."""
    body = line.rstrip()
    return Worn("border", body[:-1].rstrip()) if body and body[-1] in "\u2502\u2503\u2551" else None


def _commented(line: str) -> Worn | None:
    body = line.lstrip(" \t")
    for mark in ("#", ";", "//", "*", "REM", "--", "+"):  # the last one: lines that a patch adds
        if body.startswith(mark):
            return Worn(mark, body[len(mark) :], blank=True)
    return None


# Names and stamps before each line

_CLOCK = r"[0-9]{1,2}[:.][0-9]{2}(?:[:.][0-9]{2})?(?:[.,][0-9]{1,9})?(?: ?[AaPp]\.?[Mm]\.?)?"
_DATE = r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}|[A-Z][a-z]{2} {1,2}[0-9]{1,2}(?: [0-9]{4})?)"
_ZONE = r"(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?"
_MOMENT = rf"(?:{_DATE}[T ,]{{1,2}})?{_CLOCK}{_ZONE}"
_NICK = r"[@+%&~]?[\w.-]{1,40}"
_NAMES = r"[A-Z][\w.-]{0,30}(?: [A-Z][\w.-]{0,30}){1,2}"  # as some mail programs put them before each line that they quote
_SPOKEN = re.compile(
    rf"(?:[\[(]?{_MOMENT}[\])]? {{0,3}})?(?:<({_NICK})>|[\[(]({_NICK})[\])]|({_NICK}|{_NAMES}(?=>))(?:>{{1,4}}|:| {{1,20}}\|))(?: (.*)|$)"
)
_SYSLOG = re.compile(
    rf"(?:<[0-9]{{1,3}}>[0-9]? ?)?(?:{_DATE}[T ]{_CLOCK}{_ZONE}) ([A-Za-z0-9][\w.-]{{0,80}}) ([\w./@()-]{{1,60}})(?:\[[0-9]{{1,10}}\])?: ?(.*)"
)
_STAMPED = re.compile(
    rf"[\[(]?(?:{_DATE}[T ,]{{1,2}}{_CLOCK}{_ZONE}|[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]{{1,9}})?)[\])]?(?:[ \t](.*)|$)"
)
_SECONDS = re.compile(r"1[0-9]{9}(?:\.[0-9]{1,9})? (.*)")
_LEVEL = re.compile(
    r"(?:- )?\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|NOTICE|stdout|stderr)\]?(?: [FP])?(?: ?[-:|])? (.*)|(?:- )?\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|NOTICE)\]?$"
)
_STREAM = re.compile(r"^\[(?:stdout|stderr)\] ")  # behind the level, where a program logs what another one prints
_KERNEL = frozenset(("kernel", "zed", "multipathd"))  # their lines are events of their own, with their times


def _spoken(line: str) -> Worn | None:
    """Somebody's name, or a host's where a command was run on many at once."""
    found = _SPOKEN.match(line.lstrip(" "))
    name = found and next(filter(None, found.group(1, 2, 3)), "")
    if (
        not found
        or not name
        or name in FIELDS
        or _DRIVEN.fullmatch(name)
        or (name in _UDEV and line.startswith(f"{name}: "))
        or name.lower() in _LEVELS
    ):
        return None
    return Worn(f"name {name}", found.group(4) or "", name if line.startswith(f"{name}: ") else "")


_DRIVEN = re.compile(
    r"ata[0-9]{1,3}(?:\.[0-9]{2})?|mpt[0-9]sas\w{0,8}|nvme[0-9]\w{0,8}|sd[a-z]{1,3}"
)  # what the kernel names so is no speaker
KERNELS = re.compile(
    r" {0,12}(?:[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[+-][0-9]{2}:?[0-9]{2})? |[\w.-]{1,64} )?kernel: (?:\[ {0,8}[0-9]{1,9}\] )?(\S.*)"
)


def _of_kernel(line: str) -> Worn | None:
    """The program's name alone, where somebody took day and host away."""
    found = KERNELS.fullmatch(line)
    return Worn("kernel", found.group(1)) if found else None


_UDEV = frozenset("PMNSLEQURTDIV")  # what `udevadm info` begins its lines with
_LEVELS = frozenset(("note", "warning", "error", "info", "edit", "ps", "update", "kernel"))


def _logged(line: str) -> Worn | None:
    """A line that was given to the system's log. A tab in it was written as its code."""
    if not line[:1].isalnum() and line[:1] != "<":
        return None
    found = _SYSLOG.match(line)
    if not found or found.group(2) in _KERNEL:
        return None
    return Worn(f"{found.group(1)} {found.group(2)}", found.group(3).replace("#011", "\t"), found.group(1))


def _is_of_kernel(line: str, rest: str) -> bool:
    """Whether the stamp is the kernel log's own, which its reader keeps; one before a stamp of the kernel's is a logger's."""
    match = _SYSLOG.match(line)
    if match and match.group(2) in _KERNEL:
        return True
    own = stamped(line)
    return own is not None and classify(own.message.strip()) is not None and stamped(rest) is None


def _stamped(line: str) -> Worn | None:
    line = line.lstrip(" \t")
    if line[:1] not in "[(0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        return None
    found = _STAMPED.match(line) or _SECONDS.match(line)
    if not found:
        return None
    rest = found.group(1) or ""
    level = _LEVEL.match(rest)
    rest = (level.group(1) or "") if level else rest
    rest = _STREAM.sub("", rest, count=1) if level else rest
    return None if _is_of_kernel(line, rest) else Worn("stamp", rest)


_IN_FILE = re.compile(r"([\w./+@-]{1,200}):(?:([0-9]{1,7}):)?(.*)")
_BESIDE_FOUND = re.compile(r"([\w./+@-]{1,200}?)-[0-9]{1,7}-(.*)")  # what grep -A prints around a line it found


def _from_file(line: str) -> Worn | None:
    """A file's name and perhaps a number, as grep prints them."""
    if line.startswith(("/sys/", "/proc/", "/etc/")) or stamped(line):  # they say what their lines are; a date is no file
        return None
    beside = _BESIDE_FOUND.match(line)
    if beside and ("." in beside.group(1) or "/" in beside.group(1)):
        return Worn(f"file {beside.group(1)}", beside.group(2))
    found = _IN_FILE.match(line)
    if found and _DRIVEN.fullmatch(found.group(1)):
        return None
    if found and ("." in found.group(1) or "/" in found.group(1)):
        return Worn(f"file {found.group(1)}", found.group(3))
    return Worn(f"file {beside.group(1)}", beside.group(2)) if beside else None


# Quotes around each line


def _item(line: str) -> Worn | None:
    """A string of a list, as JSON and YAML write it; or one that somebody put between back-quotes."""
    body = line.strip().removeprefix("- ").rstrip(", ")
    if len(body) < 2 or body[0] != body[-1] or body[0] not in "\"'`":
        return None
    mark, text = body[0], body[1:-1]
    if mark == "'":
        return Worn("item", text.replace("''", "'"))
    if mark == "`":
        return Worn("back-quote", text)
    try:
        return Worn("item", str(json.loads(body, strict=False)))
    except ValueError:
        return Worn("item", text)


_OF_AN_AGENT = re.compile(r".{0,160}\b(\S{1,80}:std(?:err|out)) \[ (.*?) ?\]$")


def _of_an_agent(line: str) -> Worn | None:
    """What a program of the cluster printed, as Pacemaker logs it."""
    found = _OF_AN_AGENT.match(line) if line.endswith("]") else None
    return Worn(found.group(1), found.group(2)) if found else None


FORMS: tuple[Form, ...] = (_of_an_agent, _marked, _bordered, _logged, _stamped, _spoken, _of_kernel, _from_file, _item, _commented)
