"""Texts whose line breaks were lost, or are written as the two characters backslash and n.

They are put back only where the words allow a single reading: before a field's name, and before each row of the tree, whose second word
is a state. A note ends before the name of the next row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.collectors._vdevs import STATES
from workflows.triage.fields import FIELDS, HEADINGS
from workflows.triage.markup import TURN

KEYS_MIN = 3  # on one line; prose that names two of them is no output
ESCAPED_MIN = 3
_FIELD = re.compile(rf"(?:^|(?<=\s))({'|'.join(FIELDS)}):(?=\s|$)")
_ROW_STATES = STATES - {"UNKNOWN"}
_HEADER_AT = re.compile(r"NAME\s{1,80}STATE(?:\s{1,80}(?:READ|WRITE|CKSUM|SLOW|POWER|DIO)){0,6}")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?[KMGTPE]?|-)\Z")


def rebuilt(lines: list[str]) -> tuple[list[str], int]:
    """The lines with lost breaks put back, and how many lines were made of those that held several."""
    lines = [part for line, below in zip(lines, [*lines[1:], ""], strict=True) for part in _without_what_stands_before(line, below)]
    if not any(map(_holds_several, lines)):
        return lines, 0
    out: list[str] = []
    made = 0
    for line in lines:
        parts = list(_parts(line)) if _holds_several(line) else [line]
        made += len(parts) if len(parts) > 1 else 0
        out += parts
    return out, made


# A cell of a table, a tag, a quote, a name with a time: whatever stands on the line of a pool's name and not on the next one
_BEFORE_A_POOL = re.compile(r"(\S.{0,200}?[^\w\s/-])\s{0,4}(pool: \S{1,255})\s*\Z")
_BELOW_A_POOL = re.compile(r" {1,6}(state|id): ")


def _without_what_stands_before(line: str, below: str) -> tuple[str, ...]:
    """The line of a pool's name by itself, and what stands before it on a line of its own."""
    field = _BELOW_A_POOL.match(below) if "pool: " in line else None
    found = _BEFORE_A_POOL.match(line) if field else None
    if field is None or found is None:
        return (line,)
    indent = "   " if field.group(1) == "id" else "  "  # as `zpool import` and `zpool status` have it
    return (found.group(1) + TURN, indent + found.group(2))


_WITH_ITS_COMMAND = re.compile(r"([^:]{0,120}\bzpool (?:status|import)\b[^:]{0,80}) (pool: \S{1,255})\s*\Z")
# the last row of a pool, and the line of the next one behind it
_GLUED = re.compile(rf"(\s{{0,40}}\S{{1,300}} {{1,80}}(?:{'|'.join(sorted(_ROW_STATES))})) {{2,8}}(pool: \S{{1,255}})\s*\Z")
_NO_ERRORS = "No known data errors"
_CLOSING = tuple("\"'])},;")
_BEFORE_PROSE = f"errors: {_NO_ERRORS}"


# a command typed behind a prompt, and the refusal that stands behind its last word without a blank
_REFUSED = re.compile(
    r"(.{0,80}[#$%>] ?(?:sudo )?(?:zpool|zfs|zdb|mount)\b.{0,200}?[\w/.-])((?:mount\.lustre: mount|(?:internal error: )?cannot (?:import|export|replace|attach|detach|online|offline|remove|mount|open|clear|destroy|add)) .{1,600})\Z"
)


# how FreeBSD begins a line about a disk, sys/cam/cam_xpt.c: several of them on one line were so many lines
_OF_CAM = re.compile(
    r"\((?:a?da|nda|cd|ses|pass)[0-9]{1,4}:[a-z]{2,12}(?:-[a-z]{1,8})?[0-9]{1,4}:[0-9]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}\): "
)
CAM_MIN = 2


# a command typed behind a prompt, and on the same line all that it prints where it is one line
_STATE = "|".join(sorted(_ROW_STATES))
_WITH_ITS_ANSWER = re.compile(
    r"(.{0,80}[#$%>] ?(?:sudo )?(?:/\S{1,20}/)?zpool (?:(?:status|list|import)(?: -[a-zA-Z]{1,8}| (?!all\b|no\b|pool\b)[\w.:-]{1,80}){0,3}"
    rf"|list (?:-[a-zA-Z]{{1,6}} ){{1,3}}health(?: (?!(?:{_STATE})\b)[\w.:-]{{1,80}})?)) (all pools are healthy|no pools available(?: to import)?|pool '[^']{{1,256}}' is healthy|{_STATE})\s*\Z"
)
_DETAILS = re.compile(r"(?<=\s)device details:\s.{0,6000}?(?=\serrors:\s)")  # of Solaris: what it says of one device again and at length


def _is_joined(line: str) -> bool:
    """Whether a command stands before the first line of what it printed, or somebody's words behind the last."""
    if "zpool " in line and _WITH_ITS_ANSWER.match(line):
        return True
    if ("cannot " in line or "mount.lustre: " in line) and _REFUSED.match(line):
        return True
    if line.startswith(_BEFORE_PROSE):
        behind = line[len(_BEFORE_PROSE) :]
        return behind[:1].isalpha() or behind.strip()[:1] in _CLOSING
    return "pool: " in line and (("zpool " in line and _WITH_ITS_COMMAND.match(line) is not None) or _GLUED.match(line) is not None)


def _holds_several(line: str) -> bool:
    if _is_joined(line):
        return True
    if len(line) < 60:
        return False
    if _is_escaped(line) or _is_of_cam(line):
        return True
    return ("state:" in line and len(_FIELD.findall(line)) >= KEYS_MIN) or _is_header_with_rows(line)


def _is_of_cam(line: str) -> bool:
    return "): " in line and len(_OF_CAM.findall(line)) >= CAM_MIN


def _cam_lines(line: str) -> Iterator[str]:
    """Each line of FreeBSD's about a disk; what stands before the first one goes on with it, as a log's date and host do."""
    starts = [found.start() for found in _OF_CAM.finditer(line)]
    starts[0] = 0
    yield from (line[start:end].rstrip() for start, end in zip(starts, [*starts[1:], len(line)], strict=True))


def _is_escaped(line: str) -> bool:
    """Whether a string of a program holds an output with its line breaks escaped. The JSON that a tool itself prints is no such string."""
    if line.count("\\n") < ESCAPED_MIN or _TOOLS_JSON.search(line[:TOOLS_JSON_LOOKED_AT]) or _TOOLS_FIELD.match(line):
        return False
    return '"' in line or "'" in line or "pool:" in line


TOOLS_JSON_LOOKED_AT = 400  # characters
_TOOLS_JSON = re.compile(r'\{.{0,200}"(?:output_version|smartctl|json_format_version|Controllers|blockdevices)" ?:')
_TOOLS_FIELD = re.compile(r' {2,40}"(?:status|action|see|moreinfo|comment|errors)": "')  # of `zpool status -j`, each on a line of its own


def _is_header_with_rows(line: str) -> bool:
    header = _HEADER_AT.match(line.lstrip())
    return header is not None and sum(word in _ROW_STATES for word in line.lstrip()[header.end() :].split()) > 0


def _parts(line: str) -> Iterator[str]:
    if _is_joined(line):
        if line.startswith(_BEFORE_PROSE):
            yield from (_BEFORE_PROSE, TURN + line[len(_BEFORE_PROSE) :])
        elif joined := _WITH_ITS_ANSWER.match(line) or _REFUSED.match(line) or _WITH_ITS_COMMAND.match(line) or _GLUED.match(line):
            yield from joined.groups()
        return
    if _is_escaped(line):
        yield from _unescaped(line)
        return
    if _is_of_cam(line):
        yield from _cam_lines(line)
        return
    lead = line[: len(line) - len(line.lstrip("> \t|"))] if line.lstrip().startswith((">", "|")) else ""
    rest = _DETAILS.sub("", line[len(lead) :]) if "device details:" in line else line[len(lead) :]
    if _is_header_with_rows(rest):
        yield from (lead + row for row in _rows(rest))
        return
    starts = [found.start(1) for found in _FIELD.finditer(rest)]
    if rest[: starts[0]].strip():
        yield lead + rest[: starts[0]].rstrip()
    for start, end in zip(starts, [*starts[1:], len(rest)], strict=True):
        key, _, value = rest[start:end].partition(":")
        if key == "config":
            yield f"{lead}config:"
            yield lead.rstrip()
            yield from (lead + row for row in _rows(value))
            yield lead.rstrip()
        elif key == "errors":
            errors, prose = _errors(value)
            yield f"{lead}errors: {errors}"
            if prose:
                yield lead.rstrip()
                yield lead + prose
        else:
            yield f"{lead}{key}: {value.strip()}"


def _errors(value: str) -> tuple[str, str]:
    """What the line says, and what somebody said behind it."""
    value = value.strip()
    return (_NO_ERRORS, value[len(_NO_ERRORS) :].strip()) if value.startswith(_NO_ERRORS) else (value, "")


_LITERAL = re.compile(r"""(?:(?<=[^\w])|^)(?:[bru]|\$)?(["'])""")


def _unescaped(line: str) -> Iterator[str]:
    """A string of JSON or of a program's source; what stands before and behind it are other texts."""
    parts = line.replace("\\\\n", "\\n").replace("\\\\t", "\t").replace("\\t", "\t").replace('\\"', '"').replace("\\'", "'").split("\\n")
    opened = max(_LITERAL.finditer(parts[0]), key=lambda found: (found.group(1) == '"', found.start()), default=None)
    mark = opened.group(1) if opened else '"'
    if opened and parts[0][opened.end() :].strip():
        before, parts[0] = parts[0][: opened.start()], TURN + parts[0][opened.end() :]
        if before.strip():
            yield before
    last, closed, after = parts[-1].partition(mark)
    yield from parts[:-1]
    yield last
    if closed:
        yield TURN + after.strip(" ,}]")


def _rows(text: str) -> Iterator[str]:
    """The header and each row of a tree; without its indentation, which is lost."""
    words = text.split()
    if words[:1] == ["NAME"]:
        end = next((place for place, word in enumerate(words) if word not in _COLUMNS), len(words))
        yield "\t" + "  ".join(words[:end])
        words = words[end:]
    row: list[str] = []
    for place, word in enumerate(words):
        is_name = words[place + 1 : place + 2] and words[place + 1] in _ROW_STATES and word not in _ROW_STATES
        is_heading = word in HEADINGS and not is_name and _opens(words, place)
        if (is_name or is_heading) and row:
            yield _row(row)
            row = []
        row.append(word)
        if is_heading:
            yield "\t" + word
            row = []
    if row:
        yield _row(row)


def _row(words: Sequence[str]) -> str:
    """Name, state and counters in columns; the note behind them as it was said."""
    columns = next((place for place, word in enumerate(words) if place > 1 and not _NUMBER.match(word)), len(words))
    return "\t" + "  ".join([*words[:columns], " ".join(words[columns:])]).rstrip()


_COLUMNS = frozenset(("NAME", "STATE", "READ", "WRITE", "CKSUM", "SLOW", "POWER", "DIO"))


def _opens(words: Sequence[str], place: int) -> bool:
    """Whether this word is a heading: a row follows it at once, and no number goes before the name."""
    return place + 2 < len(words) and words[place + 2] in _ROW_STATES and not _NUMBER.match(words[place + 1])
