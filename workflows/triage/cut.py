"""Cuts pasted lines into the outputs they hold: by the prompts between them, else by how each kind of output begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.collectors.kstat_pools import ROOT
from agents.collectors.parameters import FOLDERS, VALUES
from agents.collectors.zpool_import import NONE as NO_POOL_TO_IMPORT
from workflows import pasted
from workflows.triage.commands import Asked, asked, kernel_file
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
    path: str = ""  # the file whose lines these are, where they do not say it themselves
    question: str = ""  # what was asked, where they cannot be read without it
    hint: str = ""
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
        if command is not None and not (pieces[-1].path.endswith(".conf") and line.startswith("#") and not command.source):  # a comment
            node = command.node or node
            pieces.append(_of_command(command, node, i + 2))
            continue
        source, key = begins(lines, i)
        if source and not (pieces[-1].path or pieces[-1].hint) and _another(pieces[-1], source, key, line):
            pieces.append(Piece(source, i + 1, key=key, node=node))
        elif not _belongs(pieces[-1], line):
            pieces.append(Piece("", i + 1, node=node))
        pieces[-1].add(line)
    return [trimmed for piece in pieces if (trimmed := _trim(piece)).lines or trimmed.command]


def _of_command(command: Asked, node: str, first: int) -> Piece:
    said = {"command": " ".join(command.words), "path": command.path, "hint": command.hint, "question": command.question}
    return Piece(command.source, first, key=command.key, node=node, **said)


def begins(lines: Sequence[str], i: int) -> tuple[str, str]:
    """Source and key of the output that begins with this line; both "" when it is not the beginning of any."""
    line, after = lines[i], next((after for after in lines[i + 1 : i + 4] if after), "")
    if _POOL.match(line):
        return ("zpool_import" if re.match(r" *id: [0-9]+$", after) else "zpool_status"), ""
    if re.match(r"-{10,}$", line) and re.match(r"LABEL [0-3]", after):
        return "zdb_label", ""
    if line.startswith((f"{ROOT}/", f"{VALUES}/")) or _OPTIONS.match(line):
        return kernel_file(line.partition(":")[0])
    if line == "{" and (of_json := _json(lines[i : i + JSON_LOOKED_AT])):
        return of_json, ""
    if of_person := pasted.begins(lines, i):
        return of_person, ""
    for source, form, second in _SIGNS:
        found = form.match(line)
        if found and (not second or re.match(second, after)):
            return source, found.group(1) if form.groups else ""
    return "", ""


JSON_LOOKED_AT = 12  # lines


def _json(lines: Sequence[str]) -> str:
    said = "\n".join(lines)
    return "smart" if '"smartctl": {' in said else "zpool_status_json" if '"command": "zpool status"' in said else ""


_POOL = re.compile(r" {0,4}pool: \S")
_OPTIONS = re.compile(rf"(?:{'|'.join(map(re.escape, FOLDERS))})/[^:]+\.conf: *options ")
_STAMP = r"\[ {0,8}[0-9]{1,9}\.[0-9]{6}\] "
_SIGNS = (  # source, how the output begins (a group in it is the key), how its next line begins where the first alone is not sure
    ("zpool_import", re.compile(f"{NO_POOL_TO_IMPORT}$"), ""),
    ("zpool_status", re.compile(r"no pools available$"), ""),
    ("zdb_label", re.compile(r"failed to (?:unpack|read) label [0-3]$"), ""),
    ("lsscsi", re.compile(r"\[(?:N|[0-9]+):[0-9]+:[0-9]+(?::[0-9]+)?\] +\S"), ""),
    ("kernel_log", re.compile(_STAMP), ""),
    ("zpool_events", re.compile(r"TIME +CLASS$"), ""),
    ("zpool_history", re.compile(r"History for '([^']+)':$"), ""),
    ("zpool_get", re.compile(r"NAME +PROPERTY +VALUE +SOURCE$"), ""),
    ("zpool_iostat_w", re.compile(r"\S+ +total_wait +disk_wait"), ""),
    ("zdb_config", re.compile(r"\S+:$"), r"    version: [0-9]+$"),
    ("smart", re.compile(r"smartctl [0-9]+\.[0-9]+ "), ""),
    ("ses", re.compile(r" +Primary enclosure logical identifier \(hex\): [0-9a-f]{16}$"), ""),
    ("drive_modes", re.compile(r" {4}/dev/(\w+): \S"), r"(?:WCE|EN_BMS) +[01] "),
    ("dbgmsg", re.compile(r"timestamp +message *$"), ""),
    ("sysctl", re.compile(r"vfs\.zfs\.[\w.]+: "), ""),
    ("mdb", re.compile(r"zfs_\w+/[DEX]$"), r"zfs_\w+: *"),
    ("mdb", re.compile(r"(?:> *)?zfs_\w+(?: *::print(?: -\w+)?|/[WZ](?:0t|0x)?[0-9a-f]+)$"), ""),
)
_ONE_BY_ONE = (
    "zpool_events",
    "zpool_history",
    "zpool_get",
    "smart",
    "ses",
    "dbgmsg",
    "drive_modes",
    "zpool_status_json",
)  # one heading each


def _another(piece: Piece, source: str, key: str, line: str) -> bool:
    """Whether a line that begins `source` begins a new output, or goes on with the one before."""
    if _family(piece.source) != source or (key and piece.key and key != piece.key):
        return not _is_inside(piece, source)
    if source in ("zpool_status", "zpool_import"):
        return bool(line.strip()) and line.strip() in (before.strip() for before in piece.lines)  # the same pool again: another run
    if source in _ONE_BY_ONE:
        return any(before for before in piece.lines)
    return source == "zdb_label" and _complete(piece)


def _is_inside(piece: Piece, source: str) -> bool:
    """A line of a command's own output that only looks like the beginning of another."""
    return (piece.source == "ses" and source == "drive_modes") or pasted.is_inside(piece.source, source)


def _family(source: str) -> str:
    """`zpool status` by guid begins like any other."""
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
    if not line or not piece.source or (piece.path and piece.source != "node"):
        return True
    if piece.source == "smart" and piece.lines and piece.lines[0] == "{":
        return _json_goes_on(piece, line)
    if piece.source in pasted.READERS:
        return not piece.lines or pasted.belongs(piece.source, piece.lines[-1], line)
    test = _GOES_ON.get(_family(piece.source))
    return test is None or test(piece, line)


def _status_goes_on(piece: Piece, line: str) -> bool:
    return piece.said != "errors" or line.startswith(" ") or bool(KEY.match(line))


def _import_goes_on(piece: Piece, line: str) -> bool:
    wrapped = bool(piece.lines) and bool(piece.lines[-1])  # the rest of a line that a mail has cut in two
    return wrapped or line.startswith(" ") or bool(KEY.match(line)) or line.strip() == NO_POOL_TO_IMPORT


def _goes_on_as(form: str) -> Callable[[Piece, str], bool]:
    """Lines of this form, and whatever follows one without an empty line between: mail may have cut it in two."""
    kind = re.compile(form)
    return lambda piece, line: bool(kind.match(line)) or bool(piece.lines and piece.lines[-1])


def _json_goes_on(piece: Piece, line: str) -> bool:
    return "}" not in piece.lines


_LABEL_LINE = re.compile(r"-{10,}$|LABEL [0-3]|L2ARC|failed to (?:unpack|read) label|log_blk_count:|No log blocks to read| {4}")
_LSSCSI_REST = re.compile(r" *(?:/dev/\S+|0x[0-9a-f]+|[0-9a-f]{16,33}|-|[0-9.]+[kKMGTPE]?i?B)(?: |$)|  (?:\w+=|dir: )")
_GOES_ON = {
    "zpool_status": _status_goes_on,
    "zpool_import": _import_goes_on,
    "zpool_status_json": _json_goes_on,
    "zdb_label": lambda piece, line: bool(_LABEL_LINE.match(line)),
    "lsscsi": lambda piece, line: line.startswith("[") or bool(_LSSCSI_REST.match(line)),
    "kernel_log": _goes_on_as(_STAMP),
    "zpool_events": _goes_on_as(r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} | {8}"),
    "zpool_history": _goes_on_as(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.| "),
    "zpool_get": _goes_on_as(r"\S+ +\S+ +\S"),
    "zpool_iostat_w": _goes_on_as(r"\S+ +total_wait|\S+ +(?:[0-9.]+[KMGTPE]? *)+$|-"),
    "zdb_config": _goes_on_as(r" {4}|\S+:$"),
    "sysctl": lambda piece, line: bool(re.match(r"[\w.%]+: ?", line)),
    "parameters": lambda piece, line: line.startswith("/"),
    "mdb": lambda piece, line: bool(
        re.match(r"(?:> *)?(?:\w+/[A-Z]|\w+ *::print|::|\$q)|\w+: *|Loading modules|(?:0t|0x)?[0-9a-f]+$", line)
    ),
    "node": lambda piece, line: bool(re.match(r"[0-9a-f]{1,8}$|zfs-", line)),
}


def _trim(piece: Piece) -> Piece:
    """Without empty lines at either end."""
    while piece.lines and not piece.lines[-1]:
        piece.lines.pop()
    while piece.lines and not piece.lines[0]:
        piece.lines.pop(0)
        piece.first += 1
    return piece
