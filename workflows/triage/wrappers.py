"""What stands around and before the lines of an output: quote marks, names, numbers, stamps, comments, quotes, borders, indentation.

Each wrapper is undone for a run of lines that all carry it, and only where what is left says by itself what it is: the beginning of an
output we know, or a command. So a log whose lines all begin with one name keeps it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, MutableMapping
from typing import NamedTuple

from agents.collectors._kernel_lines import classify
from agents.collectors._log_stamps import stamped
from workflows.triage.commands import asked
from workflows.triage.fields import FIELDS, HEADER
from workflows.triage.refused import begins as begins_refusal
from workflows.triage.split import UNDER_WAY, begins

ROUNDS = 8  # a quoted mail in a chat in a log: nobody wraps deeper
RUN_MIN = 3  # lines
INDENT_MIN = 2  # columns; a pool's own lines differ by one
CUT_LINES_MAX = 2
LOOKED_AT = 60  # lines of a run until one says what it is
QUOTED_LOOKED_AT = 1500  # the same of a quoted mail, where much prose may stand before what was pasted
_Turns = MutableMapping[int, str]


class _Worn(NamedTuple):
    """One line with its wrapper taken off. Lines of one `kind` that follow each other are a run."""

    kind: str
    rest: str
    node: str = ""
    blank: bool = False  # whether a blank behind the mark may be a part of it


_Form = Callable[[str], "_Worn | None"]


def undo(lines: list[str], turns: _Turns) -> None:
    """Take the wrappers off `lines`, outermost first, and say in `turns` where another text begins."""
    for _ in range(ROUNDS):
        before = len(turns)
        changed = [_undone(lines, turns, form) for form in _FORMS]
        if not (any((_stripped_numbers(lines, turns), _outdented(lines, turns), *changed)) or len(turns) > before):
            break
    for place, line in enumerate(lines):
        if line[:1] in (" ", "\t") and _STAMP.match(line.lstrip("\t")):  # a log that somebody indented, and whose long lines were wrapped
            lines[place] = line.lstrip(" \t")


def _undone(lines: list[str], turns: _Turns, form: _Form) -> bool:
    """All runs of a kind of which one tells: the others are the rest of it, parted by what was said between."""
    runs = list(_runs(lines, form))
    kinds = {
        worn[0].kind for _, worn in runs if _is_refused(worn) or (_is_long(worn) and _is_output([each.rest for each in worn], worn[0].kind))
    }
    end, kind = 0, ""
    for start, worn in runs:
        if worn[0].kind not in kinds:
            continue
        if worn[0].kind != kind or not _is_cut_in_two(lines, end, start):
            if kind:
                turns.setdefault(end, "")
            turns[start] = worn[0].node or turns.get(start, "")
        end, kind = start + len(worn), worn[0].kind
        lines[start:end] = _without_a_blank(worn)
    if kind:
        turns.setdefault(end, "")
    return bool(kinds)


def _is_refused(worn: list[_Worn]) -> bool:
    """Whether it is one quoted line or two with which a command is refused."""
    return worn[0].kind == ">" and begins_refusal(worn[0].rest)


def _is_cut_in_two(lines: list[str], end: int, start: int) -> bool:
    """Whether what stands between two runs is the rest of a line that was too long for its mark."""
    return start - end <= CUT_LINES_MAX and all(line.strip() for line in lines[end:start])


def _without_a_blank(worn: list[_Worn]) -> list[str]:
    """What is left; without the blank behind the mark, where all lines have one there."""
    rests = [each.rest for each in worn]
    if not worn[0].blank or any(rest and rest[0] != " " for rest in rests):
        return rests
    return [rest[1:] for rest in rests]


def _is_long(worn: list[_Worn]) -> bool:
    return sum(bool(each.rest.strip()) for each in worn) >= RUN_MIN


def _runs(lines: list[str], form: _Form) -> Iterator[tuple[int, list[_Worn]]]:
    """Consecutive lines of one kind, with empty lines between them."""
    run: list[_Worn] = []
    start = empty = 0
    for place, line in enumerate(lines):
        worn = form(line) if line else None
        if worn is not None and run and worn.kind == run[0].kind:
            run += [_Worn(worn.kind, "")] * empty
            run.append(worn)
            empty = 0
        elif worn is not None:
            if run:
                yield start, run
            run, start, empty = [worn], place, 0
        elif not line.strip() and run:
            empty += 1
        elif run:
            yield start, run
            run, empty = [], 0
    if run:
        yield start, run


def _is_output(rests: list[str], kind: str = "") -> bool:
    """Whether what is left says what it is. Behind a mark that is a prompt as well, a command must have a prompt of its own."""
    most = QUOTED_LOOKED_AT if kind == ">" else LOOKED_AT
    lines = [line for rest in rests[: 4 * most] if (line := rest.expandtabs(8).rstrip())][:most]
    if kind != INDENTED:
        width = min((_columns(line) for line in lines), default=0)
        lines = [line[width:] for line in lines]
    return any(_is_line_of(lines, place, kind) for place in range(len(lines)))


def _is_line_of(lines: list[str], place: int, kind: str) -> bool:
    line = lines[place]
    if kind == INDENTED and (HEADER.match(line) or UNDER_WAY.match(line)):
        return False  # a tree's own rows; a field of the pool that is named above
    begun = begins(lines, place)[0]
    if kind == INDENTED and begun in ("scan_progress", "scan_stats"):
        return False  # it goes on below the field of a pool, and within JSON
    if begun or (kind != INDENTED and (HEADER.match(line) or _FIELD.match(line))):
        return True
    if kind == ">" and (_STAMP.match(line) or ((spoken := _spoken(line)) and begins([spoken.rest], 0)[0])):
        return True
    if (of_kernel := _KERNELS.fullmatch(line)) and begins([of_kernel.group(1)], 0)[0]:
        return True
    if begins_refusal(line):
        return True
    command = asked(line)
    return command is not None and bool(command.source) and (kind not in _PROMPTS_TOO or bool(command.node) or line[0] in "#$%")


_FIELD = re.compile(rf" {{0,8}}({'|'.join(FIELDS)}): *\S")
_STAMP = re.compile(r" *\[ {0,24}[0-9]{1,9}\.[0-9]{6}\] \S")  # the kernel's own
_PROMPTS_TOO = frozenset(("#", ">"))
INDENTED = "indented"


# Marks before each line


def _marked(line: str) -> _Worn | None:
    """A mail's quote marks, and bars that stand for them."""
    body = line.lstrip(" ")
    if not body or len(line) - len(body) > 3:
        return None
    mark = body[0]
    if mark == ">":
        return _Worn(">", _QUOTE.sub("", body, count=1), blank=True)
    if mark in _BARS:
        closed = body[1:].rstrip()
        return _Worn(mark, _cells(closed[:-1], mark) if closed.endswith(mark) else body[1:], blank=True)
    if mark in "+|" or mark in _CORNERS:
        if not set(body.rstrip()) - set("+-|=: ") - _CORNERS:
            return _Worn("|", "", blank=True)
        framed = (
            mark in _CORNERS and body[1:2].isalnum()
        )  # the first and the last row of a pane, whose corners stand in the text's own rows
        return _Worn("\u2502", body[1:].rstrip().rstrip("\u2502").rstrip(), blank=True) if framed else None
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


def _bordered(line: str) -> _Worn | None:
    """The right border alone, as of a pane."""
    body = line.rstrip()
    return _Worn("border", body[:-1].rstrip()) if body and body[-1] in "\u2502\u2503\u2551" else None


def _commented(line: str) -> _Worn | None:
    body = line.lstrip(" \t")
    for mark in ("#", ";", "//", "*", "REM", "--", "+"):  # the last one: lines that a patch adds
        if body.startswith(mark):
            return _Worn(mark, body[len(mark) :], blank=True)
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
_LEVEL = re.compile(
    r"(?:- )?\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|NOTICE|stdout|stderr)\]?(?: [FP])?(?: ?[-:|])? (.*)|(?:- )?\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|NOTICE)\]?$"
)
_STREAM = re.compile(r"^\[(?:stdout|stderr)\] ")  # behind the level, where a program logs what another one prints
_KERNEL = frozenset(("kernel", "zed", "multipathd"))  # their lines are events of their own, with their times


def _spoken(line: str) -> _Worn | None:
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
    return _Worn(f"name {name}", found.group(4) or "", name if line.startswith(f"{name}: ") else "")


_DRIVEN = re.compile(
    r"ata[0-9]{1,3}(?:\.[0-9]{2})?|mpt[0-9]sas\w{0,8}|nvme[0-9]\w{0,8}|sd[a-z]{1,3}"
)  # what the kernel names so is no speaker
_KERNELS = re.compile(
    r" {0,12}(?:[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[+-][0-9]{2}:?[0-9]{2})? |[\w.-]{1,64} )?kernel: (?:\[ {0,8}[0-9]{1,9}\] )?(\S.*)"
)


def _of_kernel(line: str) -> _Worn | None:
    """The program's name alone, where somebody took day and host away."""
    found = _KERNELS.fullmatch(line)
    return _Worn("kernel", found.group(1)) if found else None


_UDEV = frozenset("PMNSLEQURTDIV")  # what `udevadm info` begins its lines with
_LEVELS = frozenset(("note", "warning", "error", "info", "edit", "ps", "update", "kernel"))


def _logged(line: str) -> _Worn | None:
    """A line that was given to the system's log. A tab in it was written as its code."""
    if not line[:1].isalnum() and line[:1] != "<":
        return None
    found = _SYSLOG.match(line)
    if not found or found.group(2) in _KERNEL:
        return None
    return _Worn(f"{found.group(1)} {found.group(2)}", found.group(3).replace("#011", "\t"), found.group(1))


def _is_of_kernel(line: str, rest: str) -> bool:
    """Whether the stamp is the kernel log's own, which its reader keeps; one before a stamp of the kernel's is a logger's."""
    match = _SYSLOG.match(line)
    if match and match.group(2) in _KERNEL:
        return True
    own = stamped(line)
    return own is not None and classify(own.message.strip()) is not None and stamped(rest) is None


def _stamped(line: str) -> _Worn | None:
    line = line.lstrip(" \t")
    if line[:1] not in "[(0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        return None
    found = _STAMPED.match(line)
    if not found:
        return None
    rest = found.group(1) or ""
    level = _LEVEL.match(rest)
    rest = (level.group(1) or "") if level else rest
    rest = _STREAM.sub("", rest, count=1) if level else rest
    return None if _is_of_kernel(line, rest) else _Worn("stamp", rest)


_IN_FILE = re.compile(r"([\w./+@-]{1,200}):(?:([0-9]{1,7}):)?(.*)")
_BESIDE_FOUND = re.compile(r"([\w./+@-]{1,200}?)-[0-9]{1,7}-(.*)")  # what grep -A prints around a line it found


def _from_file(line: str) -> _Worn | None:
    """A file's name and perhaps a number, as grep prints them."""
    if line.startswith(("/sys/", "/proc/", "/etc/")) or stamped(line):  # they say what their lines are; a date is no file
        return None
    found = _IN_FILE.match(line)
    if found and _DRIVEN.fullmatch(found.group(1)):
        return None
    if found and ("." in found.group(1) or "/" in found.group(1)):
        return _Worn(f"file {found.group(1)}", found.group(3))
    found = _BESIDE_FOUND.match(line)
    return _Worn(f"file {found.group(1)}", found.group(2)) if found else None


# Quotes around each line


def _item(line: str) -> _Worn | None:
    """A string of a list, as JSON and YAML write it; or one that somebody put between back-quotes."""
    body = line.strip().removeprefix("- ").rstrip(", ")
    if len(body) < 2 or body[0] != body[-1] or body[0] not in "\"'`":
        return None
    mark, text = body[0], body[1:-1]
    if mark == "'":
        return _Worn("item", text.replace("''", "'"))
    if mark == "`":
        return _Worn("back-quote", text)
    try:
        return _Worn("item", str(json.loads(body, strict=False)))
    except ValueError:
        return _Worn("item", text)


_OF_AN_AGENT = re.compile(r".{0,160}\b(\S{1,80}:std(?:err|out)) \[ (.*?) ?\]$")


def _of_an_agent(line: str) -> _Worn | None:
    """What a program of the cluster printed, as Pacemaker logs it."""
    found = _OF_AN_AGENT.match(line) if line.endswith("]") else None
    return _Worn(found.group(1), found.group(2)) if found else None


_FORMS: tuple[_Form, ...] = (_of_an_agent, _marked, _bordered, _logged, _stamped, _spoken, _of_kernel, _from_file, _item, _commented)


# Numbers before each line, which rise

_NUMBERED = re.compile(r"\s*([0-9]{1,7})(?:([:|)-]|\.(?![0-9]))|\s\||(?=\s))(.*)")


def _stripped_numbers(lines: list[str], turns: _Turns) -> bool:
    changed = False
    start, last = 0, -1
    run: list[re.Match[str] | None] = []
    for place, line in enumerate([*lines, "x"]):
        found = _NUMBERED.match(line) if line[:1] in " \t0123456789" else None
        number = int(found.group(1)) if found else -1
        if found and (not run or number > last):
            start = start if run else place
            run.append(found)
            last = number
            continue
        if not line.strip() and run:
            run.append(None)
            continue
        if run:
            changed |= _without_numbers(lines, turns, start, run)
        start, run, last = (place, [found], number) if found else (0, [], -1)
    return changed


def _without_numbers(lines: list[str], turns: _Turns, start: int, run: list[re.Match[str] | None]) -> bool:
    rests = [_behind(found) if found else "" for found in run]
    if len(run) < RUN_MIN or not _is_output(rests):
        return False
    lines[start : start + len(rests)] = rests
    turns.setdefault(start, "")
    turns.setdefault(start + len(rests), "")
    return True


def _behind(found: re.Match[str]) -> str:
    """Behind the number: a tab that parts them goes, a blank after a bar or a point too, and nothing else."""
    rest = found.group(3)
    if found.group(2) in (":", "-"):
        return rest
    return rest[1:] if rest[:1] in ("\t", " ") else rest


# Indentation of a whole stretch


def _outdented(lines: list[str], turns: _Turns) -> bool:
    """Stretches that are indented as a whole, as code is between prose. A tree's own rows are not: they say nothing by themselves."""
    changed = False
    start, width, end = -1, 0, 0
    for place, line in enumerate([*lines, "x"]):
        if not line.strip():
            continue
        indent = _columns(line)
        if start >= 0 and indent:
            width, end = min(width, indent), place + 1
            continue
        if start >= 0:
            changed |= _outdent(lines, turns, start, end, width)
        start, width, end = (place, indent, place + 1) if indent else (-1, 0, 0)
    return changed


def _columns(line: str) -> int:
    body = line.lstrip(" \t")
    head = line[: len(line) - len(body)]
    return len(head) if "\t" not in head else len(head.expandtabs(8))


def _outdent(lines: list[str], turns: _Turns, start: int, end: int, width: int) -> bool:
    """By as much as they share; a pool's own lines are indented by up to three blanks by ZFS itself."""
    width = _shift(lines[start:end], width)
    if width < INDENT_MIN or _is_headed(lines, start) or _is_a_heading(lines, start, end) or _is_of_a_table(lines, start, end):
        return False
    rests = [_less(line, width) for line in lines[start:end]]
    if not _is_output(rests, INDENTED):
        return False
    lines[start:end] = rests
    turns.setdefault(start, "")
    turns.setdefault(end, "")
    return True


def _is_headed(lines: list[str], start: int) -> bool:
    """Whether the line right above is the heading of a table, whose rows may stand further in than it; or a field of a pool, as this is one."""
    above = lines[start - 1] if start else ""
    return bool(above.strip()) and (
        (_is_output([above], INDENTED) and not lines[start].lstrip(" \t").startswith("pool: "))
        or (bool(_FIELD.match(above)) and bool(_FIELD.match(lines[start].strip())))
    )


_ATTRIBUTE = re.compile(r" {0,4}[0-9]{1,3} [A-Z][\w-]{2,30} +(?:0x[0-9a-f]{4}|[POSRCK-]{6}) ")


def _is_of_a_table(lines: list[str], start: int, end: int) -> bool:
    """Whether these rows of a report of smartctl's stand in its table, which a mail program has broken: numbers are set to the right there."""
    around = [*lines[max(0, start - 2) : start], *lines[end : end + 1]]
    return bool(_ATTRIBUTE.match(lines[start])) and any(map(_ATTRIBUTE.match, around))


def _is_a_heading(lines: list[str], start: int, end: int) -> bool:
    """Whether these are one or two lines right above others: what a tool prints of the thing before it tells of it."""
    return end - start < RUN_MIN and end < len(lines) and bool(lines[end].strip())


def _shift(lines: list[str], width: int) -> int:
    """How many columns the stretch stands too far to the right. `zpool status` indents the line of a pool's name by two blanks, and
    `zpool import`, which prints its id below, by three."""
    for place, line in enumerate(lines):
        if line.lstrip(" \t").startswith("pool: ") and _FIELD.match(lines[place + 1].strip() if place + 1 < len(lines) else ""):
            after = next((below.lstrip(" \t") for below in lines[place + 1 : place + 4] if below.strip()), "")
            if _columns(line) <= _columns(lines[place + 1]) and not after.startswith("id: "):
                return width  # all its fields stand at one place: ZFS's own blanks are gone
            return min(width, _columns(line) - (3 if after.startswith("id: ") else 2))
    return width


def _less(line: str, columns: int) -> str:
    body = line.lstrip(" \t")
    head = line[: len(line) - len(body)]
    blanks = len(head.expandtabs(8)) if "\t" in head else len(head)
    return " " * (blanks - columns) + body if body else ""
