"""What stands around and before the lines of an output: quote marks, names, numbers, stamps, comments, quotes, borders, indentation.

Each wrapper is undone for a run of lines that all carry it, and only where what is left says by itself what it is: the beginning of an
output we know, or a command. So a log whose lines all begin with one name keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from itertools import islice

from agents.collectors._kernel_lines import classify
from agents.collectors._log_stamps import stamped
from workflows.triage import beginnings, coded
from workflows.triage.commands import asked
from workflows.triage.fields import FIELDS, HEADER, ROW
from workflows.triage.line_forms import FORMS, KERNELS, Form, Worn
from workflows.triage.refused import begins as begins_refusal
from workflows.triage.split import UNDER_WAY, begins

ROUNDS = 8  # a quoted mail in a chat in a log: nobody wraps deeper
RUN_MIN = 3  # lines
INDENT_MIN = 2  # columns; a pool's own lines differ by one
CUT_LINES_MAX = 2
RUNS_LOOKED_AT = 4
LOOKED_AT = 60  # lines of a run until one says what it is
QUOTED_LOOKED_AT = 1500  # the same of a quoted mail, where much prose may stand before what was pasted
_Turns = MutableMapping[int, str]


def undo(lines: list[str], turns: _Turns) -> bool:
    """Take the wrappers off `lines`, outermost first, and add to `turns` where another text begins. Returns whether any line changed."""
    undone = False
    for _ in range(ROUNDS):
        before = len(turns)
        changed = [_undone(lines, turns, form) for form in FORMS]
        changed += [_stripped_numbers(lines, turns), _outdented(lines, turns)]
        shared = not any(changed) and len(turns) == before and _shared(lines, turns)
        undone |= any(changed) or shared
        if not any(changed) and len(turns) == before and not shared:
            break
    for place, line in enumerate(lines):
        if line[:1] in (" ", "\t") and _STAMP.match(line.lstrip("\t")):  # a log that somebody indented, and whose long lines were wrapped
            lines[place] = line.lstrip(" \t")
    return undone


def _undone(lines: list[str], turns: _Turns, form: Form) -> bool:
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


def _shared(lines: list[str], turns: _Turns) -> bool:
    """What no form knows and all lines begin with, where more of them say what they are without it."""
    for pattern in beginnings.shared(lines):

        def form(line: str, pattern: re.Pattern[str] = pattern) -> Worn | None:
            found = pattern.match(line)
            return Worn(pattern.pattern, found.group(1), blank=True) if found else None

        first = islice(((start, worn) for start, worn in _runs(lines, form) if _is_long(worn)), RUNS_LOOKED_AT)
        if any(_is_clearer(lines[start : start + len(worn)], worn) for start, worn in first) and _undone(lines, turns, form):
            return True
    return False


def _is_clearer(before: list[str], worn: list[Worn]) -> bool:
    """A log's own stamp is a beginning of all lines, too: such a line counts where the kernel could have logged it."""
    rests = _without_a_blank(worn)[:LOOKED_AT]
    known = sum(
        classify(own.message.strip()) is not None if (own := stamped(line)) else _is_line_of(before, place, "")
        for place, line in enumerate(before[:LOOKED_AT])
    )
    return sum(_is_line_of(rests, place, "") for place in range(len(rests))) > known


def _is_refused(worn: list[Worn]) -> bool:
    """Whether it is one quoted line or two with which a command is refused."""
    return worn[0].kind == ">" and begins_refusal(worn[0].rest)


def _is_cut_in_two(lines: list[str], end: int, start: int) -> bool:
    """Whether what stands between two runs is the rest of a line that was too long for its mark."""
    return start - end <= CUT_LINES_MAX and all(line.strip() for line in lines[end:start])


def _without_a_blank(worn: list[Worn]) -> list[str]:
    """What is left; without the blank behind the mark, where all lines have one there."""
    rests = [each.rest for each in worn]
    if not worn[0].blank or any(rest and rest[0] != " " for rest in rests):
        return rests
    return [rest[1:] for rest in rests]


def _is_long(worn: list[Worn]) -> bool:
    return sum(bool(each.rest.strip()) for each in worn) >= RUN_MIN


def _runs(lines: list[str], form: Form) -> Iterator[tuple[int, list[Worn]]]:
    """Consecutive lines of one kind, with empty lines between them."""
    run: list[Worn] = []
    start = empty = 0
    for place, line in enumerate(lines):
        worn = form(line) if line else None
        if worn is not None and run and worn.kind == run[0].kind:
            run += [Worn(worn.kind, "")] * empty
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
    if kind == ">" and (
        _STAMP.match(line)
        or coded.holds_lines(line)
        or any((worn := form(line)) and begins([worn.rest], 0)[0] for form in (*FORMS, _numbered))
    ):
        return True
    if (of_kernel := KERNELS.fullmatch(line)) and begins([of_kernel.group(1)], 0)[0]:
        return True
    if begins_refusal(line):
        return True
    command = asked(line)
    return command is not None and bool(command.source) and (kind not in _PROMPTS_TOO or bool(command.node) or line[0] in "#$%")


def is_a_beginning(line: str) -> bool:
    """Whether a line says by itself what it is: the beginning of an output, a field, a row of a tree, a line of a log, a command."""
    return bool(ROW.match(line) or stamped(line)) or _is_line_of([line], 0, "")


_FIELD = re.compile(rf" {{0,8}}({'|'.join(FIELDS)}): *\S")
_STAMP = re.compile(r" *\[ {0,24}[0-9]{1,9}\.[0-9]{6}\] \S")  # the kernel's own
_PROMPTS_TOO = frozenset(("#", ">"))
INDENTED = "indented"


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


def _numbered(line: str) -> Worn | None:
    found = _NUMBERED.match(line)
    return Worn("number", _behind(found)) if found else None


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
