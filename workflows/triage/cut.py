"""Cuts pasted lines into the outputs they hold: by the prompts between them, else by how each kind of output begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from workflows.triage.commands import Asked, asked
from workflows.triage.mend import KEY


@dataclass
class Piece:
    """Consecutive lines of one output. `first` counts from 1."""

    source: str  # "" for lines that are no output we know
    first: int
    lines: list[str] = field(default_factory=list)
    key: str = ""
    node: str = ""
    command: str = ""
    said: str = ""  # the last "pool:", "config:", "errors:" ... seen

    def add(self, line: str) -> None:
        self.lines.append(line)
        found = KEY.match(line)
        self.said = found.group(1) if found else self.said

    @property
    def last(self) -> int:
        return self.first + max(len(self.lines), 1) - 1


def cut(lines: Sequence[str]) -> list[Piece]:
    """Every line in exactly one piece; prompt lines belong to none."""
    pieces = [Piece("", 1)]
    node = ""
    for i, line in enumerate(lines):
        command = asked(line)
        if command is not None:
            node = command.node or node
            pieces.append(_of_command(command, node, i + 2))
            continue
        source = begins(lines, i)
        if source and _another(pieces[-1], source, line):
            pieces.append(Piece(source, i + 1, node=node))
        elif not _belongs(pieces[-1], line):
            pieces.append(Piece("", i + 1, node=node))
        pieces[-1].add(line)
    return [trimmed for piece in pieces if (trimmed := _trim(piece)).lines or trimmed.command]


def _of_command(command: Asked, node: str, first: int) -> Piece:
    return Piece(command.source, first, key=command.key, node=node, command=" ".join(command.words))


def begins(lines: Sequence[str], i: int) -> str:
    """The source whose output begins with this line; "" when it is not the beginning of any."""
    line, after = lines[i], next((after for after in lines[i + 1 : i + 4] if after), "")
    if _POOL.match(line):
        return "zpool_import" if re.match(r" *id: [0-9]+$", after) else "zpool_status"
    if re.match(r"-{10,}$", line) and re.match(r"LABEL [0-3]", after):
        return "zdb_label"
    return next((source for source, form in _SIGNS if form.match(line)), "")


_POOL = re.compile(r" {0,4}pool: \S")
_SIGNS = (
    ("zpool_import", re.compile(r"no pools available to import$")),
    ("zpool_status", re.compile(r"no pools available$")),
    ("zdb_label", re.compile(r"failed to (?:unpack|read) label [0-3]$")),
    ("lsscsi", re.compile(r"\[(?:N|[0-9]+):[0-9]+:[0-9]+(?::[0-9]+)?\] +\S")),
)


def _another(piece: Piece, source: str, line: str) -> bool:
    """Whether a line that begins `source` begins a new output, or goes on with the one before."""
    if _family(piece.source) != source:
        return True
    if source in ("zpool_status", "zpool_import"):
        return bool(line.strip()) and line.strip() in (before.strip() for before in piece.lines)  # the same pool again: another run
    return source == "zdb_label" and _complete(piece)


def _family(source: str) -> str:
    return source.removesuffix("_guid")


def _complete(piece: Piece) -> bool:
    """Whether a label piece has told of all four copies, so that what follows is another disk's."""
    text = "\n".join(piece.lines)
    told = set(re.findall(r"^LABEL ([0-3])", text, re.MULTILINE)) | set(re.findall(r"^failed to \w+ label ([0-3])$", text, re.MULTILINE))
    for copies in re.findall(r"^ +labels = ((?:[0-3] ?)+)$", text, re.MULTILINE):
        told |= set(copies.split())
    return len(told) == 4


def _belongs(piece: Piece, line: str) -> bool:
    """Whether a line can be part of this output. What cannot is somebody's own words."""
    if not line or not piece.source:
        return True
    test = _GOES_ON.get(_family(piece.source))
    return test is None or test(piece, line)


def _status_goes_on(piece: Piece, line: str) -> bool:
    return piece.said != "errors" or line.startswith(" ") or bool(KEY.match(line))


def _import_goes_on(piece: Piece, line: str) -> bool:
    wrapped = bool(piece.lines) and bool(piece.lines[-1])  # the rest of a line that a mail has cut in two
    return wrapped or line.startswith(" ") or bool(KEY.match(line))


_LABEL_LINE = re.compile(r"-{10,}$|LABEL [0-3]|L2ARC|failed to (?:unpack|read) label|log_blk_count:|No log blocks to read| {4}")
_LSSCSI_REST = re.compile(r" *(?:/dev/\S+|0x[0-9a-f]+|[0-9a-f]{16,33}|-|[0-9.]+[kKMGTPE]?i?B)(?: |$)")
_GOES_ON = {
    "zpool_status": _status_goes_on,
    "zpool_import": _import_goes_on,
    "zdb_label": lambda piece, line: bool(_LABEL_LINE.match(line)),
    "lsscsi": lambda piece, line: line.startswith("[") or bool(_LSSCSI_REST.match(line)),
}


def _trim(piece: Piece) -> Piece:
    """Without empty lines at either end."""
    while piece.lines and not piece.lines[-1]:
        piece.lines.pop()
    while piece.lines and not piece.lines[0]:
        piece.lines.pop(0)
        piece.first += 1
    return piece
